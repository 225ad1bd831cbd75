"""Tensors of CUDA devices on their way between processes: the receiver maps the sender's memory of the device.

The sender keeps what it has sent until receivers have dropped it, of which each message has a count in shared memory:
one while it is on its way or held, none once it was dropped. What nobody receives is kept until the process ends.
"""
import os
import threading

from dragon import _C
from dragon.core import accelerator
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.multiprocessing.finishing import finish

_lent = {}  # {a number: (the count's block, the count, the tensor, its event)}
_lock = threading.Lock()
_numbers = iter(range(1, 1 << 62)).__next__


class Held:
    """Memory of another process, as long as a tensor looks at it.

    Parameters
    ----------
    loan : dragon._C.DeviceLoan
        The memory.
    count : dragon._C.SharedBlock
        Where the sender reads that it was dropped.
    index : int
        The device's number.

    """

    def __init__(self, loan, count, index):
        self._loan, self._count, self._index = loan, count, index

    def __del__(self):
        try:
            # Work that reads it must be done: the sender writes there next.
            accelerator.synchronize_stream(self._index, accelerator.current_stream(self._index))
            _number_of(self._count).zero_()
        except Exception:  # at the end of the process there may be no device, and nobody to tell
            pass


def _number_of(count):
    return count.tensor((1,), "int64", 0, Tensor)


def collect():
    """Drop what was sent and no receiver holds any more."""
    with _lock:
        for number in [number for number, (_, count, *_) in _lent.items() if count.item() == 0]:
            del _lent[number]


def reduce_tensor(tensor, handle_of):
    """Return what rebuilds a tensor of a device in another process.

    Parameters
    ----------
    tensor : Tensor
        The tensor, not empty.
    handle_of : Callable
        Returns what sends a block of shared memory.

    Returns
    -------
    Tuple[Callable, tuple]
        As of `__reduce__`.

    """
    collect()
    whole, index = tensor.detach(), tensor.get_device()
    words, start = accelerator.lend_memory(whole)
    event = _C.Event(False, False, True)
    event.record(index, accelerator.current_stream(index))
    block = _C.SharedBlock(8)
    count = _number_of(block)
    count.fill_(1)
    with _lock:
        number = _numbers()
        _lent[number] = block, count, whole, event
    layout = tuple(tensor.shape), tuple(tensor.stride())
    return rebuild_tensor, (type(tensor), tensor.dtype, tensor.requires_grad, *layout, index, words, start,
                            event.lend(index), (os.getpid(), number), handle_of(block))


def rebuild_tensor(cls, dtype, requires_grad, shape, strides, index, words, start, event, sender, block):
    """Return a tensor over a device's memory of another process, once that has written what it sent."""
    process, number = sender
    if process == os.getpid():  # a process cannot borrow of itself
        with _lock:
            held = _lent[number][2]
        _number_of(block).zero_()
        return finish(ops.as_strided(held, shape, strides, held.storage_offset()), cls, requires_grad)
    loan = _C.DeviceLoan(index, words)
    _C.Event.borrow(index, event).wait(index, accelerator.current_stream(index))
    made = accelerator.borrow_cuda(loan.address + start, shape, strides, dtype, index, Held(loan, block, index), Tensor)
    return finish(made, cls, requires_grad)
