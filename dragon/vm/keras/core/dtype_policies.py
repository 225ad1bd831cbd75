"""In which dtype a layer computes, and in which it keeps its weights."""
import re
from collections.abc import MutableMapping

from dragon.vm.keras.core import config as settings, global_state
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.convert import convert_to_tensor, is_tensor
from dragon.vm.keras.core.dtypes import is_float_dtype, standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.shared.letters import expect

QUANTIZATION_MODES = ("int8", "float8", "int4", "gptq", "awq")
MIXED = {"mixed_float16": ("float16", "float32"), "mixed_bfloat16": ("bfloat16", "float32")}


class DTypePolicy(Configured):
    """A compute dtype and a variable dtype.

    Parameters
    ----------
    name : str, optional
        "mixed_float16", "mixed_bfloat16", or a dtype's name for both; the global policy's without it.

    """

    def __init__(self, name=None):
        self._name = dtype_policy().name if name is None else name
        self._compute_dtype, self._variable_dtype = self._parse_name(self._name)
        self._quantization_mode = None

    def _parse_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, such as 'mixed_float16'. Received: name={name} "
                            f"(of type {type(name)})")
        if name in MIXED:
            return MIXED[name]
        try:
            dtype = standardize_dtype(name)
        except ValueError:
            raise ValueError(f"Cannot convert '{name}' to a mixed precision DTypePolicy. Valid policies include "
                             "'mixed_float16', 'mixed_bfloat16', and the name of any float dtype such as 'float32'. "
                             f"Received: name={name}") from None
        return dtype, dtype

    variable_dtype = property(lambda self: self._variable_dtype, doc="The dtype of weights.")
    compute_dtype = property(lambda self: self._compute_dtype, doc="The dtype that inputs and weights are cast to.")
    name = property(lambda self: self._name, doc="The name.")
    quantization_mode = property(lambda self: self._quantization_mode, doc="How weights are quantized, or None.")

    def convert_input(self, x, autocast, dtype):
        """Return what was given to a layer as a tensor of the dtype; what is no tensor or array, as it is."""
        if is_tensor(x):
            pass
        elif isinstance(x, KerasTensor):
            if self._should_cast(x, autocast, dtype):
                from dragon.vm.keras import ops
                return ops.cast(x, dtype)
            return x
        elif hasattr(x, "__array__"):
            x = convert_to_tensor(x)
        else:
            return x
        return convert_to_tensor(x, dtype=dtype) if self._should_cast(x, autocast, dtype) else x

    def _should_cast(self, x, autocast, dtype):
        own = standardize_dtype(x.dtype)
        return bool(autocast) and own != dtype and is_float_dtype(own)

    def get_config(self):
        """Return the name in a dict."""
        return {"name": self.name}

    def __repr__(self):
        name = type(self).__name__
        return f'<{"DTypePolicy" if name == "FloatDTypePolicy" else name} "{self._name}">'

    def __eq__(self, other):
        plain = (DTypePolicy, FloatDTypePolicy)
        if type(self) in plain:
            return type(other) in plain and self._name == other._name
        return type(other) is type(self) and self._name == other._name

    def __hash__(self):
        return hash((type(self).__name__, self._name))


class FloatDTypePolicy(DTypePolicy):
    """Another name of DTypePolicy."""


class QuantizedDTypePolicy(DTypePolicy):
    """A policy of layers whose weights are small integers.

    Parameters
    ----------
    mode : str
        "int8", "float8", "int4", "gptq" or "awq".

    """

    _arguments = "mode=_quantization_mode ..."

    def __init__(self, mode, source_name=None):
        source_name = dtype_policy().name if source_name is None else source_name
        self._compute_dtype, self._variable_dtype = self._parse_name(source_name)
        if mode not in QUANTIZATION_MODES:
            raise ValueError(f"Invalid quantization mode. Expected one of {QUANTIZATION_MODES}. Received: mode={mode}")
        if self._compute_dtype == "float16" and mode == "int8":
            raise ValueError("Quantization with int8 doesn't work well with compute_dtype='float16'. "
                             f"Received: mode='{mode}'")
        self._name, self._source_name, self._quantization_mode = f"{mode}_from_{source_name}", source_name, mode

    def __eq__(self, other):
        return super().__eq__(other) and self.get_config() == other.get_config()

    __hash__ = DTypePolicy.__hash__


class QuantizedFloat8DTypePolicy(QuantizedDTypePolicy):
    """A policy of layers that compute in eight-bit floats.

    Parameters
    ----------
    mode : str
        "float8".
    amax_history_length : int, optional, default=1024
        How many greatest values are remembered.

    """

    default_amax_history_length = 1024

    def __init__(self, mode, source_name=None, amax_history_length=1024):
        super().__init__(mode=mode, source_name=source_name)
        if not isinstance(amax_history_length, int):
            raise TypeError(f"`amax_history_length` must be an integer. Received: "
                            f"amax_history_length={amax_history_length}")
        self._amax_history_length = amax_history_length

    amax_history_length = property(lambda self: self._amax_history_length, doc="How many greatest values are kept.")


