"""What `tensor[...]` is in PyTorch's operators, read and written."""
import sys

from dragon.vm.torch.core.exporting.tracer import aten, current_tracer
from dragon.vm.torch.core.exporting.api_to_aten import with_function
from dragon.vm.torch.core.tensor import Tensor

END = sys.maxsize


def _parts(key):
    return list(key) if isinstance(key, tuple) else [key]


def _is_mask(part):
    return isinstance(part, Tensor) and str(part.dtype) in ("torch.bool", "torch.uint8")


def _expanded(key, rank):
    """Return the parts of a subscript with whole axes in place of an ellipsis."""
    parts = _parts(key)
    taken = sum(0 if part is None or part is ... or isinstance(part, bool) else part.ndim if _is_mask(part) else 1
                for part in parts)
    place = next((number for number, part in enumerate(parts) if part is ...), None)
    if place is None:
        return parts
    return [*parts[:place], *[slice(None)] * max(rank - taken, 0), *parts[place + 1:]]


def view_of(tensor, key):
    """Return the view that a subscript's ints, slices and Nones make, and the index tensors by axis.

    Parameters
    ----------
    tensor : Tensor
        The tensor.
    key : Any
        The subscript.

    Returns
    -------
    Tuple[Tensor, Optional[list]]
        The view; None where there are no index tensors, else a list with None for axes without.

    """
    from dragon.vm import torch
    a, axis, indices = aten(), 0, []
    for part in _expanded(key, tensor.ndim):
        if part is None:
            tensor = a.unsqueeze.default(tensor, axis)
        elif isinstance(part, bool):
            tensor = a.unsqueeze.default(tensor, axis)
            part = torch.tensor([part])
        elif isinstance(part, slice):
            tensor = _sliced(tensor, axis, part)
            part = None
        elif isinstance(part, int):
            tensor = a.select.int(tensor, axis, part)
            continue
        else:
            part = part if isinstance(part, Tensor) else torch.tensor(part)
        if part is None:
            indices.append(None)
            axis += 1
            continue
        indices.append(part)
        axis += part.ndim if _is_mask(part) else 1
    while indices and indices[-1] is None:
        indices.pop()
    return tensor, indices or None


def _sliced(tensor, axis, part):
    size = tensor.shape[axis]
    start, stop = 0 if part.start is None else part.start, END if part.stop is None else part.stop
    step = 1 if part.step is None else part.step
    is_open = hasattr(type(size), "_combined")
    to_the_end = part.stop is None or type(stop) is int and not is_open and stop >= size
    if not is_open and to_the_end and part.start is None and part.step in (None, 1):
        return tensor
    return aten().slice.Tensor(tensor, axis, start, stop, *([] if type(step) is int and step == 1 else [step]))


@with_function("__getitem__")
def _read(tracer, func, args, kwargs):
    """Note a subscript that is read."""
    tensor, indices = view_of(*args)
    if indices is not None:
        return aten().index.Tensor(tensor, indices)
    return aten().alias.default(tensor) if tensor is args[0] else tensor


def write(tensor, key, value):
    """Note a subscript that is written to."""
    from dragon.vm import torch
    a = aten()
    if not isinstance(value, Tensor) and not hasattr(type(value), "_combined"):
        value = current_tracer().constant(torch.tensor, (value,), {"dtype": tensor.dtype})
    view, indices = view_of(tensor, key)
    if indices is not None:
        a.index_put_.default(view, indices, value)
    elif not isinstance(value, Tensor):
        a.fill_.Scalar(view, value)
    elif value.ndim == 0:
        a.fill_.Tensor(view, value)
    else:
        while value.ndim > view.ndim and value.shape[0] == 1:
            value = a.select.int(value, 0, 0)
        a.copy_.default(view, value)
