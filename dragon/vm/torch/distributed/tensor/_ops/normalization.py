"""Layers that normalize, and convolutions: cut along the batch, and where channels do not meet, along them."""
import math

from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_split
from dragon.vm.torch.core.aten.kinds import WINDOW, WINDOW_GRADIENT
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.distributed.tensor._ops.table import chosen, rule, ways, ways_of_kind

SUM = Partial()


@ways("native_layer_norm _fused_rms_norm")
def _layer_norm(call):
    """Normalize rows that are whole, by weights that all have."""
    x = call.operands[0]
    rows = x.ndim - len(call.values["normalized_shape"])
    others = [BROADCAST] * (len(call.operands) - 1)
    count = 3 if call.packet == "native_layer_norm" else 2
    return [([cut, *others], [cut] * count) for axis in range(rows) for cut in call.splits(x, axis)]


@ways("native_layer_norm_backward _fused_rms_norm_backward")
def _layer_norm_backward(call):
    """Give rows their gradients; those of the weights are sums over rows."""
    x = call.operands[1]
    rows = x.ndim - len(call.values["normalized_shape"])
    count = 3 if call.packet == "native_layer_norm_backward" else 2
    found = []
    for axis in range(rows):
        for cut in call.splits(x, axis):
            # The gradient, the input and what is known of rows are cut; weights are whole.
            wanted = [cut if operand.ndim == x.ndim else BROADCAST for operand in call.operands]
            found.append((wanted, [cut, *[SUM] * (count - 1)]))
    return found


def _divides(call, *counts):
    """Return whether each process has the same share of some numbers, however axes of the mesh cut them."""
    return all(count % math.prod(call.mesh.shape) == 0 for count in counts)


