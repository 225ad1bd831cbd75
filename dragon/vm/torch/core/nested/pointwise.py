"""Functions of jagged tensors that are computed element by element: those of the values.

Which functions these are the engine's schemas tell; the table has those that are written in Python.
"""
import functools

from dragon import _C
from dragon.vm.torch.core.nested.padding import known_length, packed
from dragon.vm.torch.core.nested.parts import NestedTensor, form_of, is_jagged, make, same_form, shape_of, values_of
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor

# Of `torch.nn.functional` and of methods, whose operators have other names.
WRITTEN = set("relu relu6 silu mish elu selu celu hardswish hardsigmoid hardtanh leaky_relu logsigmoid tanhshrink "
              "softshrink hardshrink softplus softsign threshold rrelu dropout alpha_dropout feature_alpha_dropout "
              "clamp clamp_min clamp_max where masked_fill fill zero square sigmoid tanh float_power "
              "divide frexp ldexp mvlgamma rsub bernoulli uniform normal fill_ zero_ addcmul addcdiv lerp "
              "nan_to_num".split())
LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
NOT_HERE = {"floor_divide", "equal", "copy_", "apply_"}  # PyTorch refuses these, or they have rules of their own


@functools.lru_cache(None)
def is_pointwise(name):
    """Return whether a function of the API is computed element by element."""
    bare = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if bare in WRITTEN or name in LIKE:
        return True
    return bare not in NOT_HERE and bare in _NAMES and _C.schema(bare)["pointwise"]


_NAMES = set(_C.op_names())


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
    if name in LIKE:
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


NestedTensor.ELEMENTWISE[is_pointwise] = compute
