"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "batching": "Batches Buckets OddSamples PadSamples stack_samples",
    "block": "Arena current_arena",
    "delivery": "ToDevice",
    "draws": "Draws",
    "errors": "DataError",
    "failure": "Failure",
    "flow": "Exhausted Flow",
    "iterator": "Iterator",
    "pool": "NoAnswer WorkerDied WorkerPool",
    "reader": "Reader",
    "source": "Source Stream",
    "team": "Team",
    "transformer": "Transformer",
})
