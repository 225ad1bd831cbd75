"""What nested tensors say of themselves: sizes, parts, and whether they are alike."""
from dragon.vm.torch.core.gradients import backward
from dragon.vm.torch.core.nested.parts import (NestedTensor, StridedNested, form_of, is_jagged, is_nested, layout_of,
                                               lengths_of, longest, parts_of, rule, same_form, shape_of, shortest,
                                               sizes_of, strided_rule, values_of)
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import _numel, ops

STANDING = "Internal error: NestedTensorImpl doesn't support"


def axis_of(who, rank, dim):
    """Return an axis from 0."""
    if not -rank <= dim < rank:
        raise IndexError(f"{who}: Dimension out of range: got dim {dim}, expected {-rank} to {rank - 1}")
    return dim % rank


def size(self, dim=None):
    """Return all sizes, or one of them; the ragged one is a nested int."""
    found = shape_of(self)
    return Size(found) if dim is None else found[axis_of("size", len(found), dim)]


def strided_size(self, dim=None):
    """Return the size of one dim, along which all samples are as long."""
    if dim is None:
        raise RuntimeError(f"size: got a nested tensor of layout torch.strided, expected a dim: {STANDING} sizes. "
                           ".size(dim) and .unbind() tell those of samples")
    axis = axis_of("size", self.ndim, dim)
    if axis == 0:
        return parts_of(self)[0].shape[0]
    found = {shape[axis - 1] for shape in sizes_of(self)}
    if len(found) != 1:
        raise RuntimeError(f"size: Given dimension {axis} is irregular and does not have a size: got sizes "
                           f"{', '.join(map(str, sorted(found))) or 'of no samples'}, expected one")
    return found.pop()


NestedTensor.size, StridedNested.size = size, strided_size
NestedTensor.shape = property(size, doc="All sizes; the ragged one is a nested int.")
StridedNested.shape = property(strided_size, doc="Refused: samples have shapes of their own.")
NestedTensor.layout = property(layout_of, doc="How the tensor is held.")
NestedTensor.is_nested = property(is_nested, doc="Whether the tensor is nested: True.")
NestedTensor.nbytes = property(lambda self: numel(self) * self.itemsize, doc="The bytes of all samples.")
NestedTensor._values = property(values_of, doc="The values as they are held.")
NestedTensor._offsets = property(lambda self: form_of(self).offsets, doc="Where samples begin.")
NestedTensor._lengths = property(lambda self: form_of(self).lengths, doc="How long samples are, if that was told.")
NestedTensor._ragged_idx = property(lambda self: form_of(self).dim, doc="Which dim is ragged.")


def _get_max_seqlen(self):
    """Return the length of the longest sample."""
    return longest(form_of(self))


def _get_min_seqlen(self):
    """Return the length of the shortest sample."""
    return shortest(form_of(self))


NestedTensor._get_max_seqlen, NestedTensor._get_min_seqlen = _get_max_seqlen, _get_min_seqlen
NestedTensor._max_seqlen = property(_get_max_seqlen, doc="The length of the longest sample.")
NestedTensor._min_seqlen = property(_get_min_seqlen, doc="The length of the shortest sample.")


def _no_attribute(name):
    def refuse(self):
        raise AttributeError(f"'Tensor' object has no attribute '{name}': got a nested tensor of layout torch.strided, "
                             "expected torch.jagged")
    return property(refuse, doc="Refused: only jagged tensors have it.")


for _name in ("offsets", "lengths", "_offsets", "_lengths", "_ragged_idx"):
    setattr(StridedNested, _name, _no_attribute(_name))


def values(self):
    """Return the numbers of all samples, with their history."""
    held = values_of(self)
    return ops.view(held, held.shape) if held.requires_grad else held


def offsets(self):
    """Return where each sample begins, and where the last one ends."""
    return form_of(self).offsets


def lengths(self):
    """Return how long each sample is if that was told beside the offsets, else None."""
    return form_of(self).lengths


NestedTensor.offsets, NestedTensor.lengths = offsets, lengths
rule("values", "_nested_get_values")(strided_rule("values")(values))


