"""Functions of jagged tensors that are computed element by element: those of the values.

Which functions these are their kinds tell.
"""
from dragon.vm.torch.core.aten.kinds import CONSTANT, is_pointwise, kinds_of
from dragon.vm.torch.core.nested.padding import known_length, packed
from dragon.vm.torch.core.nested.parts import NestedTensor, form_of, is_jagged, make, same_form, shape_of, values_of
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor

NOT_HERE = {"floor_divide", "equal", "copy_", "apply_"}  # PyTorch refuses these, or they have rules of their own


def applies(name):
    """Return whether a function of the API is computed element by element."""
    bare = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    return is_pointwise(bare) and not {bare, name} & NOT_HERE


def refuse_shapes(name, a, b):
    """Return what is raised where two operands do not meet."""
    return RuntimeError(f"{name}: got shapes {show(a)} and {show(b)}, expected samples of the same lengths by the same "
                        f"offsets: cannot call binary pointwise function {name} with inputs of shapes {show(a)} and "
                        f"{show(b)}")


def show(x):
    """Return a shape as text."""
    return Size(shape_of(x)) if is_jagged(x) else x.shape


def operand(name, nested, other):
    """Return another operand as it meets the values of a jagged tensor."""
    if not isinstance(other, Tensor):
        return other
    if isinstance(other, NestedTensor):
        if not is_jagged(other) or other.ndim != nested.ndim or not same_form(nested, other):
            raise refuse_shapes(name, nested, other) if is_jagged(other) else RuntimeError(
                f"{name}: got nested tensors of layouts torch.jagged and torch.strided, expected one layout")
        return values_of(other)
    form = form_of(nested)
    if other.ndim > nested.ndim:
        raise NotImplementedError(f"{name}: got a tensor of {other.ndim} dims beside a nested one of {nested.ndim}, "
                                  f"expected at most {nested.ndim}")
    inner = other
    while inner.ndim and inner.shape[0] == 1:
        inner = inner[0]
    if nested.ndim >= inner.ndim + 2:
        return inner
    if other.ndim != nested.ndim or other.shape[0] != form.offsets.shape[0] - 1 or (
            other.shape[form.dim] not in (1, known_length(nested))):
        raise refuse_shapes(name, nested, other)
    return packed(other, form, values_of(nested).shape[form.dim - 1])


def compute(func, name, args, kwargs):
    """Return a function of the values, in the form of the first jagged tensor."""
    everything = (*args, *kwargs.values())
    nested = next((one for one in everything if is_jagged(one)), None)
    if nested is None:
        raise NestedTensor._refusal(name)
    if kwargs.get("out") is not None:
        raise NotImplementedError(f"{name}: got out= beside a nested tensor, expected none")
    in_place = name.endswith("_") and not name.endswith("__") or kwargs.get("inplace") is True
    if in_place and args and not is_jagged(args[0]):
        raise refuse_shapes(name, nested, args[0])
    if CONSTANT in kinds_of(name):
        kwargs = {key: value for key, value in kwargs.items() if key != "layout"}
    made = func(*(operand(name, nested, one) for one in args),
                **{key: operand(name, nested, one) for key, one in kwargs.items()})
    if in_place:
        return args[0]
    form = form_of(nested)
    if isinstance(made, (tuple, list)):
        return type(made)(make(one, form) for one in made)
    if made.ndim != nested.ndim - 1 or made.shape[form.dim - 1] != values_of(nested).shape[form.dim - 1]:
        other = next(one for one in everything if isinstance(one, Tensor) and not is_jagged(one))
        raise refuse_shapes(name, nested, other)
    return make(made, form)


NestedTensor.ELEMENTWISE[applies] = compute
