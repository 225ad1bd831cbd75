"""`tf.distribute.coordinator`: who sends functions to workers."""
from dragon.vm.tensorflow.core.servers.coordinator import ClusterCoordinator  # noqa: F401
from dragon.vm.tensorflow.core.servers.values import PerWorkerValues as PerWorkerValue, RemoteValue  # noqa: F401
from dragon.vm.tensorflow.core.servers.worker import experimental_get_current_worker_index  # noqa: F401