@strided_rule("numel", "nelement")
@rule("numel", "nelement")
def numel(self):
    """Return the number of elements of all samples."""
    if not is_jagged(self) or form_of(self).lengths is None:
        return _numel(values_of(self))
    form, inner = form_of(self), values_of(self)
    rows = inner.shape[form.dim - 1]
    return int(ops.sum(lengths_of(form))) * (_numel(inner) // rows if rows else 0)


@rule("stride")
def stride(self, dim=None):
    """Return the strides: that of the batch is so many times the ragged size."""
    form, inner = form_of(self), values_of(self).stride()
    found = (form.size * inner[form.dim - 1], *inner)
    return found if dim is None else found[axis_of("stride", len(found), dim)]


@rule("is_contiguous")
def is_contiguous(self, memory_format=None):
    """Return whether the values are contiguous, and no holes are between samples."""
    return form_of(self).lengths is None and values_of(self).is_contiguous()


@strided_rule("stride", "numpy", "__array__")
def strides(self, *args, **kwargs):
    """Refuse: there are no sizes and strides of the whole."""
    raise RuntimeError(f"stride: got a nested tensor of layout torch.strided, expected a strided one: {STANDING} "
                       "strides. .unbind() gives the samples")


StridedNested.__len__ = StridedNested.tolist = strides
NestedTensor.__len__ = lambda self: form_of(self).offsets.shape[0] - 1
NestedTensor.__iter__ = lambda self: iter(self.unbind())
StridedNested.__iter__ = lambda self: strided_size(self)


@rule("numpy", "__array__")
def numpy(self, *args, **kwargs):
    """Refuse: NumPy has no nested arrays."""
    raise RuntimeError("numpy: got a tensor of layout torch.jagged, expected a strided one: .numpy() is not supported "
                       "for tensor subclasses. .unbind() gives the samples")


NestedTensor.tolist = numpy


def item(self):
    """Return the number of a tensor of one element."""
    if numel(self) != 1:
        raise RuntimeError(f"item: a Tensor with {numel(self)} elements cannot be converted to Scalar; expected one "
                           "element")
    return values_of(self).item()


def truth(self):
    """Return whether the only element is not zero."""
    if numel(self) != 1:
        raise RuntimeError(f"bool: got {numel(self)} elements, expected one: Boolean value of Tensor with more than "
                           "one value is ambiguous")
    return bool(values_of(self).item())


NestedTensor.__bool__, NestedTensor.item = truth, item
NestedTensor.__int__ = lambda self: int(item(self))
NestedTensor.__float__ = lambda self: float(item(self))
NestedTensor.__complex__ = lambda self: complex(item(self))


@strided_rule("backward")
@rule("backward")
def run_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add gradients into the `grad` of the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@strided_rule("is_same_size")
@rule("is_same_size")
def is_same_size(self, other):
    """Return whether two nested tensors have samples of the same shapes."""
    if type(self) is not type(other):
        raise RuntimeError(f"is_same_size: got layouts {self.layout!r} and {getattr(other, 'layout', None)!r}, "
                           "expected nested tensors of one layout: Expected both self and other to be nested tensors")
    if is_jagged(self):
        return same_form(self, other) and shape_of(self) == shape_of(other)
    return sizes_of(self) == sizes_of(other)


@rule("unbind")
def unbind(input, dim=0):
    """Return the samples."""
    if dim != 0:
        raise RuntimeError(f"unbind(): only supported for NestedTensor on dim=0: got dim {dim}")
    form, held = form_of(input), values(input)
    counts, axis = lengths_of(form).tolist(), form.dim - 1
    begins = form.offsets.tolist()
    return tuple(ops.narrow(held, axis, begin, count) for begin, count in zip(begins, counts))


@strided_rule("unbind")
def samples_of(input, dim=0):
    """Return the samples."""
    if dim != 0:
        raise RuntimeError(f"unbind: got dim {dim}, expected 0: NestedTensor can only be unbound along dimension 0 got "
                           f"dimension {dim} instead.")
    held, start, found = values(input), 0, []
    for shape in sizes_of(input):
        count = 1
        for one in shape:
            count *= one
        found.append(ops.view(ops.narrow(held, 0, start, count), shape))
        start += count
    return tuple(found)


def _plain(name, answer, sentence):
    for register in (rule, strided_rule):
        register(name)(named(answer, name, sentence))


for _name, _answer, _sentence in (
        ("dim", lambda self: self.ndim, "Return the number of dims, that of samples and one."),
        ("ndimension", lambda self: self.ndim, "Return the number of dims, that of samples and one."),
        ("element_size", lambda self: self.itemsize, "Return the bytes of an element."),
        ("storage_offset", lambda self: 0, "Return 0: the parts have memories of their own."),
        ("_is_view", lambda self: False, "Return False: nested tensors share no memory as a whole."),
        ("resolve_conj", lambda input: input, "Return the tensor: conjugates are computed at once."),
        ("resolve_neg", lambda input: input, "Return the tensor: negatives are computed at once.")):
    _plain(_name, _answer, _sentence)
strided_rule("is_contiguous")(named(lambda self, memory_format=None: True, "is_contiguous",
                                    "Return True: samples lie one after the other."))
