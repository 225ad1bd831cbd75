"""Switches of the whole program, and what scripts ask of symbolic numbers and assertions."""
import math

from dragon.core import warnings
from dragon import _C
from dragon.core import config
from dragon.core.capture.side_effects import note
from dragon.core.capture.settings import is_exporting
from dragon.vm.guest import import_or_none
from dragon.vm.torch.core.device import as_device, device
from dragon.vm.torch.core.exporting.tracing_state import current_tracer
from dragon.vm.torch.core.exporting.symbols import SymInt  # noqa: F401
from dragon.vm.torch.core.layout import contiguous_format
from dragon.vm.torch.core.register import FUNCTIONS, function, plain
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor

_state = {"deterministic": False, "warn_only": False, "matmul": "highest", "interop": 1, "warn_always": False,
          "fill": True}


def _reader(name, key, sentence):
    globals()[name] = plain(named(lambda: _state[key], name, sentence))


for _row in (
        ("get_num_interop_threads", "interop", "Return how many operators may run at once."),
        ("are_deterministic_algorithms_enabled", "deterministic",
         "Return whether repeatable algorithms were asked for."),
        ("is_deterministic_algorithms_warn_only_enabled", "warn_only",
         "Return whether algorithms that do not repeat are to warn only."),
        ("get_float32_matmul_precision", "matmul",
         'Return what products in single precision may lose: "highest" for nothing.'),
        ("is_warn_always_enabled", "warn_always", "Return whether warnings repeat.")):
    _reader(*_row)


@plain
def get_num_threads():
    """Return how many threads operators may use."""
    note("counts threads")
    return config.get_num_threads()


@plain
def set_num_threads(num):
    """Set how many threads operators may use."""
    if not isinstance(num, int):
        raise TypeError(f"set_num_threads: got {type(num).__name__}, expected an int")
    if num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {num}")
    config.set_num_threads(num)


@plain
def set_num_interop_threads(num):
    """Set how many operators may run at once; Dragon runs one after another."""
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: got {num}, expected at least 1")
    _state["interop"] = num


@plain
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Ask for algorithms whose results repeat; the CPU's always do."""
    _state.update(deterministic=bool(mode), warn_only=bool(warn_only))


@plain
def set_deterministic_debug_mode(debug_mode):
    """Ask for repeatable algorithms: "default", "warn" or "error", or 0 to 2."""
    modes = ("default", "warn", "error")
    if debug_mode not in modes and debug_mode not in (0, 1, 2):
        raise RuntimeError(f"set_deterministic_debug_mode: got {debug_mode!r}, expected one of {', '.join(modes)}")
    level = modes.index(debug_mode) if debug_mode in modes else debug_mode
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


@plain
def get_deterministic_debug_mode():
    """Return 0, 1 or 2: default, warn, error."""
    return 0 if not _state["deterministic"] else 1 if _state["warn_only"] else 2


@plain
def set_float32_matmul_precision(precision):
    """Set what products in single precision may lose: CUDA's round to TensorFloat32 unless it is "highest"; the CPU's
    lose nothing whatever is set."""
    if precision not in ("highest", "high", "medium"):
        warnings.warn(f"set_float32_matmul_precision: got {precision!r}, expected 'highest', 'high' or 'medium'; "
                      "nothing is set", UserWarning)
        return
    config.set_allows_tf32(precision != "highest")
    _state["matmul"] = precision


@plain
def set_flush_denormal(mode):
    """Return whether denormal numbers can be flushed to zero as asked: only leaving them is possible."""
    return not mode


@plain
def set_warn_always(b):
    """Set whether warnings repeat."""
    _state["warn_always"] = bool(b)


@plain
def get_device_module(device=None):
    """Return the module of a device type: `torch.cpu`, `torch.cuda`."""
    kind = as_device(device).type
    module = import_or_none(f"dragon.vm.torch.{kind}")
    if module is None:
        raise RuntimeError(f"get_device_module: got a device of type {kind!r}, expected one with a module, as 'cpu'")
    return module


@plain
def compiled_with_cxx11_abi():
    """Return True: the engine is built so."""
    return True


# Conditions that a script states.

@function
def _assert(condition, message):
    """Raise AssertionError unless a condition holds."""
    assert condition, message


