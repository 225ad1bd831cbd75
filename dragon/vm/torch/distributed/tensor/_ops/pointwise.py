"""Operators that compute each element of the result from the elements at its place."""
from dragon.distributed.globals.signatures import BROADCAST, Split, is_partial, is_split
from dragon.vm.torch.distributed.tensor._ops.table import ways

_ANY = """_conj _to_copy abs acos acosh add addcdiv addcmul alias angle asin asinh atan atan2 atanh bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max
    clamp_min clip clone complex conj conj_physical contiguous copy copysign cos cosh deg2rad detach digamma div
    elu elu_backward empty_like eq erf erfc erfinv exp exp2 expm1 fill float_power floor floor_divide fmax fmin
    fmod frac full_like ge gelu gelu_backward gt hardshrink hardsigmoid hardsigmoid_backward hardswish
    hardswish_backward hardtanh hardtanh_backward heaviside hypot i0 imag isfinite isinf isnan isneginf isposinf
    isreal ldexp le leaky_relu leaky_relu_backward lerp lgamma lift_fresh log log10 log1p log2
    log_sigmoid_backward log_sigmoid_forward logaddexp logaddexp2 logical_and logical_not logical_or logical_xor
    logit logit_backward lt masked_fill maximum minimum mish mish_backward mul multiply nan_to_num ne neg
    nextafter ones_like polar positive pow rad2deg real reciprocal relu relu6 remainder round rsqrt rsub selu
    sgn sigmoid sigmoid_backward sign signbit silu silu_backward sin sinc sinh softplus softplus_backward
    softshrink softshrink_backward special_entr special_erfcx special_i0e special_i1 special_i1e
    special_log_ndtr special_ndtri special_xlog1py sqrt square sub subtract tan tanh tanh_backward threshold
    threshold_backward true_divide trunc where xlogy zero zeros_like"""
# What takes a sum of operands to the sum of results: all operands are summands,
_ADDITIVE = frozenset("add sub rsub copy positive neg clone detach alias _to_copy contiguous lift_fresh conj".split())
# or one of them is, and the others are the same everywhere.
_SCALING = frozenset("mul div multiply true_divide".split())
_KEEPING = frozenset("copy positive clone detach alias contiguous lift_fresh".split())  # any reduction
_NUMBERS_OUT = frozenset("zeros_like ones_like full_like empty_like zero".split())  # what was there does not matter


def align(call):
    """Return the pairs that cut operands along an axis that all of them have, or are repeated along."""
    ndim = max(operand.ndim for operand in call.operands)
    shape = [1] * ndim
    for operand in call.operands:
        for axis, size in enumerate(operand.shape, ndim - operand.ndim):
            shape[axis] = max(shape[axis], size) if size else 0
    found = []
    for axis in range(ndim):
        cuts = set()
        for operand in call.operands:
            shift = ndim - operand.ndim
            cuts.update(Split(axis, cut.pieces) for cut in operand.signatures if is_split(cut, axis - shift))
        for cut in sorted(cuts, key=lambda cut: cut.pieces):
            wanted = []
            for operand in call.operands:
                own = axis - ndim + operand.ndim
                has = own >= 0 and operand.shape[own] == shape[axis]
                wanted.append(Split(own, cut.pieces) if has else BROADCAST)
            found.append((wanted, [cut]))
    return found


@ways(_ANY)
def pointwise(call):
    """Cut operands along the same axis; leave sums to be done where the operator is linear."""
    name = call.packet[:-1] if call.packet.endswith("_") else call.packet
    operands = call.operands
    found = align(call)
    partial = {signature for operand in operands for signature in operand.signatures if is_partial(signature)}
    for signature in partial:
        if name in _KEEPING or name in _NUMBERS_OUT and call.written:
            found.append(([signature] * len(operands), [signature]))
        elif signature.reduction not in ("sum", "average"):
            continue
        elif name in _ADDITIVE and _adds_tensors(call, name):
            found.append(([signature] * len(operands), [signature]))
        elif name in _SCALING:
            places = range(len(operands)) if name in ("mul", "multiply") else range(1)
            found.extend(([signature if place == at else BROADCAST for at in range(len(operands))], [signature])
                         for place in places if operands[place].local.is_floating_point())
    if name in _NUMBERS_OUT and partial and not call.written:
        found.extend(([signature], [BROADCAST]) for signature in partial)
    return found


def _adds_tensors(call, name):
    """Return whether a sum of sums is the sum: a number would be added by each process."""
    if name in ("add", "sub", "rsub"):
        return len(call.operands) == 2
    return name != "_to_copy" or call.kwargs.get("dtype") is None or call.kwargs["dtype"].is_floating_point
