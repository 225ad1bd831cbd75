"""Functions of one number that are 0 at 0: they are computed of the values."""
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.coordinates import coalesce
from dragon.vm.torch.core.sparse.conversions import assign
from dragon.vm.torch.core.sparse.parts import (ENGINE_RULES, is_coordinates, layout_of, rule, values_of, with_values)
from dragon.vm.torch.core.tensor import Tensor, ops

# Linear ones may be computed of values whose indices come twice; the others of their sums alone.
LINEAR = ("neg", "negative", "positive", "conj", "conj_physical", "real", "imag")
ZERO_AT_ZERO = ("abs", "absolute", "sqrt", "sin", "tan", "asin", "arcsin", "atan", "arctan", "sinh", "tanh", "asinh",
                "arcsinh", "atanh", "arctanh", "log1p", "expm1", "sign", "sgn", "floor", "ceil", "round", "trunc",
                "fix", "frac", "square", "relu", "erf", "erfinv", "deg2rad", "rad2deg", "nan_to_num", "isnan", "isinf",
                "isposinf", "isneginf", "signbit", "special_erf", "special_expm1", "special_log1p", "special_erfinv",
                "angle")


def of_values(name):
    """Register a function of one number, and its form in place."""
    def compute(input, *args, **kwargs):
        if kwargs.pop("inplace", False):
            return assign(input, compute(input, *args, **kwargs))
        out = kwargs.pop("out", None)
        x = input if name in LINEAR or not is_coordinates(input) else coalesce(input)
        function = FUNCTIONS.get(name) or getattr(ops, name)
        made = with_values(x, function(values_of(x), *args, **kwargs))
        return made if out is None else out.copy_(made)

    def write(input, *args, **kwargs):
        made = compute(input, *args, **kwargs)
        return assign(input, made.to(input.dtype))
    rule(name)(named(compute, name, f"Compute `{name}` of the values."))
    rule(name + "_")(named(write, name + "_", f"Compute `{name}` of the values, in place."))
    if name in ("neg", "abs", "relu", "sqrt", "sign", "square"):
        ENGINE_RULES[name] = lambda x: compute(x)


for _name in (*LINEAR, *ZERO_AT_ZERO):
    of_values(_name)


@rule("pow", "__pow__", "float_power")
def pow(input, exponent, *, out=None):
    """Raise values to a power above 0."""
    if isinstance(exponent, Tensor) or not isinstance(input, Tensor) or isinstance(exponent, complex) or exponent <= 0:
        raise NotImplementedError("pow: got a sparse tensor with an exponent that is no number above 0, expected one: "
                                  "0 to that power would not be 0")
    x = coalesce(input) if is_coordinates(input) else input
    made = with_values(x, ops.pow(values_of(x), exponent))
    return made if out is None else out.copy_(made)


@rule("dropout", "alpha_dropout")
def dropout(input, p=0.5, training=True, inplace=False):
    """Leave the tensor as it is: only while not training, or with p = 0, can that be."""
    if training and p:
        raise NotImplementedError(f"dropout: got a tensor of layout {layout_of(input)!r} in training, expected a "
                                  "strided one: .to_dense() makes one")
    return input
