"""Tensors on their way between processes: the receiver maps the sender's memory."""
import os
import weakref
from multiprocessing import context, reduction

from dragon import _C
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.multiprocessing import devices
from dragon.vm.torch.multiprocessing.finishing import finish

_handles = weakref.WeakValueDictionary()  # {descriptor: Handle}, as long as a pickler remembers it


class Handle:
    """A block of shared memory on its way: it goes once, however many tensors of one message lie in it.

    Parameters
    ----------
    block : dragon._C.SharedBlock
        The block, which stays as long as the handle.

    """

    def __init__(self, block):
        self.block = block

    @classmethod
    def of(cls, block):
        """Return the handle of a block, the same one each time."""
        return _handles.setdefault(block.descriptor, cls(block))

    def __reduce__(self):
        process = context.get_spawning_popen()
        if process is not None:
            # A new process is given descriptors when all has been pickled: what is in no other hands would be gone.
            vars(process).setdefault("_sent_blocks", []).append(self)
        return open_block, (reduction.DupFd(self.block.descriptor), self.block.bytes)


def open_block(handle, nbytes):
    """Return a block of another process."""
    descriptor = handle.detach()
    try:
        return _C.SharedBlock.open(descriptor, nbytes)
    finally:
        os.close(descriptor)


def reduce_tensor(tensor):
    """Return what rebuilds a tensor in another process over the same memory.

    A tensor that is not in shared memory yet moves there: both sides see what either writes.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does "
                           "not support crossing process boundaries.  If you just want to transfer the data, call "
                           "detach() on the tensor before serializing (e.g., putting it on the queue).")
    if tensor.is_cuda and tensor.numel():
        return devices.reduce_tensor(tensor, Handle.of)
    if tensor.device.type not in ("cpu", "cuda"):
        raise NotImplementedError(f"multiprocessing: got a tensor on {tensor.device}, expected one on the CPU or on a "
                                  "CUDA device")
    layout = tuple(tensor.shape), tuple(tensor.stride())
    facts = type(tensor), tensor.dtype, tensor.requires_grad
    if not tensor.numel():
        return rebuild_empty, (*facts, *layout, str(tensor.device))
    if _C.shared_block_of(tensor) is None:
        # Queues send from threads of their own: one that frees before it has allocated would meet an empty cache.
        ops.empty((1,))
        tensor.share_memory_()
    block, start = _C.shared_block_of(tensor)
    return rebuild_tensor, (*facts, *layout, Handle.of(block), start)


def rebuild_tensor(cls, dtype, requires_grad, shape, strides, block, start):
    """Return a tensor over a block of another process."""
    rest = (block.bytes - start) // dtype.itemsize
    flat = block.tensor((rest,), dtype, start, Tensor)
    return finish(ops.as_strided(flat, shape, strides, 0), cls, requires_grad)


def rebuild_empty(cls, dtype, requires_grad, shape, strides, device="cpu"):
    """Return a tensor without elements."""
    return finish(ops.empty_strided(shape, strides, dtype=dtype, device=device), cls, requires_grad)


def init_reductions():
    """Tell Python's queues and pipes how tensors travel."""
    from dragon.vm.torch.nn.parameter import Parameter
    for kind in (Tensor, Parameter):
        reduction.ForkingPickler.register(kind, reduce_tensor)
