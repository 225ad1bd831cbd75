"""Averages as they are, and of 16 bits on their way."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.distributed import collectives
from dragon.vm.torch.distributed.making import _group


def _average(group, tensor):
    """Return a future of the mean of a tensor over a group."""
    group = _group(group)
    tensor.div_(group.size())
    return collectives.all_reduce(tensor, group=group, async_op=True).get_future().then(lambda made: made.value()[0])


def allreduce_hook(process_group, bucket):
    """Average a bucket as `DistributedDataParallel` does without a hook."""
    return _average(process_group, bucket.buffer())


def _compressed(dtype, process_group, bucket):
    buffer = bucket.buffer()

    def widen(future):
        buffer.copy_(future.value())
        return buffer
    return _average(process_group, buffer.to(OBJECTS[dtype])).then(widen)


def fp16_compress_hook(process_group, bucket):
    """Average a bucket in float16, which halves what is sent."""
    return _compressed("float16", process_group, bucket)


def bf16_compress_hook(process_group, bucket):
    """Average a bucket in bfloat16, which halves what is sent."""
    return _compressed("bfloat16", process_group, bucket)


def _wrapper(dtype, hook):
    def compressed(state, bucket):
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(OBJECTS[dtype]))

        def widen(future):
            made = future.value()
            buffer.copy_(made)
            bucket.set_buffer(buffer)
            return buffer
        return hook(state, bucket).then(widen)
    return compressed


def fp16_compress_wrapper(hook):
    """Return a hook that gives another one its buckets in float16."""
    return _wrapper("float16", hook)


def bf16_compress_wrapper(hook):
    """Return a hook that gives another one its buckets in bfloat16."""
    return _wrapper("bfloat16", hook)
