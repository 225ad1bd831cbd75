"""The queues of `torch.multiprocessing`, which are Python's: tensors in them travel through shared memory."""
from multiprocessing.queues import Queue, SimpleQueue  # noqa: F401

from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.multiprocessing.queue", globals())
