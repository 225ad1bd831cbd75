"""The pool of `torch.multiprocessing`, which is Python's: tensors in its tasks travel through shared memory."""
from multiprocessing.pool import Pool  # noqa: F401

from dragon.vm.torch.core.missing import module_getattr

__getattr__ = module_getattr("torch.multiprocessing.pool", globals())
