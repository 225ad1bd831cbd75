"""Layers that normalize, and convolutions: cut along the batch, and where channels do not meet, along them."""
import math

from dragon.distributed.globals.signatures import BROADCAST, Partial, Split, is_split
from dragon.vm.torch.distributed.tensor._ops.table import ways

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


@ways("native_group_norm")
def _group_norm(call):
    """Normalize each example by itself."""
    return []


@ways("convolution")
def _convolution(call):
    """Cut the batch; or the kernels, and with them the channels that come out."""
    x, kernels, bias = call.operands[0], call.operands[1], len(call.operands) > 2
    found = [([cut, BROADCAST, *[BROADCAST] * bias], [cut]) for cut in call.splits(x, 0)] \
        if x.ndim == kernels.ndim else []
    if call.values.get("groups", 1) == 1 and not call.values.get("transposed", False):
        place = x.ndim - kernels.ndim + 1
        found.extend(([BROADCAST, cut, *[cut] * bias], [Split(place, cut.pieces)]) for cut in call.splits(kernels, 0))
    return found


@ways("convolution_backward")
def _convolution_backward(call):
    """Give examples their gradients; those of kernels are sums over examples."""
    grad, x = call.operands[:2]
    if x.ndim != call.operands[2].ndim:
        return []
    return [([cut, cut, BROADCAST], [cut, SUM, SUM]) for cut in call.splits(grad, 0)]


@ways("max_pool2d_with_indices max_pool3d_with_indices avg_pool2d avg_pool3d avg_pool1d _adaptive_avg_pool2d "
      "_adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d upsample_nearest2d upsample_bilinear2d "
      "upsample_nearest1d upsample_bicubic2d upsample_nearest3d upsample_trilinear3d upsample_linear1d "
      "reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d pixel_shuffle pixel_unshuffle im2col")
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


@ways("max_pool2d_with_indices_backward avg_pool2d_backward _adaptive_avg_pool2d_backward "
      "max_pool3d_with_indices_backward avg_pool3d_backward adaptive_max_pool2d_backward")
def _windows_backward(call):
    grad = call.operands[0]
    spatial = 3 if "3d" in call.packet else 2
    return [([cut] * len(call.operands), [cut]) for axis in range(grad.ndim - spatial)
            if axis == 0 or _all_have(call, grad, axis) for cut in call.splits(grad, axis)]


@ways("native_batch_norm")
def _batch_norm(call):
    """Normalize by what is known, each example by itself; what is to be learned of the batch needs all of it."""
    x = call.operands[0]
    others = [BROADCAST] * (len(call.operands) - 1)
    if call.values["training"] or any(is_split(cut, 1) for cut in x.signatures):
        return []
    return [([cut, *others], [cut, BROADCAST, BROADCAST]) for cut in call.splits(x, 0)]
