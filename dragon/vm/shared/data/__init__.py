"""The kinds of datasets behind `tf.data.Dataset`; each is imported when a dataset of it is first made."""
import importlib

from dragon.vm.shared.data import kinds

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
KINDS = {
    "sources": ("TensorSlices", "OneElement", "Range", "Counter", "RandomNumbers", "Files", "Listed", "EmptyLike"),
    "generator": ("FromGenerator",),
    "readers": ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"),
    "csv": ("CsvDataset", "make_csv_dataset"),
    "parts": ("Take", "Skip", "Shard", "Repeat", "Concatenate", "Zip", "Enumerate", "WithOptions"),
    "mapping": ("Map", "Filter", "TakeWhile", "FlatMap", "Scan", "Unique", "IgnoreErrors"),
    "interleaving": ("Interleave", "Choose", "sample_from_datasets"),
    "shuffling": ("Shuffle",),
    "batching": ("Batch", "PaddedBatch", "RaggedBatch", "Unbatch", "Rebatch"),
    "grouping": ("Window", "GroupByWindow", "bucket_by_sequence_length", "group_by_reducer"),
    "resampling": ("rejection_resample",),
    "caching": ("Cache",),
    "prefetching": ("Prefetch",),
    "saving": ("save", "Saved"),
    "snapshots": ("Snapshot",),
    "options": ("Options", "ThreadingOptions"),
    "optional": ("Optional", "OptionalSpec"),
    "specs": ("DatasetSpec", "IteratorSpec"),
    "dataset": ("Dataset",),
    "iterator": ("Iterator", "NumpyIterator"),
    "probing": ("make_element",),
}
HOMES = {name: module for module, names in KINDS.items() for name in names}


def __getattr__(name):
    if name not in HOMES:
        raise AttributeError(f"core.data: got {name!r}, expected one of {sorted(HOMES)}")
    value = getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = value
    return value


kinds.find.append(__getattr__)
