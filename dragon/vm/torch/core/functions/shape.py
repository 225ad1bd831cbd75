"""Views, splits and joins as PyTorch words them: variadic arguments, sizes or places, properties and in-place twins."""
import itertools
import math

from dragon import _C
from dragon.core import modes, warnings
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import tensor as tensor_of
from dragon.vm.torch.core.functions.destination import deliver
from dragon.vm.torch.core.register import FUNCTIONS, both, function, method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.core.triangles import MOST_PLACES

MOST_AT_ONCE = 64  # elements of a combination whose places are written down as numbers


@function
def split(tensor, split_size_or_sections, dim=0):
    """Return views of an axis: of one size, or of the sizes listed."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return ops.split_with_sizes(tensor, split_size_or_sections, dim)
    return ops.split(tensor, split_size_or_sections, dim)


@method
def split(self, split_size, dim=0):  # noqa: F811 (the method's argument has its own name)
    """Return views of an axis: of one size, or of the sizes listed."""
    if isinstance(split_size, (list, tuple)):
        return ops.split_with_sizes(self, split_size, dim)
    return ops.split(self, split_size, dim)


def _places(value):
    """Return a number of sections as it is, and a sequence or tensor of places as a list."""
    if isinstance(value, Tensor):
        return value.tolist() if value.ndim else value.item()
    return value


def _only(who, *given):
    """Return the one of several ways to say where to cut that was taken."""
    given = [value for value in given if value is not None]
    if len(given) != 1:
        raise TypeError(f"{who}: got {len(given)} of indices_or_sections, sections and indices, expected one of them")
    return given[0]


@both
def tensor_split(input, indices_or_sections=None, dim=0, *, sections=None, indices=None):
    """Return views of an axis: a number of nearly equal ones, or cut at the places listed."""
    where = _places(_only("tensor_split", indices_or_sections, sections, indices))
    if isinstance(where, (list, tuple)):
        return ops.tensor_split_at(input, where, dim)
    return ops.tensor_split(input, where, dim)


def _cutter(name):
    by_count, by_places = getattr(ops, name), getattr(ops, name + "_at")

    def cut(input, indices_or_sections=None, *, sections=None, indices=None):
        where = _only(name, indices_or_sections, sections, indices)
        return (by_places if isinstance(where, (list, tuple)) else by_count)(input, where)
    both(named(cut, name, f"Return views of the axis that `{name}` cuts: equal ones, or cut at the places listed."))


for _name in ("hsplit", "vsplit", "dsplit"):
    _cutter(_name)


def tensors_of(arguments):
    """Return the tensors of a variadic call, which may have come as one sequence."""
    if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
        return tuple(arguments[0])
    return arguments


def _at_least(name):
    operator = getattr(ops, name)

    def at_least(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return operator(tensors[0])
        return tuple(operator(tensor) for tensor in tensors_of(tensors))
    function(named(at_least, name, f"Return tensors with as many axes as `{name}` says, at least."))


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _at_least(_name)


@function
def broadcast_shapes(*shapes):
    """Return the shape that shapes broadcast to."""
    shapes = [(shape,) if hasattr(shape, "__index__") else tuple(shape) for shape in shapes]
    result = [1] * max(map(len, shapes), default=0)
    for index, shape in enumerate(shapes):
        for axis, size in enumerate(shape, len(result) - len(shape)):
            if size < 0:
                raise RuntimeError(f"broadcast_shapes: got size {size}, expected none below 0")
            if size != 1 and size != result[axis]:
                if result[axis] != 1:
                    raise RuntimeError(
                        f"broadcast_shapes: Attempting to broadcast a dimension of length {size} at "
                        f"{axis - len(result)}! Mismatching argument at index {index} had {shape}; but expected shape "
                        f"should be broadcastable to {result}. The size of tensor a ({result[axis]}) must match the "
                        f"size of tensor b ({size}) at non-singleton dimension {axis}")
                result[axis] = size
    return Size(result)


@function
def broadcast_tensors(*tensors):
    """Return tensors expanded to one shape."""
    tensors = tensors_of(tensors)
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(ops.expand(tensor, shape) for tensor in tensors)


@both
def adjoint(input):
    """Return the conjugate with the last two axes exchanged; of a number, its conjugate."""
    return ops.adjoint(input) if input.ndim else ops.conj(input)


@function
def meshgrid(*tensors, indexing=None):
    """Return the coordinates of a grid, one tensor for each axis."""
    if indexing is None:
        warnings.warn("meshgrid: got no indexing; 'ij' is taken, PyTorch will require to be told", UserWarning)
    tensors = tensors_of(tensors)
    if not len(tensors):
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    return ops.meshgrid(tensors, indexing or "ij")


def _variadic(name, guest=None):
    operator = getattr(ops, name)

    def join(*tensors):
        return operator(tensors_of(tensors))
    function(named(join, guest or name, f"Return what the operator `{name}` makes of tensors."))


_variadic("block_diag")
_variadic("cartesian_prod")


@function
def combinations(input, r=2, with_replacement=False):
    """Return the combinations of `r` elements of a 1-d tensor, as rows."""
    if modes.is_written_down() and input.dim() == 1 and 0 < r <= MOST_AT_ONCE and type(input.size(0)) is int and (
            math.comb(input.size(0) + (r - 1) * with_replacement, r) * r <= MOST_PLACES):
        choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
        places = tensor_of(list(choose(range(input.size(0)), r)), dtype=OBJECTS["int64"], device=input.device)
        return ops.index(input, [places.reshape(-1, r)])
    return ops.combinations(input, r, with_replacement)


@method
def sum_to_size(self, *size):
    """Return the sum over those axes along which this tensor was broadcast from `size`."""
    size = tuple(size[0]) if len(size) == 1 and not hasattr(size[0], "__index__") else size
    if not size:
        return ops.sum(self)
    lead = self.ndim - len(size)
    if lead < 0 or any(want not in (1, have) for want, have in zip(size, self.shape[lead:])):
        raise RuntimeError(f"sum_to_size: got size {tuple(size)} for shape {tuple(self.shape)}, expected one that "
                           "broadcasts to it")
    axes = [axis for axis, have in enumerate(self.shape)
            if axis < lead or (size[axis - lead] == 1 and have != 1)]
    return ops.reshape(ops.sum(self, axes, True), size) if axes else ops.view(self, self.shape)


def _matrix_axes(who, x):
    if x.ndim < 2:
        raise RuntimeError(f"tensor.{who}: got {x.ndim} dims, expected matrices or batches of them")
    return ops.transpose(x, -2, -1)


def numpy_transpose(self):
    """The tensor with its axes reversed."""
    if self.ndim not in (0, 2):
        warnings.warn(f"tensor.T: got {self.ndim} dims, expected 2; use x.mT for batches of matrices or "
                      "x.permute(...)", UserWarning)
    return ops.numpy_t(self)


def matrix_adjoint(self):
    """The conjugate transpose of a matrix."""
    if self.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H: got {self.ndim} dims, expected a matrix; use x.mH for batches of matrices")
    return ops.adjoint(self) if self.ndim else ops.conj(self)


Tensor.T = property(numpy_transpose)
Tensor.H = property(matrix_adjoint)
Tensor.mT = property(lambda self: _matrix_axes("mT", self), doc="The tensor with its last two axes swapped.")
Tensor.mH = property(lambda self: ops.conj(_matrix_axes("mH", self)), doc="The adjoint of each matrix.")


# Geometry changed in place.

def become(self, view):
    """Give a tensor another's place in memory, and where recorded its history; return it."""
    _C.become(self, view)
    return self