@rule("native_group_norm")
def _group_norm(call):
    """Normalize each example by itself; or whole groups of its channels, where all processes have as many."""
    x, groups = call.operands[0], call.values["group"]
    others = [BROADCAST] * (len(call.operands) - 1)
    ways_ = [([cut, *others], [cut] * 3) for cut in call.splits(x, 0)]
    if _divides(call, groups, x.shape[1]):
        ways_.extend(([cut, *[Split(0)] * len(others)], [cut] * 3) for cut in call.splits(x, 1) if cut.pieces == 1)

    def compute(parts):
        values = {**call.values, "N": parts[0].shape[0], "C": parts[0].shape[1],
                  "group": groups * parts[0].shape[1] // max(x.shape[1], 1)}
        given = iter(parts)
        return call.func.run(*(next(given) if isinstance(value, Tensor) else value for value in values.values()))
    return chosen(call, ways_, compute)


@ways("dragon.group_norm_backward")
def _group_norm_backward(call):
    """Give examples or channels their gradients; those of the weights are sums over examples."""
    x, mean = call.operands[1], call.operands[2]
    found = [([cut if operand.ndim == x.ndim or operand is mean or operand is call.operands[3] else BROADCAST
               for operand in call.operands], [cut, SUM, SUM]) for cut in _splits_of(call, call.operands[:2], 0)]
    if _divides(call, mean.shape[1], x.shape[1]):
        found.extend(([cut] * 4 + [Split(0)] * (len(call.operands) - 4), [cut, Split(0), Split(0)])
                     for cut in _splits_of(call, call.operands[:2], 1) if cut.pieces == 1)
    return found


def _splits_of(call, operands, axis):
    """Return how axes of the mesh cut an axis of some operands, each way once."""
    return list({cut: None for operand in operands for cut in call.splits(operand, axis)})


def _channels(call):
    """Return whether each process can have some of a convolution's groups."""
    groups = call.values.get("groups", 1)
    return groups > 1 and not call.values.get("transposed", False) and _divides(call, groups)


def _in_groups(call):
    """Return what computes a convolution of some of the groups."""
    groups, kernels = call.values.get("groups", 1), call.operands[-1 if call.packet.endswith("backward") else 1]

    def compute(parts):
        local = parts[2 if call.packet.endswith("backward") else 1]
        values = {**call.values, "groups": groups * local.shape[0] // kernels.shape[0] if groups > 1 else 1}
        if values.get("bias_sizes"):
            values["bias_sizes"] = [parts[0].shape[1]]
        given = iter(parts)
        return call.func.run(*(next(given) if isinstance(value, Tensor) else value for value in values.values()))
    return compute


@rule("convolution")
def _convolution(call):
    """Cut the batch; or the kernels, and with them channels that come out; or those that go in; or whole groups."""
    x, kernels, bias = call.operands[0], call.operands[1], len(call.operands) > 2
    found = [([cut, BROADCAST, *[BROADCAST] * bias], [cut]) for cut in call.splits(x, 0)] \
        if x.ndim == kernels.ndim else []
    place, compute = x.ndim - kernels.ndim + 1, None
    if call.values.get("groups", 1) == 1 and not call.values.get("transposed", False):
        found.extend(([BROADCAST, cut, *[cut] * bias], [Split(place, cut.pieces)]) for cut in call.splits(kernels, 0))
        if _divides(call, kernels.shape[1]):
            found.extend(([Split(place), Split(1), *[SUM] * bias], [SUM]) for cut in {
                *call.splits(x, place), *(Split(place, each.pieces) for each in call.splits(kernels, 1))}
                if cut.pieces == 1)
    elif _channels(call) and place == 1:
        compute = _in_groups(call)
        cuts = {cut.pieces for cut in (*call.splits(x, 1), *call.splits(kernels, 0))}
        found.extend(([Split(1), Split(0), *[Split(0)] * bias], [Split(1)]) for pieces in cuts if pieces == 1)
    return chosen(call, found, compute)


@rule("convolution_backward")
def _convolution_backward(call):
    """Give examples their gradients; those of kernels are sums over examples; or channels, or groups, theirs."""
    grad, x, kernels = call.operands[:3]
    if x.ndim != kernels.ndim:
        return None
    found = [([cut, cut, BROADCAST], [cut, SUM, SUM]) for cut in _splits_of(call, (grad, x), 0)]
    cuts = {cut.pieces for cut in (*call.splits(grad, 1), *call.splits(kernels, 0))}
    compute = None
    if call.values.get("groups", 1) == 1 and not call.values.get("transposed", False):
        compute = _in_groups(call)  # sizes of biases are those of parts
        if _divides(call, kernels.shape[0]):
            found.extend(([Split(1), BROADCAST, Split(0)], [SUM, Split(0), Split(0)]) for pieces in cuts if pieces == 1)
        if _divides(call, kernels.shape[1]):
            found.extend(([BROADCAST, Split(1), Split(1)], [Split(1), Split(1), BROADCAST]) for cut in (
                *call.splits(x, 1), *call.splits(kernels, 1)) if cut.pieces == 1)
    elif _channels(call):
        compute = _in_groups(call)
        cuts |= {cut.pieces for cut in call.splits(x, 1)}
        found.extend(([Split(1), Split(1), Split(0)], [Split(1), Split(0), Split(0)]) for pieces in cuts if pieces == 1)
    return chosen(call, found, compute)


@ways_of_kind(WINDOW)
def _windows(call):
    """Look through windows: examples and channels stand for themselves."""
    x = call.operands[0]
    spatial = next((int(digit) for digit in "123" if f"{digit}d" in call.packet), 2)
    free = x.ndim - spatial if call.packet not in ("pixel_shuffle", "pixel_unshuffle", "im2col") else x.ndim - 3
    count = 2 if "indices" in call.packet or call.packet.startswith("adaptive_max") else 1
    return [([cut], [cut] * count) for axis in range(free) if axis == 0 or _all_have(call, x, axis)
            for cut in call.splits(x, axis)]


def _all_have(call, x, axis):
    """Return whether each process has something of an axis: windows refuse pictures without channels."""
    parts = math.prod(size for cut, size in zip(x.signatures, call.mesh.shape) if is_split(cut, axis))
    return x.shape[axis] % parts == 0 or -(-x.shape[axis] // parts) * (parts - 1) < x.shape[axis] and sum(
        is_split(cut, axis) for cut in x.signatures) == 1


@ways_of_kind(WINDOW_GRADIENT)
def _windows_backward(call):
    grad = call.operands[0]
    spatial = 3 if "3d" in call.packet else 2
    return [([cut] * len(call.operands), [cut]) for axis in range(grad.ndim - spatial)
            if axis == 0 or _all_have(call, grad, axis) for cut in call.splits(grad, axis)]


def _of_channels(call):
    """Return how operands are cut where channels are: what is known of each channel goes with it."""
    x = call.operands[0]
    return [Split(1) if operand.ndim == x.ndim else Split(0) if operand.shape == (x.shape[1],) else BROADCAST
            for operand in call.operands]


def _cuts_channels(call, *operands):
    """Return whether channels of some operands are cut."""
    return any(cut.pieces == 1 for operand in operands for cut in call.splits(operand, 1))


@ways("native_batch_norm")
def _batch_norm(call):
    """Normalize by what is known, each example by itself; what is learned of the batch needs all of it: channels."""
    x, training = call.operands[0], call.values["training"]
    others = [BROADCAST] * (len(call.operands) - 1)
    found = [] if training else [([cut, *others], [cut, BROADCAST, BROADCAST]) for cut in call.splits(x, 0)]
    kept = [call.operand(name) for name in ("running_mean", "running_var")]
    # What is learned is written into: a part of a copy would be lost.
    stays = not training or all(each is None or Split(0) in each.signatures for each in kept)
    if x.ndim > 1 and _cuts_channels(call, x) and stays:
        known = Split(0) if training else BROADCAST
        found.append((_of_channels(call), [Split(1), known, known]))
    return found


@ways("native_batch_norm_backward")
def _batch_norm_backward(call):
    """Give channels their gradients; where all is known of them, examples as well."""
    grad, x = call.operands[:2]
    found = []
    if not call.values["train"]:
        others = [BROADCAST] * (len(call.operands) - 2)
        found = [([cut, cut, *others], [cut, SUM, SUM]) for cut in _splits_of(call, (grad, x), 0)]
    if x.ndim > 1 and _cuts_channels(call, grad, x):
        found.append((_of_channels(call), [Split(1), Split(0), Split(0)]))
    return found


@ways("instance_norm")
def _instance_norm(call):
    """Normalize each channel of each example by itself."""
    x = call.operands[0]
    if call.operand("running_mean") is not None:
        return []
    others = [BROADCAST] * (len(call.operands) - 1)
    found = [([cut, *others], [cut]) for cut in call.splits(x, 0) if _all_have(call, x, 0)]
    if _cuts_channels(call, x) and _all_have(call, x, 1):
        found.append((_of_channels(call), [Split(1)]))
    return found
