"""`tf.distribute`: strategies of one replica; several devices or machines are not driven yet."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core.flow.strategies import (  # noqa: F401
    InputContext, MirroredStrategy, MultiWorkerMirroredStrategy, OneDeviceStrategy, ParameterServerStrategy, ReduceOp,
    ReplicaContext, Strategy, TPUStrategy,
    experimental_set_strategy, get_replica_context, get_strategy, has_strategy, in_cross_replica_context)

__getattr__, __dir__ = _lookup(globals(), {
    "core.servers": "Server",
    "core.flow.crossing": "CrossDeviceOps DistributedDataset DistributedIterator DistributedValues "
                          "HierarchicalCopyAllReduce InputOptions InputReplicationMode NcclAllReduce "
                          "ReductionToOneDevice RunOptions StrategyExtended",
})