def _changer(name):
    operator = getattr(ops, name)

    def change(self, *args, **kwargs):
        return become(self, operator(self, *args, **kwargs))
    return method(named(change, name + "_", f"Change the tensor's own shape and strides as `{name}` does."))


for _name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"):
    _changer(_name)


@function
def as_strided_(input, size, stride, storage_offset=None):
    """Change the tensor's own shape and strides."""
    return become(input, ops.as_strided(input, size, stride, storage_offset))


@method
def resize_(self, *sizes, memory_format=None):
    """Give the tensor another shape over its memory, more of it where needed; new elements have no set value."""
    size = tuple(sizes[0]) if len(sizes) == 1 and not hasattr(sizes[0], "__index__") else sizes
    if tuple(self.shape) == tuple(size):
        return self
    if self.requires_grad:
        raise RuntimeError("resize_: got a tensor that requires grad, expected one without")
    _C.Tensor.resize(self, size)
    if memory_format is not None:
        from dragon.vm.torch.core.functions.conversion import order_in_memory
        self.data = order_in_memory(self.detach(), memory_format)
    return self


@both
def resize_as_(input, the_template, *, memory_format=None):
    """Give the tensor another one's shape."""
    return resize_(input, the_template.shape, memory_format=memory_format)


@method
def resize(self, *sizes):
    """Return a view of as many elements in another shape; deprecated in favour of reshape."""
    warnings.warn("resize: non-inplace resize is deprecated; use reshape or resize_", UserWarning)
    return ops.reshape(self, *sizes)


