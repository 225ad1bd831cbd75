"""`tf.data`: pipelines of elements on their way to a model."""
from dragon.vm.guest import lookup

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

__getattr__, __dir__ = lookup(globals(), {
    "core.data.dataset": "Dataset",
    "core.data.specs": "DatasetSpec IteratorSpec",
    "core.data.iterator": "Iterator NumpyIterator",
    "core.data.options": "Options ThreadingOptions",
    "core.data.readers": "TFRecordDataset TextLineDataset FixedLengthRecordDataset",
})
