"""`torch.nested`: nested tensors made of lists, of values with offsets, and of ranges of strided tensors."""
from dragon.core import modes
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.kinds import is_of_parts
from dragon.vm.torch.core.nested.parts import is_nested, layout_of, make, make_strided, new_form
from dragon.vm.torch.core.sparse.keys import count_up
from dragon.vm.torch.core.tensor import Tensor, ops

INT64 = OBJECTS["int64"]


def require_layout(who, layout):
    """Return a layout that nested tensors have, `torch.strided` for None."""
    if layout not in (None, layouts.strided, layouts.jagged):
        raise RuntimeError(f"{who}: got layout={layout!r}, expected torch.strided or torch.jagged: Specified layout is "
                           "unsupported for nested tensors")
    return layouts.strided if layout is None else layout


def refuse_parts(who, tensors):
    """Raise for a sample that is no strided tensor."""
    for one in tensors:
        if is_of_parts(one):
            raise RuntimeError(f"{who}: got a sample of layout {one.layout!r}, expected strided tensors")


def jagged_of(who, tensors, dtype=None, device=None):
    """Return a jagged tensor of a list, along whose ragged dim alone its tensors differ."""
    if not tensors:
        raise RuntimeError(f"{who}: got no tensors, expected at least one: Cannot construct a nested tensor from an "
                           "empty tensor list")
    refuse_parts(who, tensors)
    for what, values in (("dtype", {one.dtype for one in tensors}), ("dim", {one.ndim for one in tensors})):
        if len(values) > 1:
            raise RuntimeError(f"{who}: got {', '.join(sorted(map(str, values)))}, expected one: When constructing a "
                               f"nested tensor, all tensors in list must have the same {what}")
    if tensors[0].ndim == 0:
        raise RuntimeError(f"{who}: got tensors without dims, expected at least one dim: Cannot construct a nested "
                           "tensor from a list of zero-dim tensors")
    shapes = [tuple(one.shape) for one in tensors]
    ragged = [axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1] or [0]
    if len(ragged) > 1:
        raise RuntimeError(f"{who}: got tensors that differ in the sizes of dims {', '.join(map(str, ragged))}, "
                           "expected one: Cannot represent given tensor list as a nested tensor with the jagged layout")
    axis = ragged[0]
    values = ops.cat(tensors, axis)
    values = values.to(values.device if device is None else device, values.dtype if dtype is None else dtype)
    lengths, offsets = [shape[axis] for shape in shapes], [0]
    for length in lengths:
        offsets.append(offsets[-1] + length)
    offsets = as_tensor(offsets, dtype=INT64, device=values.device)
    return make(values, new_form(offsets, None, axis + 1, min(lengths), max(lengths)))


def strided_of(who, tensors, dtype=None, device=None):
    """Return a nested tensor of layout `torch.strided` of a list of tensors with as many dims."""
    refuse_parts(who, tensors)
    ranks = sorted({one.ndim for one in tensors})
    if len(ranks) > 1:
        raise RuntimeError(f"{who}: got tensors of {ranks[0]} and {ranks[-1]} dims, expected one number of them: All "
                           "Tensors given to nested_tensor must have the same dimension")
    dtype = tensors[0].dtype if tensors and dtype is None else dtype
    flat = [ops.reshape(one if one.dtype == dtype or dtype is None else one.to(dtype), (-1,)) for one in tensors]
    numbers = ops.cat(flat, 0) if flat else as_tensor([], dtype=dtype)
    numbers = numbers if device is None else numbers.to(device)
    return make_strided(table_of([one.shape for one in tensors], ranks[0] if ranks else 0), numbers)


