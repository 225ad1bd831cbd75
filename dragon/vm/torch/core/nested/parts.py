"""The two classes of nested tensors, and the tables of what is computed of them.

A jagged tensor is offsets, perhaps lengths, and values in which all samples lie one after the other along the ragged
dim. One of layout `torch.strided` is a table of its samples' shapes, and one long vector of their numbers.
"""
from collections import namedtuple

from dragon.core import parts
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.kinds import COMMON, KINDS, TensorOfParts, look, parts_of, rules_into, values_of
from dragon.vm.torch.core.nested.ragged_size import NestedInt, size_of
from dragon.vm.torch.core.tensor import ops

# `dim` is which dim of the whole is ragged; `extent` is what is known of the shortest and longest sample.
Form = namedtuple("Form", "offsets lengths dim size extent")


class NestedTensor(TensorOfParts):
    """A batch of tensors that differ in the size of one dim, in the layout `torch.jagged`."""

    RULES, ENGINE_RULES = {}, {}
    SPOKEN = "a nested tensor of layout torch.jagged"
    ELEMENTWISE = {}

    @classmethod
    def _refusal(cls, name, *arguments):
        return NotImplementedError(f"{name}: got {cls.SPOKEN}, expected strided tensors: .unbind() gives the samples, "
                                   ".to_padded_tensor(0.0) one tensor of all")

    def _aligned(self, given):
        if not isinstance(given, type(self)):
            raise RuntimeError(f"grad: got a tensor of layout {given.layout}, expected a nested one of {self.layout}")
        if tuple(values_of(given).shape) != tuple(values_of(self).shape):
            raise RuntimeError(f"grad: got values of shape {tuple(values_of(given).shape)}, expected "
                               f"{tuple(values_of(self).shape)}: Mismatch in shape")
        return values_of(given)


class StridedNested(NestedTensor):
    """A batch of tensors of as many dims, whose sizes may differ, in the layout `torch.strided`."""

    RULES, ENGINE_RULES = {}, {}
    SPOKEN = "a nested tensor of layout torch.strided"
    ELEMENTWISE = {}

    def _told_shape(self):
        return sizes_of(self)


StridedNested.__name__ = StridedNested.__qualname__ = "Tensor"
StridedNested.__module__ = "torch"
NestedTensor.__module__ = __name__.replace("core.nested.parts", "nested._internal.nested_tensor")
for _kind in (NestedTensor, StridedNested):
    _kind.RULES.update(COMMON)
KINDS.update(jagged=NestedTensor, nested=StridedNested)
rule, strided_rule = rules_into(NestedTensor.RULES), rules_into(StridedNested.RULES)


def is_jagged(x):
    """Return whether an object is a nested tensor of layout `torch.jagged`."""
    return isinstance(x, NestedTensor) and not isinstance(x, StridedNested)


def is_nested(x):
    """Return whether an object is a nested tensor, of either layout."""
    return isinstance(x, NestedTensor)


def make(values, form):
    """Return a jagged tensor of values and a form, which are not looked at."""
    held = (form.offsets, values) if form.lengths is None else (form.offsets, form.lengths, values)
    made = parts.make_of_parts(f"jagged {form.dim} {form.size.number}", held,
                               (form.offsets.shape[0] - 1, *values.shape))
    made.__class__ = NestedTensor
    made.__dict__["_form"] = form
    return made


def form_of(x):
    """Return what a jagged tensor is beside its values."""
    found = x.__dict__.get("_form")
    if found is None:  # the engine showed the tensor anew
        layout, (offsets, *lengths, _), _ = look(x)
        _, dim, number = layout.split()
        source = lengths[0] if lengths else offsets
        size_of(source, NestedInt(int(number)))
        found = new_form(offsets, lengths[0] if lengths else None, int(dim))
        x.__dict__["_form"] = found
    return found


def new_form(offsets, lengths=None, dim=1, shortest=None, longest=None):
    """Return the form that offsets and lengths tell."""
    known = {name: int(value) for name, value in (("min_seqlen", shortest), ("max_seqlen", longest))
             if value is not None}
    return Form(offsets, lengths, dim, size_of(offsets if lengths is None else lengths), known)


def lengths_of(form):
    """Return how long each sample is, as a tensor."""
    if form.lengths is not None:
        return form.lengths
    return ops.sub(form.offsets[1:], form.offsets[:-1])


def shortest(form):
    """Return the length of the shortest sample, which is looked for once."""
    return _extreme(form, "min_seqlen", ops.amin)


def longest(form):
    """Return the length of the longest sample, which is looked for once."""
    return _extreme(form, "max_seqlen", ops.amax)


def _extreme(form, name, find):
    if name not in form.extent:
        lengths = lengths_of(form)
        form.extent[name] = int(find(lengths, 0)) if lengths.shape[0] else 0
    return form.extent[name]


def shape_of(x):
    """Return the sizes of a jagged tensor: the ragged one is a nested int."""
    form, inner = form_of(x), values_of(x).shape
    return (form.offsets.shape[0] - 1, *inner[:form.dim - 1], form.size, *inner[form.dim:])


def same_form(a, b):
    """Return whether the samples of two jagged tensors are as long, by the same offsets, along the same dim."""
    one, two = form_of(a), form_of(b)
    return one.dim == two.dim and shape_of(a)[:one.dim + 1] == shape_of(b)[:one.dim + 1]


def make_strided(sizes, numbers):
    """Return a nested tensor of layout `torch.strided` of a table of shapes and a vector of numbers."""
    bounds = ops.amax(sizes, 0).tolist() if sizes.shape[0] and sizes.shape[1] else [0] * sizes.shape[1]
    made = parts.make_of_parts("nested", (sizes, numbers), (sizes.shape[0], *bounds))
    made.__class__ = StridedNested
    return made


def sizes_of(x):
    """Return the shapes of the samples of a nested tensor of layout `torch.strided`."""
    return [tuple(row) for row in parts_of(x)[0].tolist()]


def layout_of(x):
    """Return the layout of a nested tensor."""
    return layouts.jagged if is_jagged(x) else layouts.strided
