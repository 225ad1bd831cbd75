"""Destinations of functions written in Python: another tensor's memory, as `out=` and in-place twins ask."""
from dragon import _C
from dragon.vm.torch.core.dtypes import as_dtype
from dragon.vm.torch.core.known.names import KINDS


def write(destination, source):
    """Copy a tensor or number, broadcast and cast, into a destination; return it."""
    _C.Tensor.__setitem__(destination, Ellipsis, source)
    return destination


def require_cast(made, destination):
    """Raise unless the destination's dtype is of a kind that can hold a result."""
    if not _C.can_cast(made.dtype, destination.dtype):
        raise RuntimeError(f"result type {KINDS[made.dtype.name]} can't be cast to the desired output type "
                           f"{KINDS[destination.dtype.name]}")


def require_dtype(out, dtype):
    """Raise unless the destination of new numbers has the dtype that is asked for, if one is."""
    dtype = as_dtype(dtype)
    if dtype is not None and out.dtype != dtype:
        raise RuntimeError(f"dtype {KINDS[dtype.name]} does not match dtype of out parameter ({KINDS[out.dtype.name]})")


def replace(destination, made):
    """Write a result over the tensor that it was computed from, as `Tensor.<name>_` does."""
    require_cast(made, destination)
    return write(destination, made)


def deliver(made, out):
    """Return a result, or `out` with the result in it; several results go into as many tensors."""
    if out is None:
        return made
    if isinstance(made, (tuple, list)):
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"out: got '{type(out).__name__}', expected a tuple of {len(made)} tensors")
        if len(out) != len(made):
            raise RuntimeError(f"out: got {len(out)} tensors, expected {len(made)}")
        if len({id(destination) for destination in out}) != len(out):
            raise RuntimeError("out: got one tensor twice, expected one for each result")
        for destination, part in zip(out, made):
            deliver(part, destination)
        return out
    require_cast(made, out)
    if out.shape != made.shape:
        out.resize_(made.shape)
    return write(out, made)
