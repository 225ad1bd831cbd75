"""Parameters that are computed from others: a property in the parameter's place, and a list of modules behind it."""
import copy
import copyreg
from contextlib import contextmanager

from dragon.core.modes import no_grad
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.modules.container import ModuleDict, ModuleList
from dragon.vm.torch.nn.parameter import Parameter

_cache_enabled = 0
_cache = {}


@contextmanager
def cached():
    """Compute each parametrized tensor once within a `with` block."""
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


def _register_parameter_or_buffer(module, name, tensor):
    register = module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer
    register(name, tensor)


def _require_kept(what, before, after, hint=""):
    """Raise unless a tensor took another's place with its dtype and shape."""
    if not isinstance(after, Tensor):
        raise ValueError(f"{what} must return a tensor. Got {type(after).__name__}.")
    for name in ("dtype", "shape"):
        if getattr(after, name) != getattr(before, name):
            raise ValueError(f"{what} may not change the {name} of the tensor{hint}.\nbefore: {getattr(before, name)}\n"
                             f"after: {getattr(after, name)}")


class ParametrizationList(ModuleList):
    """The modules that a tensor is computed with, and the tensors that it is computed from.

    Parameters
    ----------
    modules : Sequence[Module]
        Applied one after the other.
    original : Union[Parameter, Tensor]
        The tensor whose place they take.
    unsafe : bool, optional, default=False
        Do not check that dtype and shape stay.

    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach()
        inverse = self._invert(original)
        self.is_tensor = isinstance(inverse, Tensor)
        if not self.is_tensor and not isinstance(inverse, (list, tuple)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             + type(inverse).__name__)
        self.ntensors = 1 if self.is_tensor else len(inverse)
        if self.is_tensor:
            if original.dtype != inverse.dtype or original.device != inverse.device:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype or device: got "
                                 f"{inverse.dtype} on {inverse.device}, expected {original.dtype} on {original.device}")
            original.data = inverse.detach()
            _register_parameter_or_buffer(self, "original", original)
        else:
            for number, part in enumerate(inverse):
                if not isinstance(part, Tensor):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
                                     f"{number} of the sequence with type {type(part).__name__}.")
                part = Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part
                part.requires_grad_(original.requires_grad)
                _register_parameter_or_buffer(self, f"original{number}", part)
        if not unsafe:
            _require_kept("A parametrization", before, self(), ", unless `unsafe` flag is enabled")

    def _invert(self, value):
        """Return what the modules would have to be given for this value; those that cannot tell are left out."""
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        return value

    def right_inverse(self, value):
        """Set the originals so that the tensor becomes this value."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor and not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if not self.is_tensor and not isinstance(value, (list, tuple)):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            values = [value] if self.is_tensor else value
            if len(values) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                                 f"sequence of length {len(values)}.")
            for original, part in zip(self._originals(), values):
                if original.dtype != part.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {part.dtype} while `original` "
                                     f"has dtype {original.dtype}")
                original.data = part.detach()

    def _originals(self):
        return ([self.original] if self.is_tensor
                else [getattr(self, f"original{number}") for number in range(self.ntensors)])

    def forward(self):
        """Return the tensor."""
        first, *others = self
        value = first(*self._originals())
        for module in others:
            value = module(value)
        return value


def _inject_new_class(module):
    """Give a module a class of its own, to which properties can be added."""
    kind = type(module)

    def refuse_pickling(self):
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict()")

    def deepcopy(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = self.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        for slot in copyreg._slotnames(type(self)):
            if hasattr(self, slot):
                setattr(made, slot, copy.deepcopy(getattr(self, slot), memo))
        return made
    body = {"__getstate__": refuse_pickling}
    if not hasattr(kind, "__deepcopy__"):
        body["__deepcopy__"] = deepcopy
    module.__class__ = type("Parametrized" + kind.__name__, (kind,), body)


def _inject_property(module, tensor_name):
    """Add the property that computes a tensor."""
    def get(self):
        parametrization = self.parametrizations[tensor_name]
        if not _cache_enabled:
            return parametrization()
        key = id(module), tensor_name
        if _cache.get(key) is None:
            _cache[key] = parametrization()
        return _cache[key]

    def put(self, value):
        self.parametrizations[tensor_name].right_inverse(value)
    setattr(type(module), tensor_name, property(get, put))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Have a parameter or buffer computed by a module from what now stands there; returns its owner.

    Parameters
    ----------
    parametrization : Module
        Its forward takes the tensor; its `right_inverse`, if there is one, goes the way back for assignments.
    unsafe : bool, optional, default=False
        Do not check that dtype and shape stay.

    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_further(module, tensor_name, parametrization):
    """Raise if a further parametrization would change dtype or shape, on the way there or back."""
    before = getattr(module, tensor_name)
    after = parametrization(before)
    _require_kept("A parametrization", before, after, ", unless the `unsafe` flag is enabled")
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        _require_kept("parametrization.right_inverse", before, back, ", unless the `unsafe` flag is enabled")


def is_parametrized(module, tensor_name=None):
    """Return whether a module has parametrized tensors, or one of this name."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Take the parametrizations of a tensor away; returns the module.

    Parameters
    ----------
    leave_parametrized : bool, optional, default=True
        Leave what was computed, not what it was computed from.

    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if found.is_tensor:
        original = found.original
        if leave_parametrized:
            with no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """Return the class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Give another module the parametrizations of a module, with their originals; returns the other."""
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        for key in ["original"] if source.is_tensor else [f"original{number}" for number in range(source.ntensors)]:
            setattr(target, key, getattr(source, key))
    return to_module
