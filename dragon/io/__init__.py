"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "dragon.io.batching": "Batches Buckets OddSamples PadSamples stack_samples",
    "dragon.io.block": "Arena current_arena",
    "dragon.io.delivery": "ToDevice",
    "dragon.io.draws": "Draws",
    "dragon.io.errors": "DataError",
    "dragon.io.failure": "Failure",
    "dragon.io.flow": "Exhausted Flow",
    "dragon.io.iterator": "Iterator",
    "dragon.io.pool": "NoAnswer WorkerDied WorkerPool",
    "dragon.io.reader": "Reader",
    "dragon.io.source": "Source Stream",
    "dragon.io.team": "Team",
    "dragon.io.transformer": "Transformer",
})
