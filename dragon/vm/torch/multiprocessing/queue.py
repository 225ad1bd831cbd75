"""The queues of `torch.multiprocessing`, which are Python's: tensors in them travel through shared memory."""
from multiprocessing.queues import Queue, SimpleQueue  # noqa: F401
