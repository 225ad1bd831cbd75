"""Data in: readers yield samples, transformers change them in worker processes, iterators make batches of them."""
import importlib

KINDS = {
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
}
HOMES = {name: module for module, names in KINDS.items() for name in names.split()}


def __getattr__(name):
    if name not in HOMES:
        raise AttributeError(f"dragon.io: got {name!r}, expected one of {sorted(HOMES)}")
    value = getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *HOMES})
