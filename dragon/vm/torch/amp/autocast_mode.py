"""Autocast: products and convolutions in a 16-bit dtype, what needs precision in float32. The engine casts."""
import collections.abc
import functools
import threading

from dragon import _C
from dragon.core import warnings
from dragon.core import config, modes
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import Tensor

DEFAULTS = {"cpu": "bfloat16", "cuda": "float16"}
KNOWN = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "maia", "xla", "ipu", "privateuseone")
SUPPORTED = (OBJECTS["bfloat16"], OBJECTS["float16"])


class _State(threading.local):
    """The switches of a thread, by type of device."""

    def __init__(self):
        self.enabled = {}
        self.dtypes = {}
        self.cache = True
        self.nesting = 0


_state = _State()


def is_autocast_available(device_type):
    """Return whether a type of device has autocast."""
    _check_name(device_type)
    return device_type in DEFAULTS


def _check_name(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in KNOWN:
        raise RuntimeError(f"unknown device type for autocast: got {device_type!r}, expected one of {', '.join(KNOWN)}")


def is_autocast_enabled(device_type="cuda"):
    """Return whether this thread casts on a type of device."""
    return _state.enabled.get(device_type, False)


def set_autocast_enabled(device_type, enabled=None):
    """Switch casting on a type of device, for this thread."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _state.enabled[device_type] = bool(enabled)
    _tell_engine()


def get_autocast_dtype(device_type):
    """Return the 16-bit dtype of a type of device."""
    if device_type not in DEFAULTS:
        raise RuntimeError(f"get_autocast_dtype: got {device_type!r}, expected one of {', '.join(DEFAULTS)}")
    return _state.dtypes.get(device_type) or OBJECTS[DEFAULTS[device_type]]


def set_autocast_dtype(device_type, dtype):
    """Set the 16-bit dtype of a type of device, for this thread."""
    _state.dtypes[device_type] = dtype
    _tell_engine()


def _tell_engine():
    """Hand on which dtype the engine's operators shall cast to: it knows one for all devices."""
    chosen = next((kind for kind in ("cpu", "cuda") if _state.enabled.get(kind)), None)
    modes.set_autocast(None if chosen is None else get_autocast_dtype(chosen))


def _tell_all():
    """Hand on what there is after a block."""
    if _state.nesting == 0:
        clear_autocast_cache()
    _tell_engine()
    modes.set_autocast_cache(_state.cache)


def is_autocast_cache_enabled():
    """Return whether casts of parameters are kept for the length of the outermost block."""
    return _state.cache


def set_autocast_cache_enabled(enabled):
    """Keep casts of parameters for the length of the outermost block, or not."""
    _state.cache = bool(enabled)
    modes.set_autocast_cache(_state.cache)


def clear_autocast_cache():
    """Forget the casts of parameters."""
    modes.clear_autocast_cache()


def autocast_increment_nesting():
    """Enter a block; returns how many are open."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting():
    """Leave a block; returns how many are open."""
    _state.nesting -= 1
    return _state.nesting


class autocast(_C.Scope):
    """Cast within a `with` block or a decorated function.

    Parameters
    ----------
    device_type : str
        "cpu" or "cuda".
    dtype : dtype, optional
        The 16-bit dtype; by default bfloat16 on the CPU, float16 on CUDA.
    enabled : bool, optional, default=True
        Whether to cast; False switches it off within an outer block.
    cache_enabled : bool, optional
        Whether casts of parameters are kept.

    Examples
    --------
    >>> a, b = torch.ones(2, 2), torch.ones(2, 2)
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     print((a @ b).dtype)
    torch.bfloat16

    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and config.device_count("cuda") == 0:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling autocast.")
            enabled = False
        elif enabled and self.fast_dtype not in SUPPORTED:
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling "
                          f"autocast: got {self.fast_dtype}, expected one of {', '.join(map(str, SUPPORTED))}")
            enabled = False
        self._enabled = enabled

    def _enter_scope(self, exits):
        """Cast from now on."""
        exits.callback(_tell_all)
        exits.set(_state, "enabled", {**_state.enabled, self.device: self._enabled})
        exits.set(_state, "dtypes", {**_state.dtypes, self.device: self.fast_dtype})
        exits.set(_state, "nesting", _state.nesting + 1)
        exits.set(_state, "cache", bool(self._cache_enabled))
        _tell_engine()
        modes.set_autocast_cache(_state.cache)
        return self

    def __call__(self, func):
        if not callable(func):
            raise TypeError(f"autocast()(func) requires a callable, but got {type(func).__name__}; "
                            "as a context manager, write `with torch.autocast(device_type=...):`")

        @functools.wraps(func)
        def decorate_autocast(*args, **kwargs):
            with self:
                return func(*args, **kwargs)
        return decorate_autocast


def _enter_autocast(*vals):
    """Enter a block that `_exit_autocast` leaves."""
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode):
    """Leave a block."""
    mode.__exit__(None, None, None)


def _cast(value, device_type, dtype):
    """Return the floating tensors in a structure in another dtype; float64 stays."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype.name != "float64"
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)) or hasattr(value, "__array_interface__"):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {_cast(key, device_type, dtype): _cast(item, device_type, dtype) for key, item in value.items()}
    if isinstance(value, collections.abc.Iterable):
        items = (_cast(item, device_type, dtype) for item in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorate the forward of a Function for use under autocast.

    Parameters
    ----------
    fwd : Callable, optional
        The forward; without one, a decorator is returned.
    device_type : str
        "cpu" or "cuda".
    cast_inputs : dtype, optional
        What floating tensors become under autocast; forward then runs without it.

    Returns
    -------
    Callable
        The forward.

    """
    _check_kind(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        ctx, active = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = active and cast_inputs is None
        if cast_inputs is None or not active:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    """Decorate the backward of a Function whose forward has `custom_fwd`: it casts as the forward did."""
    _check_kind(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return decorate_bwd


def _check_kind(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


# Of old, each device had its own.
NAMES = {"is_autocast_cpu_enabled": lambda: is_autocast_enabled("cpu"),
         "set_autocast_cpu_enabled": lambda enabled: set_autocast_enabled("cpu", enabled),
         "get_autocast_cpu_dtype": lambda: get_autocast_dtype("cpu"),
         "set_autocast_cpu_dtype": lambda dtype: set_autocast_dtype("cpu", dtype),
         "get_autocast_gpu_dtype": lambda: get_autocast_dtype("cuda"),
         "set_autocast_gpu_dtype": lambda dtype: set_autocast_dtype("cuda", dtype)}
for _name, _function in NAMES.items():
    _function.__doc__ = f"Of old: `{_name.replace('_cpu', '').replace('_gpu', '')}` for one kind of device."
for _other in ("ipu", "xla"):
    for _place in ("is_autocast_{}_enabled", "set_autocast_{}_enabled", "get_autocast_{}_dtype",
                   "set_autocast_{}_dtype"):
        _asked = globals()[_place.replace("_{}", "")]
        NAMES[_place.format(_other)] = functools.partial(_asked, _other)
for _function in (is_autocast_enabled, set_autocast_enabled, get_autocast_dtype,
                  set_autocast_dtype, is_autocast_cache_enabled, set_autocast_cache_enabled, clear_autocast_cache,
                  autocast_increment_nesting, autocast_decrement_nesting):
    NAMES[_function.__name__] = _function
NAMES["autocast"] = autocast
