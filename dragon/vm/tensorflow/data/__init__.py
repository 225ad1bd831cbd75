"""`tf.data`: pipelines of elements on their way to a model."""
from dragon.vm.tensorflow.core.missing import module_getattr

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

_HOME = "dragon.vm.tensorflow.core.data"
_places = {name: f"{_HOME}.{module}:{name}" for module, names in {
    "dataset": ("Dataset",),
    "specs": ("DatasetSpec", "IteratorSpec"),
    "iterator": ("Iterator", "NumpyIterator"),
    "options": ("Options", "ThreadingOptions"),
    "readers": ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"),
}.items() for name in names}
__getattr__ = module_getattr("tensorflow.data", globals(), _places, ("experimental",))


def __dir__():
    return sorted({*globals(), *_places, "experimental"})
