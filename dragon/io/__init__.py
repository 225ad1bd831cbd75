"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
import importlib

PLACES = {
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
}
HOMES = {name: module for module, names in PLACES.items() for name in names.split()}


def __getattr__(name):
    if name not in HOMES:
        raise AttributeError(f"dragon.io: got {name!r}, expected one of {sorted(HOMES)}")
    value = getattr(importlib.import_module(HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *HOMES})
