"""`tf.distribute`: strategies of one replica; several devices or machines are not driven yet."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr
from dragon.vm.tensorflow.core.strategies import (  # noqa: F401
    InputContext, MirroredStrategy, OneDeviceStrategy, ReduceOp, ReplicaContext, Strategy, get_replica_context,
    get_strategy, has_strategy, in_cross_replica_context)

__getattr__ = _module_getattr("tensorflow.distribute", globals())
