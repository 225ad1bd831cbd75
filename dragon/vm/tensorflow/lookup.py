"""`tf.lookup`: tables from keys to values, on the host."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr
from dragon.vm.tensorflow.core.tables import (  # noqa: F401
    KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer)

__getattr__ = _module_getattr("tensorflow.lookup", globals(), {
    "experimental": "dragon.vm.tensorflow.core.tables:experimental"})
