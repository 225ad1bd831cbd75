"""`tf.version`: which TensorFlow's behaviour this is."""

VERSION = "2.21.0"
GIT_VERSION = "dragon"
COMPILER_VERSION = "dragon"
GRAPH_DEF_VERSION = 2350
GRAPH_DEF_VERSION_MIN_CONSUMER = GRAPH_DEF_VERSION_MIN_PRODUCER = 0