@function
def _assert_async(input, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """Raise RuntimeError unless the only element is not zero; a model of ONNX's operators goes without such checks."""
    if is_exporting() and current_tracer() is None:
        return
    if not bool(input):
        raise RuntimeError(assert_msg)


def _checker(name, error):
    def check(cond, message=None):
        if not isinstance(cond, bool) and not isinstance(cond, Tensor):
            raise TypeError(f"{name}: got {type(cond).__name__} for argument 'cond', expected a bool")
        if current_tracer() is not None and isinstance(cond, bool):
            current_tracer().checked(cond)
        if not cond:
            raise error(message() if message is not None else "Expected cond to be True, but got False.")
    plain(named(check, name, f"Raise {error.__name__} unless a condition holds."))


for _name, _error in (("_check", RuntimeError), ("_check_index", IndexError), ("_check_value", ValueError),
                      ("_check_type", TypeError), ("_check_not_implemented", NotImplementedError)):
    _checker(_name, _error)


@plain
def _check_with(error_type, cond, message=None):
    """Raise an error of this class unless a condition holds."""
    if not cond:
        raise error_type(message() if message is not None else "Expected cond to be True, but got False.")


@plain
def _check_is_size(i, message=None, *, max=None):
    """Raise RuntimeError unless a number can be a size."""
    FUNCTIONS["_check"](i >= 0 and (max is None or i <= max), message)


@plain
def _constrain_as_size(symbol, min=None, max=None):
    """Raise RuntimeError unless a number can be a size, and lies between two others."""
    for holds in (min is None or symbol >= min, max is None or symbol <= max):
        FUNCTIONS["_check"](holds, lambda: f"Invalid value range for {symbol} between [{min}, {max}].")
    FUNCTIONS["_check_is_size"](symbol)


@plain
def _check_tensor_all_with(error_type, cond, message=None):
    """Raise an error of this class unless a condition holds for all elements."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"_check_tensor_all: got {type(cond).__name__}, expected a tensor")
    _check_with(error_type, bool(cond.all()), message)


@plain
def _check_tensor_all(cond, message=None):
    """Raise RuntimeError unless a condition holds for all elements."""
    _check_tensor_all_with(RuntimeError, cond, message)


# Numbers that stand for others than sizes in PyTorch's tracers; here every such number is known, so only code that
# brings nodes of its own makes them.

class SymFloat:
    """A float that a node knows.

    Parameters
    ----------
    node : Any
        Answers `guard_float(file, line)` with the number.

    """

    def __init__(self, node):
        self.node = node

    def __float__(self):
        return self.node.guard_float("", 0)

    def __repr__(self):
        return str(self.node)


class SymBool:
    """A truth value that a node knows.

    Parameters
    ----------
    node : Any
        Answers `bool_()` with the value.

    """

    def __init__(self, node):
        self.node = node

    def __bool__(self):
        return self.node.bool_()

    def __int__(self):
        return int(bool(self))

    def __repr__(self):
        return str(self.node)


for _name, _made, _sentence in (
        ("sym_int", lambda a: int(a), "Return a number as an integer."),
        ("sym_float", lambda a: float(a), "Return a number as a float."),
        ("sym_not", lambda a: not a, "Return the opposite of a truth value."),
        ("sym_sum", lambda args: sum(args), "Return the sum of numbers."),
        ("sym_ite", lambda b, t, f: t if b else f, "Return one number or another."),
        ("sym_sqrt", lambda a: math.sqrt(a), "Return the square root of a number.")):
    globals()[_name] = plain(named(_made, _name, _sentence))


@plain
def sym_max(a, b):
    """Return the larger of two numbers; a float if one is."""
    larger = max(a, b)
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


@plain
def sym_min(a, b):
    """Return the smaller of two numbers; a float if one is."""
    smaller = min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


FUNCTIONS["OutOfMemoryError"] = _C.OutOfMemory
FUNCTIONS["DeviceObjType"] = device
FUNCTIONS["legacy_contiguous_format"] = contiguous_format
for _class in (SymInt, SymFloat, SymBool):
    _class.__module__ = "torch"
    FUNCTIONS[_class.__name__] = _class
