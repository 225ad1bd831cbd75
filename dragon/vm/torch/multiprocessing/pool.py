"""The pool of `torch.multiprocessing`, which is Python's: tensors in its tasks travel through shared memory."""
from multiprocessing.pool import Pool  # noqa: F401
