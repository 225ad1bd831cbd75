"""The kinds of datasets behind `tf.data.Dataset`; each is imported when a dataset of it is first made."""
from dragon.core.places import look_up
from dragon.vm.shared.data import kinds

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
__getattr__, __dir__ = look_up(globals(), {
    "sources": "TensorSlices OneElement Range Counter RandomNumbers Files Listed EmptyLike",
    "generator": "FromGenerator",
    "readers": "TFRecordDataset TextLineDataset FixedLengthRecordDataset",
    "csv": "CsvDataset make_csv_dataset",
    "parts": "Take Skip Shard Repeat Concatenate Zip Enumerate WithOptions",
    "mapping": "Map Filter TakeWhile FlatMap Scan Unique IgnoreErrors",
    "interleaving": "Interleave Choose sample_from_datasets",
    "shuffling": "Shuffle",
    "batching": "Batch PaddedBatch RaggedBatch Unbatch Rebatch",
    "grouping": "Window GroupByWindow bucket_by_sequence_length group_by_reducer",
    "resampling": "rejection_resample",
    "caching": "Cache",
    "prefetching": "Prefetch",
    "saving": "save Saved",
    "snapshots": "Snapshot",
    "options": "Options ThreadingOptions",
    "optional": "Optional OptionalSpec",
    "specs": "DatasetSpec IteratorSpec",
    "dataset": "Dataset",
    "iterator": "Iterator NumpyIterator",
    "probing": "make_element",
})
kinds.find.append(__getattr__)
