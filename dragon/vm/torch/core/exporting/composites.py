"""Which operators PyTorch itself takes apart before anybody sees them, and those that are others by another name."""
import math

from dragon.vm.torch.core.exporting import decompositions_recurrent  # noqa: F401: which fill the table, too
from dragon.vm.torch.core.exporting import decompositions_plain  # noqa: F401: whose entries come first
from dragon.vm.torch.core.exporting.decompositions import DECOMPOSITIONS, default_table, is_dense, is_made_of
from dragon.vm.torch.core.exporting.listening import aten

# Others by another name: in PyTorch's list of operators they have the same arguments.
ALIASES = """
absolute=abs absolute_=abs_ arccos=acos arccos_=acos_ arccosh=acosh arccosh_=acosh_ arcsin=asin arcsin_=asin_
arcsinh=asinh arcsinh_=asinh_ arctan=atan arctan_=atan_ arctanh=atanh arctanh_=atanh_ arctan2=atan2 arctan2_=atan2_
clip=clamp clip.Tensor=clamp.Tensor clip_=clamp_ clip_.Tensor=clamp_.Tensor
divide.Tensor=div.Tensor divide.Scalar=div.Scalar divide.Tensor_mode=div.Tensor_mode divide.Scalar_mode=div.Scalar_mode
divide_.Tensor=div_.Tensor divide_.Scalar=div_.Scalar true_divide.Tensor=div.Tensor true_divide.Scalar=div.Scalar
true_divide_.Tensor=div_.Tensor true_divide_.Scalar=div_.Scalar fix=trunc fix_=trunc_
greater.Tensor=gt.Tensor greater.Scalar=gt.Scalar greater_equal.Tensor=ge.Tensor greater_equal.Scalar=ge.Scalar
less.Tensor=lt.Tensor less.Scalar=lt.Scalar less_equal.Tensor=le.Tensor less_equal.Scalar=le.Scalar
not_equal.Tensor=ne.Tensor not_equal.Scalar=ne.Scalar max.other=maximum min.other=minimum
multiply.Tensor=mul.Tensor multiply.Scalar=mul.Scalar multiply_.Tensor=mul_.Tensor multiply_.Scalar=mul_.Scalar
negative=neg negative_=neg_ subtract.Tensor=sub.Tensor subtract.Scalar=sub.Scalar subtract_.Tensor=sub_.Tensor
subtract_.Scalar=sub_.Scalar concat=cat concatenate=cat swapaxes=transpose.int swapdims=transpose.int
special_digamma=digamma special_erf=erf special_erfc=erfc special_erfinv=erfinv special_exp2=exp2 special_expit=sigmoid
special_expm1=expm1 special_gammaln=lgamma special_i0=i0 special_log1p=log1p special_psi=digamma special_round=round
special_sinc=sinc linalg_matmul=matmul split.sizes=split_with_sizes
"""
# What a table alone takes apart; of all others PyTorch's dispatcher does it for everybody.
BY_TABLE = frozenset(f"{name}.default" if "." not in name else name for name in """
t transpose.int split.Tensor unbind.int stack rsub.Scalar rsub.Tensor floor_divide silu lift_fresh_copy detach_ celu
hardswish hardsigmoid softplus mish hardshrink softshrink threshold glu sum std.correction all.dim all
count_nonzero.dim_IntList count_nonzero nansum aminmax trace mse_loss smooth_l1_loss huber_loss soft_margin_loss
binary_cross_entropy_with_logits zeros zeros_like new_zeros ones ones_like new_ones new_full arange arange.start
masked_fill.Scalar masked_fill.Tensor clamp_min clamp_max addcmul addcdiv rad2deg deg2rad frac baddbmm mv dot
squeeze.dim squeeze pixel_shuffle pixel_unshuffle
""".split())


def _name(word):
    return word if "." in word else f"{word}.default"


def _alias(name):
    packet, _, overload = name.partition(".")

    def same(a, *args, **kwargs):
        return getattr(getattr(a, packet), overload)(*args, **kwargs)
    return same


for _pair in ALIASES.split():
    _other, _, _one = _pair.partition("=")
    if _name(_other) not in DECOMPOSITIONS:
        is_made_of(_name(_other))(_alias(_name(_one)))


def _linear(a, input, weight, bias=None):
    if weight.ndim != 2 or input.ndim < 2:
        return NotImplemented
    turned, sizes = a.t.default(weight), list(input.shape)
    folded = a.view if is_dense(input) else a.reshape
    flat = input if input.ndim == 2 else folded.default(input, [math.prod(sizes[:-1]), sizes[-1]])
    made = a.mm.default(flat, turned) if bias is None else a.addmm.default(bias, flat, turned)
    return made if input.ndim == 2 else a.view.default(made, [*sizes[:-1], weight.shape[0]])


def composite_table():
    """Return what is taken apart for everybody.

    Returns
    -------
    Dict[OpOverload, Callable]
        By operator: a function of its arguments.

    """
    made = {target: made for target, made in default_table().items() if _short(target) not in BY_TABLE}
    plain = made[aten().linear.default]

    def linear(*args, **kwargs):
        found = _linear(aten(), *args, **kwargs)  # transposed by `t`, which is an operator for the dispatcher
        return plain(*args, **kwargs) if found is NotImplemented else found
    return {**made, aten().linear.default: linear}


def _short(target):
    return str(target).partition(".")[2]
