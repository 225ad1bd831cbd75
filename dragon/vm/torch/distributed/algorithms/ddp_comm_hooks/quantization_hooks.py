"""Averages of gradients that travel as 8 bits each."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks._background import begin
from dragon.vm.torch.distributed.making import _group

_EPSILON = 2.0 ** -23  # the least step between two of the 256 numbers
_STEPS = 255


def _scales(rows):
    """Return the step and the number of zero, of each row, by which 0 to 255 cover the row and zero."""
    low, high = ops.amin(rows, 1, keepdim=True), ops.amax(rows, 1, keepdim=True)
    low, high = low.clamp(max=0.0), high.clamp(min=0.0)
    scale = ((high - low) / _STEPS).clamp(min=_EPSILON)
    return scale, (0 - ops.round(low / scale)).clamp(0, _STEPS)


def _average(rows, core):
    """Return the mean over a group of rows that travel in 8 bits."""
    scale, zero = _scales(rows)
    words = (ops.round(rows / scale) + zero).clamp(0, _STEPS).to(OBJECTS["uint8"])
    scales = ops.chunk(ops.all_gather(ops.cat([scale, zero], 1), core.number), core.size, 0)
    total = ops.zeros(rows.shape, device=rows.device)
    for each, (scale, zero) in zip(ops.chunk(ops.all_gather(words, core.number), core.size, 0),
                                   (pair.split(1, 1) for pair in scales)):
        total += scale * (each.to(OBJECTS["float32"]) - zero)
    return total / core.size


def quantization_pertensor_hook(process_group, bucket):
    """Average a bucket whose numbers travel as 8 bits each, of one scale."""
    tensor, core = bucket.buffer(), _group(process_group)._core
    return begin(process_group, lambda: _average(tensor.reshape(1, -1), core).reshape(-1), like=tensor)


def quantization_perchannel_hook(process_group, bucket, bucket_size=512):
    """Average a bucket whose numbers travel as 8 bits each, with a scale for every `bucket_size` of them."""
    tensor, core = bucket.buffer(), _group(process_group)._core
    count = len(tensor)

    def call():
        missing = bucket_size - count % bucket_size
        rows = ops.cat([tensor, ops.zeros(missing, dtype=tensor.dtype, device=tensor.device)], 0)
        return _average(rows.view(-1, bucket_size), core).flatten()[:count]
    return begin(process_group, call, like=tensor)
