"""`tf.distribute`: strategies of one replica, of several in this process, and of several processes of this machine."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core.flow.strategies import (  # noqa: F401
    InputContext, OneDeviceStrategy, ReduceOp, ReplicaContext, Strategy, TPUStrategy,
    experimental_set_strategy, get_replica_context, get_strategy, has_strategy, in_cross_replica_context)

__getattr__, __dir__ = _lookup(globals(), {
    "core.servers.server": "Server",
    "core.servers.strategy": "ParameterServerStrategy",
    "core.flow.mirrored": "MirroredStrategy MultiWorkerMirroredStrategy",
    "core.flow.crossing": "CrossDeviceOps DistributedDataset DistributedIterator DistributedValues "
                          "HierarchicalCopyAllReduce InputOptions InputReplicationMode NcclAllReduce "
                          "ReductionToOneDevice RunOptions StrategyExtended",
})
