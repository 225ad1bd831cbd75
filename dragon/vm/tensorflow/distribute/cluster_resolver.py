"""`tf.distribute.cluster_resolver`: who tells which processes there are."""
from dragon.vm.tensorflow.core.resolvers import (  # noqa: F401
    ClusterResolver, SimpleClusterResolver, TFConfigClusterResolver, TPUClusterResolver, UnionResolver)