class _Blocked(QuantizedDTypePolicy):
    """A policy whose mode has numbers behind it: "<mode>/<number>/..."."""

    _base, _numbers = None, ()

    def __init__(self, mode, source_name=None):
        words = expect(mode, str, type(self).__name__, "mode").split("/")
        form = "/".join([self._base, *(f"<{name}>" for name in self._numbers)])
        if len(words) != len(self._numbers) + 1 or words[0] != self._base:
            raise ValueError(f"Invalid mode for {type(self).__name__}. Expected format '{form}', but got '{mode}'.")
        try:
            numbers = [int(word) for word in words[1:]]
        except ValueError:
            raise ValueError(f"Invalid mode for {type(self).__name__}. The parts behind '/' must be integers. "
                             f"Expected format '{form}', but got '{mode}'.") from None
        for name, number in zip(self._numbers, numbers):
            self._check(name, number, mode)
            setattr(self, name, number)
        super().__init__(mode=words[0], source_name=source_name)
        self._name, self.mode = f"{mode}_from_{source_name}", words[0]

    def _check(self, name, number, mode):
        if name == "weight_bits" and number not in ([4] if self._base == "awq" else [2, 3, 4, 8]):
            known = "AWQ only supports 4-bit weights" if self._base == "awq" else "Supported values are 2, 3, 4, and 8"
            raise ValueError(f"Invalid weight_bits in mode. {known}, but got {number} from '{mode}'.")
        if name != "weight_bits" and (number < -1 or number == 0):
            raise ValueError(f"Invalid {name} in mode. Supported values are -1 (per-channel) or a positive integer, "
                             f"but got {number} from '{mode}'.")

    def get_config(self):
        """Return the whole mode and the policy before."""
        mode = "/".join([self.mode, *(str(getattr(self, name)) for name in self._numbers)])
        return {**super().get_config(), "mode": mode}


class Int4DTypePolicy(_Blocked, _base="int4", _numbers=("block_size",)):
    """A policy of four-bit weights in blocks: "int4/<block_size>"."""


class GPTQDTypePolicy(_Blocked, _base="gptq", _numbers=("weight_bits", "group_size")):
    """A policy of weights quantized by GPTQ: "gptq/<weight_bits>/<group_size>"."""


class AWQDTypePolicy(_Blocked, _base="awq", _numbers=("weight_bits", "group_size")):
    """A policy of weights quantized by AWQ: "awq/<weight_bits>/<group_size>"."""


