"""Parts of jagged tensors, and several of them side by side."""
import builtins

from dragon.vm.torch.core.nested.making import offsets_of
from dragon.vm.torch.core.nested.parts import (form_of, is_jagged, lengths_of, make, new_form, rule, same_form,
                                               shape_of, values_of)
from dragon.vm.torch.core.nested.properties import axis_of, unbind
from dragon.vm.torch.core.nested.shapes import expand_as, inner_axis, unsqueeze
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops


def _parted(who):
    def part(*args, **kwargs):
        x, given, dim = _read(*args, **kwargs)
        axis = inner_axis(who, x, dim)
        made = FUNCTIONS[who](values_of(x), given, axis)
        return tuple(make(one, form_of(x)) for one in made)

    def _read(tensor, split_size_or_sections, dim=0):
        return tensor, split_size_or_sections, dim
    return part


rule("split", "split_with_sizes")(_parted("split"))


@rule("chunk")
def chunk(input, chunks, dim=0):
    """Return so many parts along a dim; along the batch's, samples are parted."""
    form, held = form_of(input), values_of(input)
    if axis_of("chunk", input.ndim, dim):
        axis = inner_axis("chunk", input, dim)
        return tuple(make(one, form) for one in ops.chunk(held, chunks, axis))
    if form.lengths is not None:
        raise ValueError("chunk(): expected self to be a contiguous jagged layout NestedTensor: got lengths beside "
                         "offsets, expected .contiguous() first")
    found, start = [], int(form.offsets[0])
    for lengths in ops.chunk(lengths_of(form), chunks, 0):
        count = int(ops.sum(lengths))
        found.append(make(ops.narrow(held, form.dim - 1, start, count), new_form(offsets_of(lengths), None, form.dim)))
        start += count
    return tuple(found)


@rule("narrow")
def narrow(input, dim, start, length):
    """Return a range of a dim."""
    axis = inner_axis("narrow", input, dim)
    return make(ops.narrow(values_of(input), axis, start, length), form_of(input))


@rule("select")
def select(input, dim, index):
    """Return one sample, or what is at one place of another dim."""
    form = form_of(input)
    if axis_of("select", input.ndim, dim) == 0:
        count = form.offsets.shape[0] - 1
        if not -count <= index < count:
            raise IndexError(f"select: got index {index}, expected {-count} to {count - 1}: index {index} is out of "
                             f"bounds for dimension 0 with size {count}")
        return unbind(input)[index]
    axis = inner_axis("select", input, dim)
    if form.lengths is not None:
        raise ValueError("select(): not yet supported on dim != 0 for non-contiguous nested tensor with holes: got "
                         "lengths beside offsets")
    return make(ops.select(values_of(input), axis, index), form._replace(dim=form.dim - (axis < form.dim - 1)))


@rule("__getitem__")
def get_item(self, key):
    """Return a part: integers, slices and None behind the ragged dim, a sample by its number."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(one is Ellipsis for one in keys):
        place = next(place for place, one in enumerate(keys) if one is Ellipsis)
        given = builtins.sum(1 for one in keys if one is not None and one is not Ellipsis)
        whole = self.ndim - given
        # Dims that `...` stands for are as they are, the batch's and the ragged one too.
        keys[place:place + 1] = [Ellipsis] * whole
    found, axis = self, 0
    for place, one in enumerate(keys):
        if isinstance(one, (Tensor, list, bool)):
            raise NotImplementedError(f"__getitem__: got a {type(one).__name__} for a jagged tensor, expected integers "
                                      "and slices")
        if one is None:
            found, axis = unsqueeze(found, axis), axis + 1
        elif isinstance(one, slice):
            found = slice_of(found, axis, one)
            axis += 1
        elif one is Ellipsis:
            axis += 1
        elif not hasattr(one, "__index__"):
            raise IndexError(f"__getitem__: got {type(one).__name__}, expected only integers, slices (`:`), ellipsis "
                             "(`...`) and None")
        else:
            found = select(found, axis, one.__index__())
            if not is_jagged(found):  # a sample, of which dims that `...` stands for are whole slices
                rest = tuple(slice(None) if other is Ellipsis else other for other in keys[place + 1:])
                return found[rest] if rest else found
    return found


def slice_of(x, dim, given):
    """Return a slice of a dim."""
    axis = inner_axis("slice", x, dim)
    keys = [slice(None)] * axis + [given]
    return make(values_of(x)[tuple(keys)], form_of(x))


@rule("masked_select")
def masked_select(input, mask, *, out=None):
    """Return the elements that a jagged mask holds, sample by sample."""
    form = form_of(input)
    if out is not None or input.ndim > 2:
        raise RuntimeError(f"masked_select: got {input.ndim} dims{'' if out is None else ' and out='}, expected 2: "
                           "masked_select only support 2-D selections currently")
    if not is_jagged(mask) or not same_form(input, mask):
        raise RuntimeError(f"Mask with shape {mask.shape} is not compatible with input's shape {input.shape}")
    counted = offsets_of(values_of(mask).long())
    return make(ops.masked_select(values_of(input), values_of(mask)),
                new_form(ops.index_select(counted, 0, form.offsets)))


def _listed(who, tensors):
    tensors = list(tensors)
    first = next(one for one in tensors if is_jagged(one))
    return tensors, first


@rule("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, out=None):
    """Return tensors side by side along a dim behind the ragged one; strided ones are expanded."""
    tensors, first = _listed("cat", tensors)
    tensors = [one if is_jagged(one) else expand_as(one, first) for one in tensors]
    axis = inner_axis("cat", first, dim)
    require_alike("cat", tensors)
    if out is not None:
        raise NotImplementedError("cat: got out= beside nested tensors, expected none")
    return make(ops.cat([values_of(one) for one in tensors], axis), form_of(first))


@rule("stack")
def stack(tensors, dim=0, *, out=None):
    """Return jagged tensors of one form side by side along a new dim."""
    tensors, first = _listed("stack", tensors)
    if out is not None:
        raise NotImplementedError("stack: got out= beside nested tensors, expected none")
    if not all(map(is_jagged, tensors)):
        raise RuntimeError("stack(): expected all nested tensors inputs: got a strided one among them")
    require_alike("stack", tensors)
    axis = inner_axis("stack", first, dim, first.ndim + 1)
    form = form_of(first)
    return make(ops.stack([values_of(one) for one in tensors], axis), form._replace(dim=form.dim + (axis < form.dim)))


def require_alike(who, tensors):
    """Raise unless jagged tensors have samples of the same lengths by the same offsets."""
    first = tensors[0]
    for one in tensors[1:]:
        if one.ndim != first.ndim or not same_form(first, one):
            raise RuntimeError(f"{who}(): expected all nested tensors to have the same nested structure: got shapes "
                               f"{shape_of(first)} and {shape_of(one)}")
