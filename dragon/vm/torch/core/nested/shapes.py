"""Other shapes of jagged tensors: what leaves the batch as it is, and the ragged dim one that is ragged."""
import builtins

from dragon.vm.torch.core.nested.parts import form_of, is_jagged, make, rule, shape_of, values_of
from dragon.vm.torch.core.nested.properties import axis_of
from dragon.vm.torch.core.nested.ragged_size import NestedInt
from dragon.vm.torch.core.tensor import ops


def inner_axis(who, x, dim, rank=None, ragged=False):
    """Return an axis of the values for a dim that is neither the batch nor, unless asked, the ragged one."""
    axis = axis_of(who, x.ndim if rank is None else rank, dim)
    if axis == form_of(x).dim and not ragged:
        raise RuntimeError(f"{who}(): not supported for NestedTensor on ragged dim: got dim {dim}, expected another")
    if axis == 0:
        raise RuntimeError(f"{who}(): not supported for NestedTensor on dim=0: got dim {dim}, expected another")
    return axis - 1


def given_sizes(sizes, spelled=None):
    """Return sizes that came one by one, as a sequence, or by name."""
    found = sizes if spelled is None else spelled
    return tuple(found[0]) if len(found) == 1 and isinstance(found[0], (tuple, list)) else tuple(found)


def matches(x, sizes):
    """Return whether sizes begin as a jagged tensor's do, up to the ragged one; -1 stands for any."""
    end = form_of(x).dim + 1
    return len(sizes) >= end and all(
        mine == given or not isinstance(given, NestedInt) and given == -1
        for mine, given in zip(shape_of(x)[:end], sizes))


def _viewed(who):
    def view(self, *shape, size=None):
        shape = given_sizes(shape, size)
        form, held = form_of(self), values_of(self)
        if len(shape) < 3 or not matches(self, shape):
            raise RuntimeError(f"{who}(): cannot view shape {shape_of(self)} as {shape}: expected the batch and ragged "
                               "sizes as they are, and at least 3 sizes")
        if form.dim != 1 and shape != shape_of(self):
            raise RuntimeError(f"{who}(): does not support ragged_idx != 1 except when inp._size == size. inp._size is "
                               f"({shape_of(self)}) and size is ({shape}).")
        inner = [*shape[1:form.dim], held.shape[form.dim - 1], *shape[form.dim + 1:]]
        return make(getattr(ops, who)(held, tuple(inner)), form)
    return view


for _name in ("view", "reshape"):
    rule(_name)(_viewed(_name))


@rule("transpose", "swapaxes", "swapdims", "swap_axes", "swap_dims")
def transpose(input, dim0, dim1):
    """Exchange two dims, of which none is the batch's."""
    form = form_of(input)
    one, two = axis_of("transpose", input.ndim, dim0), axis_of("transpose", input.ndim, dim1)
    if 0 in (one, two):
        if form.dim in (one, two):
            raise ValueError(f"transpose: got dims {dim0} and {dim1}, expected none to be 0: Transpose is not "
                             "supported on the batch dimension for jagged NT")
        inner_axis("transpose", input, 0)
    dim = two if form.dim == one else one if form.dim == two else form.dim
    return make(ops.transpose(values_of(input), one - 1, two - 1), form._replace(dim=dim))


@rule("permute")
def permute(input, *dims):
    """Bring the dims into another order, the batch's first."""
    dims, form = given_sizes(dims), form_of(input)
    if len(dims) != input.ndim:
        raise ValueError(f"permute: got {len(dims)} dims, expected {input.ndim}: permute(): number of dimensions in "
                         f"the tensor input ({input.ndim}) does not match the length of the desired ordering of "
                         f"dimensions ({len(dims)}).")
    axes = [axis_of("permute", input.ndim, dim) for dim in dims]
    if len(set(axes)) < len(axes):
        raise ValueError(f"permute: got dims {dims}, expected each once: permute(): duplicate dims are not allowed.")
    if form.lengths is not None:
        raise ValueError("permute(): not supported on jagged layout nested tensor with holes: got lengths beside "
                         "offsets")
    if axes[0]:
        raise ValueError(f"permute: got dims {dims}, expected 0 first: Permute is not supported on the batch dimension "
                         "for jagged NT")
    return make(ops.permute(values_of(input), [axis - 1 for axis in axes[1:]]),
                form._replace(dim=axes.index(form.dim)))