class DTypePolicyMap(DTypePolicy, MutableMapping):
    """Policies by the paths of layers.

    Parameters
    ----------
    default_policy : Union[str, DTypePolicy], optional
        The policy of layers that no path matches; the global one without it.
    policy_map : Dict[str, DTypePolicy], optional
        Policies by path, or by a regular expression of paths.

    """

    def __init__(self, default_policy=None, policy_map=None):
        if isinstance(default_policy, DTypePolicyMap):
            raise ValueError(f"`default_policy` cannot be a `DTypePolicyMap`. Received: {default_policy}")
        if policy_map is not None and not isinstance(policy_map, dict):
            raise TypeError("If specified, `policy_map` must be a dict. "
                            f"Received: policy_map={policy_map} of type {type(policy_map)}")
        self._default_policy_arg, self._default_policy = default_policy, get(default_policy)
        self._policy_map = policy_map or {}

    name = property(lambda self: f"map_{self.default_policy.name}", doc="The default's name behind `map_`.")
    default_policy = property(lambda self: get(self._default_policy), doc="The policy where no path matches.")
    variable_dtype = property(lambda self: self.default_policy.variable_dtype, doc="The default's dtype of weights.")
    compute_dtype = property(lambda self: self.default_policy.compute_dtype, doc="The default's compute dtype.")
    quantization_mode = property(lambda self: self.default_policy.quantization_mode, doc="The default's mode.")
    __eq__, __hash__ = MutableMapping.__eq__, object.__hash__

    def __getitem__(self, key):
        if key in self._policy_map:
            return self._policy_map[key]
        matching = [pattern for pattern in self._policy_map if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(f"Path '{key}' matches multiple dtype policy specification keys: {matching}. Please make "
                             "sure each path only matches at most one dtype policy specification key in the "
                             "DTypePolicyMap.")
        return self._policy_map[matching[0]] if matching else self.default_policy

    def __setitem__(self, key, policy):
        if key in self._policy_map:
            raise ValueError(f"{key} already exist in the DTypePolicyMap with value {self._policy_map[key]}. Please "
                             "make sure to not use duplicated keys.")
        try:
            self._policy_map[key] = get(policy)
        except Exception as error:
            raise ValueError("Cannot interpret the assigned value. Expected a string or an instance of DTypePolicy. "
                             f"Received: {policy} for '{key}'") from error

    def __delitem__(self, key):
        return self._policy_map.pop(key)

    def __contains__(self, key):
        return key in self._policy_map

    def __len__(self):
        return len(self._policy_map)

    def __iter__(self):
        return iter(self._policy_map)

    def get_config(self):
        """Return both; without a default, the policies are told without the dtype that they came from as well."""
        told = {key: serialize(policy) for key, policy in self._policy_map.items()}
        if self._default_policy_arg is None:
            for policy in told.values():
                inner = policy["config"]
                inner["source_name" if "source_name" in inner else "name"] = None  # whatever is global then
        return {"default_policy": self._default_policy_arg, "policy_map": told}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make a map of what `get_config` returned."""
        from dragon.vm.keras.saving.serialization import deserialize_keras_object
        return cls(config["default_policy"], deserialize_keras_object(config["policy_map"], custom_objects))

    def __repr__(self):
        pairs = [(key, policy.name) for key, policy in self._policy_map.items()]
        return f"<DTypePolicyMap at {hex(id(self))} default_policy={self._default_policy.name}, mapping={pairs}>"


def set_dtype_policy(policy):
    """Set the policy of layers for which none is named."""
    if isinstance(policy, str):
        policy = get(policy)
    elif not isinstance(policy, DTypePolicy):
        raise ValueError("Invalid `policy` argument. Expected the string name of a policy (such as 'mixed_float16') or "
                         f"a `DTypePolicy` instance. Received: policy={policy} (of type {type(policy)})")
    global_state.set_global_attribute("dtype_policy", policy)


def dtype_policy():
    """Return the policy of layers for which none is named."""
    policy = global_state.get_global_attribute("dtype_policy")
    if policy is None:
        policy = DTypePolicy(settings.floatx())
        set_dtype_policy(policy)
    return policy


def read_quantized(identifier):
    """Return the quantized policy of a name such as "int8_from_float32"."""
    if not isinstance(identifier, str):
        raise TypeError(f"`policy` must be a string. Received: policy={identifier} (of type {type(identifier)})")
    if not identifier.startswith(QUANTIZATION_MODES):
        raise ValueError(f"`policy` is incompatible with the current supported quantization. Received: {identifier}")
    words = identifier.split("_from_")
    if len(words) != 2:
        raise ValueError("Cannot convert `policy` into a valid pair (`mode`, `source_name`) to instantiate "
                         f"`QuantizedDTypePolicy`. Received: policy={identifier}")
    mode, source_name = words
    if mode.startswith("int4"):
        return (Int4DTypePolicy if "/" in mode else QuantizedDTypePolicy)(mode, source_name)
    kinds = {"int8": QuantizedDTypePolicy, "floa": QuantizedFloat8DTypePolicy, "gptq": GPTQDTypePolicy,
             "awq/": AWQDTypePolicy, "awq": AWQDTypePolicy}
    return kinds[mode[:4]](mode, source_name)


POLICIES = {cls.__name__: cls for cls in (
    AWQDTypePolicy, DTypePolicy, FloatDTypePolicy, QuantizedDTypePolicy, QuantizedFloat8DTypePolicy, DTypePolicyMap,
    GPTQDTypePolicy, Int4DTypePolicy)}


def serialize(dtype_policy):
    """Return a policy as a dict that can be written to a file."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object
    return serialize_keras_object(dtype_policy)


def deserialize(config, custom_objects=None):
    """Return the policy of what `serialize` returned."""
    from dragon.vm.keras.saving.serialization import deserialize_keras_object
    return deserialize_keras_object(config, module_objects=POLICIES, custom_objects=custom_objects)


def read_policy(config):
    """Return the policy that an operation's configuration holds; its name where that says all."""
    policy = deserialize(config)
    return policy if isinstance(policy, DTypePolicyMap) or policy.quantization_mode is not None else policy.name


def get(identifier):
    """Return a policy: the global one for None, one by name, by dtype, or of what `serialize` returned."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return expect(deserialize(identifier), DTypePolicy, "dtype_policies.get", "a policy of a configuration")
    if isinstance(identifier, str):
        return read_quantized(identifier) if identifier.startswith(QUANTIZATION_MODES) else DTypePolicy(identifier)
    try:
        return DTypePolicy(standardize_dtype(identifier))
    except Exception:
        raise ValueError("Cannot interpret `dtype` argument. Expected a string or an instance of DTypePolicy. "
                         f"Received: dtype={identifier}") from None
