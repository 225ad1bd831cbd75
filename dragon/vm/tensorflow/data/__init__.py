"""`tf.data`: pipelines of elements on their way to a model."""
from dragon.vm.guest import lookup
from dragon.vm.shared.data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__getattr__, __dir__ = lookup(globals(), {
    "dragon.vm.shared.data.dataset": "Dataset",
    "dragon.vm.shared.data.specs": "DatasetSpec IteratorSpec",
    "dragon.vm.shared.data.iterator": "Iterator NumpyIterator",
    "dragon.vm.shared.data.options": "Options ThreadingOptions",
    "dragon.vm.shared.data.readers": "TFRecordDataset TextLineDataset FixedLengthRecordDataset",
})