@rule("movedim", "moveaxis")
def movedim(input, source, destination):
    """Bring dims to other places; the batch's stays the first."""
    pairs = [(one if isinstance(one, (tuple, list)) else (one,)) for one in (source, destination)]
    froms, to = ([axis_of("movedim", input.ndim, dim) for dim in dims] for dims in pairs)
    if len(froms) != len(to) or len({*froms}) < len(froms) or len({*to}) < len(to):
        raise RuntimeError(f"movedim: got source {source} and destination {destination}, expected as many dims in "
                           "both, each once")
    rest = iter(axis for axis in builtins.range(input.ndim) if axis not in froms)
    placed = dict(zip(to, froms))
    return permute(input, *(placed[axis] if axis in placed else next(rest) for axis in builtins.range(input.ndim)))


@rule("view_as")
def view_as(self, other):
    """Return the tensor in another one's shape."""
    return _viewed("view")(self, *(shape_of(other) if is_jagged(other) else other.shape))


@rule("reshape_as")
def reshape_as(self, other):
    """Return the tensor in another one's shape."""
    return _viewed("reshape")(self, *(shape_of(other) if is_jagged(other) else other.shape))


@rule("numpy_t")
def reverse(input):
    """Return the dims in reverse order, which the batch's refuses."""
    return permute(input, *builtins.range(input.ndim)[::-1])


@rule("unsqueeze")
def unsqueeze(input, dim):
    """Add a dim of size 1 behind the batch's."""
    form = form_of(input)
    axis = inner_axis("unsqueeze", input, dim, input.ndim + 1, ragged=True)
    return make(ops.unsqueeze(values_of(input), axis), form._replace(dim=form.dim + (axis < form.dim)))


@rule("squeeze")
def squeeze(input, dim=None):
    """Take a dim away if its size is 1."""
    if dim is None or isinstance(dim, (tuple, list)):
        raise NotImplementedError(f"squeeze: got dim {dim} for a jagged tensor, expected one dim")
    form, axis = form_of(input), inner_axis("squeeze", input, dim)
    gone = values_of(input).shape[axis] == 1 and axis < form.dim - 1
    return make(ops.squeeze(values_of(input), axis), form._replace(dim=form.dim - gone))


@rule("unflatten")
def unflatten(input, dim, sizes):
    """Part a dim into several."""
    form, axis = form_of(input), inner_axis("unflatten", input, dim)
    made = ops.unflatten(values_of(input), axis, tuple(sizes))
    return make(made, form._replace(dim=form.dim + (len(sizes) - 1 if axis < form.dim - 1 else 0)))


@rule("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    """Join dims behind or before the ragged one."""
    form = form_of(input)
    start, end = (inner_axis("flatten", input, dim) for dim in (start_dim, end_dim))
    if start == end:
        return input
    if start > end:
        raise RuntimeError(f"flatten: got dims {start_dim} to {end_dim}, expected the first before the last")
    if start < form.dim - 1 < end:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim: got dims on either side of it")
    return make(ops.flatten(values_of(input), start, end),
                form._replace(dim=form.dim - (end - start if end < form.dim - 1 else 0)))


@rule("expand")
def expand(self, *size):
    """Repeat what is of size 1 behind the batch and ragged dims."""
    sizes, form = given_sizes(size), form_of(self)
    if len(sizes) != self.ndim or not matches(self, sizes):
        raise RuntimeError(f"expand(): cannot expand shape {shape_of(self)} -> {sizes}")
    inner = [-1 if axis == form.dim else sizes[axis] for axis in builtins.range(1, self.ndim)]
    return make(ops.expand(values_of(self), tuple(inner)), form)


@rule("broadcast_to")
def broadcast_to(input, size):
    """Repeat what is of size 1 behind the batch and ragged dims."""
    if len(size) > input.ndim:
        raise ValueError(f"broadcast_to: got {len(size)} sizes, expected at most {input.ndim}: broadcast_to(): "
                         "broadcasting to a higher-dim shape is currently not supported for nested tensors with the "
                         "jagged layout")
    return expand(input, *(1,) * (input.ndim - len(size)), *size)


@rule("expand_as")
def expand_as(self, other):
    """Return the tensor in the shape of another one, of which one is jagged."""
    if is_jagged(self):
        return expand(self, *(shape_of(other) if is_jagged(other) else other.shape))
    return make(ops.expand(self, values_of(other).shape), form_of(other))
