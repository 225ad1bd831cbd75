"""Functions of one number that are 0 at 0: they are computed of the values."""
from dragon.vm.torch.core.aten.kinds import ADDITIVE, keeps_zero, kinds_of
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.sparse.coordinates import coalesce
from dragon.vm.torch.core.sparse.conversions import assign
from dragon.vm.torch.core.sparse.parts import (ENGINE_RULES, SparseTensor, is_coordinates, layout_of, rule, values_of,
                                               with_values)
from dragon.vm.torch.core.tensor import Tensor, ops


def compute(func, name, args, kwargs):
    """Return a function of the values, in place where its name or an argument says so."""
    bare = name[:-1] if name.endswith("_") else name
    x, kwargs = args[0], dict(kwargs)
    in_place, out = kwargs.pop("inplace", False) or bare != name, kwargs.pop("out", None)
    # Linear ones may be computed of values whose indices come twice; the others of their sums alone.
    x = x if ADDITIVE in kinds_of(bare) or not is_coordinates(x) else coalesce(x)
    function = func if bare == name else FUNCTIONS.get(bare) or getattr(ops, bare)
    made = with_values(x, function(values_of(x), *args[1:], **kwargs))
    if in_place:
        return assign(args[0], made.to(args[0].dtype))
    return made if out is None else out.copy_(made)


SparseTensor.ELEMENTWISE = {keeps_zero: compute}
for _name in ("neg", "abs", "relu", "sqrt", "sign", "square"):  # which the engine calls by itself
    ENGINE_RULES[_name] = lambda x, name=_name: compute(getattr(ops, name), name, (x,), {})


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
