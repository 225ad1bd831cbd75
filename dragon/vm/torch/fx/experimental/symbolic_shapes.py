"""`torch.fx.experimental.symbolic_shapes`: what programs and exported graphs ask of sizes that vary.

While a program is exported, a comparison of sizes is decided when it is made, and noted: what comes here is a bool.
"""
from dragon.core.capture.sizes import is_followed
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.core.exporting.errors import GuardOnDataDependentSymNode  # noqa: F401
from dragon.vm.torch.core.exporting.symbols import SymInt, ValueRanges  # noqa: F401
from dragon.vm.torch.core.tensor import Tensor


def is_symbolic(val):
    """Return whether a number follows sizes that vary."""
    return isinstance(val, SymInt) and val.expression.constant is None or is_followed(val)


def is_concrete_int(a):
    """Return whether a number is the same whatever the sizes are."""
    return isinstance(a, int) and not is_symbolic(a)


def free_symbols(val):
    """Return the symbols of a number, or of the sizes of a tensor.

    Parameters
    ----------
    val : Union[int, SymInt, Tensor, Sequence]
        What may have some; what is nested is looked through.

    Returns
    -------
    Set[str]
        The names of the symbols, such as "s0".

    """
    if isinstance(val, Tensor):
        val = tuple(val.shape)
    if isinstance(val, (list, tuple)):
        return set().union(*map(free_symbols, val))
    return set(val.expression.symbols()) if isinstance(val, SymInt) else set()


def has_free_symbols(val):
    """Return whether a number, or a tensor's sizes, have symbols."""
    return bool(free_symbols(val))


def guard_bool(a):
    """Return what a comparison says, as a bool."""
    return bool(a)


def guard_int(a):
    """Return a size as a plain int, which it must be from now on."""
    return int(a)


def guard_size_oblivious(expr):
    """Return what a comparison says."""
    return bool(expr)


def statically_known_true(x):
    """Return what a comparison says: it was decided when it was made."""
    return bool(x)


def guard_or_false(a):
    """Return what a comparison says: it was decided when it was made."""
    return bool(a)


def guard_or_true(a):
    """Return what a comparison says: it was decided when it was made."""
    return bool(a)


def sym_eq(x, y):
    """Return whether two sizes are the same, or all of two shapes.

    Parameters
    ----------
    x, y : Union[int, Sequence]
        Both numbers, or both lists or tuples of them.

    Returns
    -------
    bool
        Whether they are.

    """
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(map(sym_eq, x, y))
    if isinstance(x, int) and isinstance(y, int):
        return bool(x == y)
    raise AssertionError(f"sym_eq: got {type(x).__name__} and {type(y).__name__}, expected two ints or two tuples")


fill(globals(), "fx.experimental.symbolic_shapes")
