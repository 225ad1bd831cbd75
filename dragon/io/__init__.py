"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
from dragon.io.block import Arena, current_arena
from dragon.io.errors import DataError
from dragon.io.failure import Failure
from dragon.io.iterator import Iterator, stack_samples
from dragon.io.pool import WorkerDied, WorkerPool
from dragon.io.reader import Reader
from dragon.io.transformer import Transformer
