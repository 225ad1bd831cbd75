"""`tf.distribute.experimental.partitioners`: how many servers the rows of a variable are shared out among."""
from dragon.vm.tensorflow.core.servers.partitioners import (  # noqa: F401
    FixedShardsPartitioner, MaxSizePartitioner, MinSizePartitioner, Partitioner)
