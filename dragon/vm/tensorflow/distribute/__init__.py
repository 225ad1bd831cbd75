"""`tf.distribute`: strategies of one replica; several devices or machines are not driven yet."""
from dragon.vm.tensorflow.core.flow.strategies import (  # noqa: F401
    InputContext, MirroredStrategy, OneDeviceStrategy, ReduceOp, ReplicaContext, Strategy, TPUStrategy,
    get_replica_context, get_strategy, has_strategy, in_cross_replica_context)