@method
def resize_as(self, tensor):
    """Return a view in another one's shape; deprecated in favour of reshape."""
    return resize(self, *tensor.shape)


# Copies instead of views.

def _copied(view):
    """Return a view's elements in memory of their own, in row-major order."""
    return ops.clone(view) if view.is_contiguous() else ops.contiguous(view)


def _copying(name, view):
    def copy(input, *args, out=None, **kwargs):
        made = view(input, *args, **kwargs)
        made = tuple(map(_copied, made)) if isinstance(made, (list, tuple)) else _copied(made)
        return deliver(made, out)
    return function(named(copy, name, f"Return as new memory what `{name[:-5]}` returns as a view."))


def _alias(input):
    return ops.view(input, input.shape)


def _register_copies():
    for name in ("as_strided", "diagonal", "expand", "narrow", "permute", "select", "split_with_sizes", "squeeze",
                 "t", "transpose", "unbind", "unfold", "unsqueeze", "view_as_complex", "view_as_real"):
        _copying(name + "_copy", getattr(ops, name))
    for name, view in (("alias", _alias), ("detach", Tensor.detach), ("split", Tensor.split), ("slice", ops.slice)):
        _copying(name + "_copy", view)
    _copying("view_copy", lambda input, size=None, dtype=None: Tensor.view(input, size if dtype is None else dtype))
    Tensor.narrow_copy = FUNCTIONS["narrow_copy"]


_register_copies()


@function
def unsafe_chunk(input, chunks, dim=0):
    """Return `chunk`; here its results may be written to anyway."""
    return ops.chunk(input, chunks, dim)


@function
def unsafe_split(tensor, split_size, dim=0):
    """Return `split`; here its results may be written to anyway."""
    return ops.split(tensor, split_size, dim)


@function
def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """Return `split_with_sizes`; here its results may be written to anyway."""
    return ops.split_with_sizes(input, split_sizes, dim)


for _name, _made in (("unsafe_chunk", unsafe_chunk), ("unsafe_split", unsafe_split),
                     ("unsafe_split_with_sizes", unsafe_split_with_sizes)):
    setattr(Tensor, _name, _made)


@function
def _chunk_cat(tensors, dim, num_chunks, *, out=None):
    """Return tensors padded along an axis to a multiple of `num_chunks`, in chunks, side by side."""
    rows, dim = [], dim % tensors[0].ndim
    for tensor in tensors:
        size = -(-tensor.shape[dim] // num_chunks) * num_chunks
        pads = [0] * (2 * (tensor.ndim - dim))
        pads[-1] = size - tensor.shape[dim]
        padded = ops.pad(tensor, pads) if pads[-1] else tensor
        rows.append(ops.reshape(padded, (*tensor.shape[:dim], num_chunks, -1)))
    return ops.cat(rows, dim + 1, out=out)
