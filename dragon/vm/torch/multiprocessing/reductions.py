"""Tensors on their way between processes: the receiver maps the sender's memory."""
from multiprocessing import reduction

from dragon import _C
from dragon.vm.torch.core.tensor import Tensor, ops


def reduce_tensor(tensor):
    """Return what rebuilds a tensor in another process over the same memory.

    A tensor that is not in shared memory yet moves there: both sides see what either writes.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does "
                           "not support crossing process boundaries.  If you just want to transfer the data, call "
                           "detach() on the tensor before serializing (e.g., putting it on the queue).")
    if tensor.device.type != "cpu":
        raise NotImplementedError(f"multiprocessing: got a tensor on {tensor.device}, expected one on the CPU")
    layout = tuple(tensor.shape), tuple(tensor.stride())
    facts = type(tensor), tensor.dtype, tensor.requires_grad
    if not tensor.numel():
        return rebuild_empty, (*facts, *layout)
    if _C.shared_block_of(tensor) is None:
        # Queues send from threads of their own: one that frees before it has allocated would meet an empty cache.
        ops.empty((1,))
        tensor.share_memory_()
    block, start = _C.shared_block_of(tensor)
    return rebuild_tensor, (*facts, *layout, reduction.DupFd(block.descriptor), block.bytes, start)


def rebuild_tensor(cls, dtype, requires_grad, shape, strides, handle, nbytes, start):
    """Return a tensor over a block of another process."""
    import os
    descriptor = handle.detach()
    try:
        block = _C.SharedBlock.open(descriptor, nbytes)
    finally:
        os.close(descriptor)
    rest = (nbytes - start) // dtype.itemsize
    flat = block.tensor((rest,), dtype, start, Tensor)
    return finish(ops.as_strided(flat, shape, strides, 0), cls, requires_grad)


def rebuild_empty(cls, dtype, requires_grad, shape, strides):
    """Return a tensor without elements."""
    return finish(ops.empty_strided(shape, strides, dtype=dtype), cls, requires_grad)


def finish(made, cls, requires_grad):
    """Return a tensor as an instance of its class."""
    if cls is not Tensor:
        made = made.detach()
        made.__class__ = cls
    if requires_grad or made.requires_grad:
        made.requires_grad = requires_grad
    return made


def init_reductions():
    """Tell Python's queues and pipes how tensors travel."""
    from dragon.vm.torch.nn.parameter import Parameter
    for kind in (Tensor, Parameter):
        reduction.ForkingPickler.register(kind, reduce_tensor)
