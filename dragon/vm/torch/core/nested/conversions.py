"""Nested tensors in other dtypes and on other devices, copied, written into."""
from dragon import _C
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.conversion import parse_to
from dragon.vm.torch.core.kinds import take_form
from dragon.vm.torch.core.nested.making import jagged_of
from dragon.vm.torch.core.nested.parts import (NestedTensor, StridedNested, form_of, is_jagged, is_nested, layout_of,
                                               make, make_strided, new_form, parts_of, rule, same_form, sizes_of,
                                               strided_rule, values_of)
from dragon.vm.torch.core.nested.properties import samples_of, unbind
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops


def both(*names):
    """Register how functions are computed of nested tensors of either layout."""
    def register(compute):
        rule(*names or (compute.__name__,))(compute)
        return strided_rule(*names or (compute.__name__,))(compute)
    return register


def with_numbers(x, numbers):
    """Return a nested tensor of the samples' shapes with other numbers."""
    return make(numbers, form_of(x)) if is_jagged(x) else make_strided(parts_of(x)[0], numbers)


@both("to")
def to(self, *args, **kwargs):
    """Return the tensor in another dtype or on another device; itself if nothing changes."""
    layout = kwargs.pop("layout", None)
    where, dtype, copy, memory_format = parse_to(args, dict(kwargs))
    if layout not in (None, layout_of(self)):
        raise RuntimeError(f"to: got layout={layout!r} for a nested tensor of layout {layout_of(self)!r}, expected the "
                           "same: .unbind() gives the samples, of which torch.nested makes either")
    held = values_of(self)
    moved = held if where is None and dtype is None else held.to(
        held.device if where is None else where, held.dtype if dtype is None else dtype)
    if moved is held:
        return clone(self) if copy else self
    if moved.device == held.device or not is_jagged(self):
        return with_numbers(self, moved)
    form = form_of(self)
    lengths = None if form.lengths is None else form.lengths.to(where)
    told = new_form(form.offsets.to(where), lengths, form.dim)
    return make(moved, told._replace(extent=dict(form.extent)))


@both("cpu")
def cpu(self, memory_format=None):
    """Return the tensor on the CPU; itself if it is there."""
    return to(self, "cpu")


@both("cuda")
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Return the tensor on a CUDA device."""
    return to(self, "cuda" if device is None else device)


@both("type_as")
def type_as(self, other):
    """Return the tensor with another one's dtype and device."""
    return to(self, other.device, other.dtype)


def _caster(name, dtype):
    both(name)(named(lambda self, memory_format=None: to(self, dtype), name,
                     f"Return the tensor as `{dtype}`; itself if it is."))


for _name, _dtype in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"),
                      ("int", "int32"), ("long", "int64"), ("short", "int16"), ("cfloat", "complex64"),
                      ("cdouble", "complex128"), ("bool", "bool"), ("byte", "uint8"), ("char", "int8")):
    _caster(_name, OBJECTS[_dtype])


@both("clone")
def clone(input, *, memory_format=None):
    """Return a copy, on the tape; without holes if a contiguous one is asked for."""
    if is_jagged(input) and form_of(input).lengths is not None and memory_format is layouts.contiguous_format:
        if form_of(input).dim != 1:
            raise NotImplementedError("clone: got a tensor with holes whose ragged dim is "
                                      f"{form_of(input).dim}, expected 1")
        return jagged_of("clone", list(unbind(input)))
    return with_numbers(input, ops.clone(values_of(input)))


@both("contiguous")
def contiguous(self, memory_format=None):
    """Return the tensor with contiguous values and without holes; itself if it is so."""
    if is_jagged(self) and form_of(self).lengths is not None:
        return clone(self, memory_format=layouts.contiguous_format)
    held = ops.contiguous(values_of(self))
    return self if held is values_of(self) or values_of(self).is_contiguous() else with_numbers(self, held)


