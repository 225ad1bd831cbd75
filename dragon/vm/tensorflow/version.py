"""`tf.version`: which TensorFlow's behaviour this is."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

VERSION = "2.21.0"
GIT_VERSION = "dragon"
COMPILER_VERSION = "dragon"
GRAPH_DEF_VERSION = 2350
GRAPH_DEF_VERSION_MIN_CONSUMER = GRAPH_DEF_VERSION_MIN_PRODUCER = 0
__getattr__ = _module_getattr("tensorflow.version", globals())