def table_of(shapes, rank):
    """Return the table of shapes of so many dims."""
    table = [size for shape in shapes for size in shape]
    return ops.reshape(as_tensor(table, dtype=INT64), (len(shapes), rank))


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Return a nested tensor that holds copies of tensors; a leaf.

    Parameters
    ----------
    tensor_list : Sequence[Union[Tensor, Sequence]]
        The samples: tensors, or nested numbers. They have as many dims.
    dtype : dtype, optional
        That of the first sample by default.
    layout : layout, optional, default=torch.strided
        `torch.strided`, or `torch.jagged`, of which samples may differ in the size of one dim.
    device : device, optional
        That of the first sample by default.
    requires_grad : bool, optional, default=False
        Whether gradients are wanted with respect to the new tensor.

    Returns
    -------
    Tensor
        The nested tensor.

    Examples
    --------
    >>> x = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    >>> x.offsets()
    tensor([0, 2, 6])
    >>> x.sum(1)
    tensor([[2., 2., 2.],
            [4., 4., 4.]])

    """
    layout = require_layout("nested_tensor", layout)
    if isinstance(tensor_list, Tensor) or not isinstance(tensor_list, (list, tuple)):
        raise TypeError(f"nested_tensor: got '{type(tensor_list).__name__}', expected a list of tensors")
    if pin_memory:
        raise RuntimeError("nested_tensor: got pin_memory=True, expected False: there is no accelerator whose copies "
                           "it would speed up")
    with modes.no_grad():
        tensors = [one.detach() if isinstance(one, Tensor) else as_tensor(one) for one in tensor_list]
        compose = jagged_of if layout is layouts.jagged else strided_of
        made = compose("nested_tensor", tensors, dtype, device)
    return made.requires_grad_() if requires_grad else made


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """Return tensors as one nested tensor, whose history is theirs.

    Parameters
    ----------
    ts : Union[Tensor, Sequence[Tensor]]
        The samples, or a tensor along whose first dim they lie.
    dtype : dtype, optional
        That of the samples by default.
    device : device, optional
        That of the samples by default.
    layout : layout, optional, default=torch.strided
        `torch.strided` or `torch.jagged`.

    Returns
    -------
    Tensor
        The nested tensor; one of that layout as it is.

    """
    listed = isinstance(ts, (list, tuple)) and all(isinstance(one, Tensor) for one in ts)
    if not listed and not isinstance(ts, Tensor):
        raise TypeError(f"as_nested_tensor: got '{type(ts).__name__}', expected a tensor or a list of tensors: "
                        "as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors")
    if is_nested(ts):
        if layout is not layout_of(ts):
            raise RuntimeError(f"as_nested_tensor: got a nested tensor of layout {layout_of(ts)!r}, expected layout="
                               f"{layout_of(ts)!r}: Converting between nested tensor layouts is not supported")
        return ts.to(ts.device if device is None else device, ts.dtype if dtype is None else dtype)
    layout = require_layout("as_nested_tensor", layout)
    if isinstance(ts, Tensor):
        if ts.ndim < 2:
            raise RuntimeError(f"as_nested_tensor: got a tensor of {ts.ndim} dims, expected at least 2: "
                               "as_nested_tensor(): Expected tensor argument to have dim() > 1")
        ts = ops.unbind(ts, 0)
    compose = jagged_of if layout is layouts.jagged else strided_of
    return compose("as_nested_tensor", list(ts), dtype, device)


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None):
    """Return a jagged tensor of values, in which the samples lie one after the other, and of where these begin.

    Parameters
    ----------
    values : Tensor
        All samples, one after the other along the jagged dim.
    offsets : Tensor, optional
        Where each sample begins, and where the last one ends.
    lengths : Tensor, optional
        How long each sample is. Beside offsets, what lies between a sample's end and the next one's begin is a hole.
    jagged_dim : int, optional, default=1
        Which dim of the result is ragged.
    min_seqlen, max_seqlen : int, optional
        The length of the shortest and longest sample, if they are known.

    Returns
    -------
    Tensor
        Of layout `torch.jagged`; its gradients go to `values`.

    """
    who = "nested_tensor_from_jagged"
    if not isinstance(values, Tensor) or is_of_parts(values):
        raise TypeError(f"{who}: got '{type(values).__name__}' as values, expected a strided tensor")
    if offsets is None and lengths is None:
        raise RuntimeError(f"{who}: got neither offsets nor lengths, expected one of them: "
                           f"{who}(): At least one of offsets or lengths is required.")
    if offsets is None:
        offsets, lengths = offsets_of(lengths), None
    dim = 1 if jagged_dim is None else jagged_dim
    if dim < 1:
        raise ValueError(f"{who}: got jagged_dim={jagged_dim}, expected 1 or more: Expected jagged_dim >=1, but got "
                         f"{jagged_dim}.")
    if dim > values.ndim:
        raise IndexError(f"{who}: got jagged_dim={dim} for values of {values.ndim} dims, expected at most "
                         f"{values.ndim}")
    check_places(who, values, offsets, lengths, dim)
    return make(ops.view(values, values.shape), new_form(offsets, lengths, dim, min_seqlen, max_seqlen))


def check_places(who, values, offsets, lengths, dim):
    """Raise unless offsets and lengths tell samples that lie within values."""
    for what, places in (("offsets", offsets), ("lengths", lengths)):
        if places is None:
            continue
        if places.ndim != 1 or not places.dtype.name.startswith(("int", "uint")):
            raise RuntimeError(f"{who}: got {what} of shape {tuple(places.shape)} and {places.dtype}, expected a "
                               f"vector of integers: {what} must be 1D")
    batch = offsets.shape[0] - 1
    if batch < 0 or lengths is not None and lengths.shape[0] != batch:
        raise RuntimeError(f"{who}: got {batch + 1} offsets"
                           + ("" if lengths is None else f" and {lengths.shape[0]} lengths")
                           + ", expected one offset more than samples: offsets and lengths batch sizes must match")
    if batch == 0:
        return
    # Rows are found by these numbers later: what lies outside would be another sample's, or nobody's.
    rows, begins = values.shape[dim - 1], offsets.tolist()
    ends = begins[1:] if lengths is None else [a + b for a, b in zip(begins, lengths.tolist())]
    wrong = next((pair for pair in zip(begins, ends) if not 0 <= pair[0] <= pair[1] <= rows), None)
    if wrong is not None:
        raise RuntimeError(f"{who}: got a sample from {wrong[0]} to {wrong[1]}, expected it within 0 to {rows}, which "
                           "values have: nested tensor offsets and lengths do not match ragged_idx dimension")


def offsets_of(lengths):
    """Return where samples of some lengths begin, and where the last one ends."""
    ends = ops.cumsum(lengths, 0)
    return ops.cat((ops.zeros((1,), dtype=ends.dtype, device=ends.device), ends), 0)


def narrow(tensor, dim, start, length, layout=layouts.strided):
    """Return a range of a strided tensor as a nested one; ranges of samples may differ.

    Parameters
    ----------
    tensor : Tensor
        The samples lie along its first dim.
    dim : int
        Of which dim the ranges are; 1 for `torch.jagged`.
    start, length : Union[int, Tensor]
        Where ranges begin and how long they are: one number, or, for `torch.jagged`, one for each sample.
    layout : layout, optional, default=torch.strided
        `torch.strided` or `torch.jagged`.

    Returns
    -------
    Tensor
        The nested tensor.

    """
    layout = require_layout("nested.narrow", layout)
    for what, given in (("start", start), ("length", length)):
        if not isinstance(given, (int, Tensor)):
            raise RuntimeError(f"nested.narrow: got '{type(given).__name__}' as {what}, expected an integer or a "
                               f"tensor: {what} must be an integer or a tensor")
    if layout is layouts.strided:
        if isinstance(start, Tensor) or isinstance(length, Tensor):
            raise RuntimeError("nested.narrow: got a tensor as start or length, expected integers: start and length "
                               "must be integers for the strided layout NT impl")
        return as_nested_tensor(ops.unbind(tensor, 0)).narrow(dim, start, length)
    if dim != 1:
        raise RuntimeError(f"nested.narrow: got dim {dim}, expected 1: jagged layout only supports dim=1")
    if tensor.ndim < 2:
        raise RuntimeError(f"nested.narrow: got a tensor of {tensor.ndim} dims, expected at least 2")
    return ranges_of(tensor, spread("start", start, tensor), spread("length", length, tensor))


def spread(what, given, tensor):
    """Return a number, or a tensor of them, as one for each sample."""
    batch = tensor.shape[0]
    given = given if isinstance(given, Tensor) else as_tensor([given], dtype=INT64, device=tensor.device)
    if given.ndim > 1 or given.ndim == 1 and given.shape[0] not in (1, batch):
        raise RuntimeError(f"nested.narrow: got {what} of shape {tuple(given.shape)}, expected {batch} or 1: your "
                           "start and length must be Tensors that broadcast to input.shape[0]")
    return ops.expand(given, (batch,)).to(INT64)


def ranges_of(tensor, starts, lengths):
    """Return a jagged tensor of a range of every sample, with holes between them unless they touch."""
    batch, rows = tensor.shape[:2]
    begins = ops.add(starts, ops.mul(count_up(batch, starts), rows))
    offsets = ops.cat((begins, ops.add(begins[-1:], lengths[-1:])), 0)
    values = ops.reshape(tensor, (batch * rows, *tensor.shape[2:]))
    check_places("nested.narrow", values, offsets, lengths, 1)
    low, high = int(ops.amin(lengths, 0)), int(ops.amax(lengths, 0))
    first, *_, last = offsets.tolist()
    told = list(zip(starts.tolist(), lengths.tolist()))
    # Samples touch where each but the first begins at 0, and each but the last goes to its end.
    if all(start == 0 for start, _ in told[1:]) and all(start + length == rows for start, length in told[:-1]):
        return make(ops.narrow(values, 0, first, last - first),
                    new_form(ops.sub(offsets, first), None, 1, low, high))
    return make(values, new_form(offsets, ops.clone(lengths), 1, low, high))


def masked_select(tensor, mask):
    """Return a jagged tensor of the elements that a mask holds, in rows as the tensor's.

    Parameters
    ----------
    tensor : Tensor
        A strided tensor.
    mask : Tensor
        Bools, which are broadcast to the tensor's shape.

    Returns
    -------
    Tensor
        Of shape (rows, elements that the mask holds of each).

    """
    for what, given in (("tensor", tensor), ("mask", mask)):
        if given.layout is not layouts.strided or is_nested(given):
            raise RuntimeError(f"torch.nested.masked_select requires a strided {what}, given {given.layout}")
    spread_mask = ops.expand(mask, tensor.shape)
    lengths = ops.reshape(ops.sum(spread_mask, -1, dtype=INT64), (-1,))
    return make(ops.masked_select(tensor, mask), new_form(offsets_of(lengths)))