@both("copy_")
def copy_(self, src, non_blocking=False):
    """Write the numbers of a nested tensor of the same form into this one."""
    if not is_nested(src) or type(src) is not type(self):
        raise RuntimeError(f"copy_: got a tensor of layout {getattr(src, 'layout', None)!r}, expected a nested one of "
                           f"{layout_of(self)!r}: copy_ only supports tensors that are the same size")
    alike = sizes_of(self) == sizes_of(src) if not is_jagged(self) else (
        same_form(self, src) or form_of(self).offsets.tolist() == form_of(src).offsets.tolist()
        and form_of(self).dim == form_of(src).dim)
    if not alike:
        raise RuntimeError("copy_: got samples of other sizes, expected the same: copy_ only supports Nested Tensors "
                           "that have same size and the same offset tensor")
    values_of(self).copy_(values_of(src))
    return self


@both("tensor", "as_tensor", "asarray")
def refuse_tensor(data, *args, **kwargs):
    """Refuse: a nested tensor is copied by `clone`."""
    raise NotImplementedError("tensor: got a nested tensor, expected numbers: .clone() copies it, and "
                              "torch.nested.as_nested_tensor takes its samples")


@rule("apply_")
def apply_(self, callable):
    """Have a Python function change every number, in place."""
    values_of(self).apply_(callable)
    return self


@both("storage", "untyped_storage", "_typed_storage")
def storage(self):
    """Refuse: the parts have memories of their own."""
    raise RuntimeError(f"storage: got a nested tensor of layout {layout_of(self)!r}, expected a strided one: .values() "
                       "has the memory of the numbers")


NestedTensor.data_ptr = storage


@both("pin_memory")
def pin_memory(self, device=None):
    """Refuse: there is no accelerator whose copies it would speed up."""
    raise RuntimeError("pin_memory: got a nested tensor, expected an accelerator: Cannot access accelerator device "
                       "when none is available.")


@both("__reversed__")
def reverse_samples(self):
    """Refuse: the order of samples is that of the parts."""
    raise NotImplementedError("__reversed__: got a nested tensor, expected a strided one: reversed(x.unbind()) gives "
                              "the samples")


@both("type")
def type_(self, dtype=None, non_blocking=False):
    """Return the tensor as another dtype."""
    if dtype is None:
        raise NotImplementedError("type: got a nested tensor, expected a strided one: .dtype tells what it holds")
    return to(self, dtype)


for _kind, _samples in ((NestedTensor, unbind), (StridedNested, samples_of)):
    _kind.ENGINE_RULES.update(
        clone=lambda x: clone(x), copy=lambda x: clone(x), cast=lambda x, dtype: to(x, dtype),
        to_device=lambda x, device: to(x, device), add=lambda x, other, alpha=1: ops_add(x, other, alpha))


def ops_add(x, other, alpha):
    """Return the sum of two gradients of one form."""
    numbers = values_of(other) if isinstance(other, Tensor) and is_nested(other) else other
    return with_numbers(x, ops.add(values_of(x), numbers, alpha=alpha))


def set_data(self, value):
    """Have the tensor be what another one of its layout is; its history stays."""
    if type(value) is not type(self):
        raise RuntimeError(f"data: got a tensor of layout {getattr(value, 'layout', None)!r}, expected a nested one of "
                           f"{layout_of(self)!r}")
    # The values stay the tensor that they were, with their history and gradient.
    values_of(self).data = values_of(value).detach()
    take_form(self, value)


NestedTensor.data = property(lambda self: self.detach(), set_data, doc="The same tensor without autograd.")


def _stepped(name):
    """Register how an optimizer's step is taken: with the values of parameters, gradients and averages."""
    def plain(given):
        if not isinstance(given, (list, tuple)):
            return given
        return [values_of(item) if is_nested(item) else item for item in given]

    def step(*args, **options):
        return getattr(ops, name)(*map(plain, args), **{key: plain(given) for key, given in options.items()})
    both(name)(step)


for _name in _C.op_names():
    if _name.endswith("_step"):
        _stepped(_name)
