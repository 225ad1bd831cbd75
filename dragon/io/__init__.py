"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
from dragon.io.batching import Batches, Buckets, OddSamples, PadSamples, stack_samples
from dragon.io.block import Arena, current_arena
from dragon.io.delivery import ToDevice
from dragon.io.draws import Draws
from dragon.io.errors import DataError
from dragon.io.failure import Failure
from dragon.io.flow import Exhausted, Flow
from dragon.io.iterator import Iterator
from dragon.io.pool import NoAnswer, WorkerDied, WorkerPool
from dragon.io.reader import Reader
from dragon.io.team import Team
from dragon.io.transformer import Transformer
