"""`tf.distribute.experimental.coordinator`: older names of `tf.distribute.coordinator`."""
from dragon.vm.tensorflow.core.servers.coordinator import ClusterCoordinator  # noqa: F401
from dragon.vm.tensorflow.core.servers.values import PerWorkerValues, RemoteValue  # noqa: F401
