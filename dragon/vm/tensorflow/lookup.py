"""`tf.lookup`: tables from keys to values, on the host."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core.tables import (  # noqa: F401
    KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer)

__getattr__, __dir__ = _lookup(globals(), {"core.tables": "experimental"})
