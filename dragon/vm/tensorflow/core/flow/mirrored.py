"""Strategies in which every replica has the same variables: on several devices, and in several processes."""
from dragon.vm.keras.core.workers import Workers
from dragon.vm.shared.tensors.device import parse_device
from dragon.vm.shared.tensors.devices import list_logical_devices
from dragon.vm.tensorflow.core.flow.spread import SpreadStrategy
from dragon.vm.tensorflow.core.flow.workers import told


def _named(who, devices, job="/job:localhost/replica:0/task:0"):
    """Return the full names of devices, checked; all GPUs without any, or else all CPUs."""
    if not devices:
        devices = [device.name for device in list_logical_devices("GPU") or list_logical_devices("CPU")]
    names = []
    for name in devices:
        place = parse_device(name)
        if place is None:
            raise ValueError(f"{who}: got the device {name!r}, expected a name such as '/cpu:0'")
        names.append(f"{job}/device:{'GPU' if place.type == 'cuda' else place.type.upper()}:{place.index}")
    if len(set(names)) < len(names):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {tuple(names)}")
    return names


class MirroredStrategy(SpreadStrategy):
    """A replica on each device of this process; they take turns, and have variables in common, or copies of them.

    Parameters
    ----------
    devices : Sequence[str], optional
        Their names; by default all GPUs, or else all CPUs that `tf.config.set_logical_device_configuration` made.
    cross_device_ops : CrossDeviceOps, optional
        How values are joined.

    """

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__(_named("tf.distribute.MirroredStrategy", devices), None, cross_device_ops)


class CentralStorageStrategy(MirroredStrategy):
    """A replica on each device, with the variables in one place, which in this process they are anyway.

    Parameters
    ----------
    compute_devices : Sequence[str], optional
        The devices of the replicas; as `MirroredStrategy` has them by default.
    parameter_device : str, optional
        Where the variables are; it must be one of this process's devices.

    """

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(compute_devices)
        who = "tf.distribute.experimental.CentralStorageStrategy"
        if parameter_device is not None:
            self._device = _named(who, [parameter_device])[0]
            self._device = self._device[self._device.rindex("/device:"):]
        self._parameter_device = parameter_device or (
            self._names[0] if len(list_logical_devices("GPU")) == 1 else "/cpu:0")

    parameter_devices = property(lambda self: (self._parameter_device,), doc="Tuple[str]: where the variables are.")


class MultiWorkerMirroredStrategy(SpreadStrategy):
    """Replicas in each of several processes of this machine, which share memory.

    Parameters
    ----------
    cluster_resolver : ClusterResolver, optional
        Which processes there are; by default those that the environment variable `TF_CONFIG` tells. The address of
        the first one is where they meet.
    communication_options : CommunicationOptions, optional
        Accepted: there is one way.

    """

    def __init__(self, cluster_resolver=None, communication_options=None):
        addresses, index, kind = told(cluster_resolver)
        self._resolver, self._task = cluster_resolver, (kind, index)
        job = f"/job:{kind or 'localhost'}/replica:0/task:{index}"
        super().__init__(_named("tf.distribute.MultiWorkerMirroredStrategy", None, job), Workers(addresses, index))

    @property
    def cluster_resolver(self):
        """Optional[ClusterResolver]: what tells the processes."""
        if self._resolver is None and self._task[0] is not None:
            from dragon.vm.tensorflow.core.resolvers import TFConfigClusterResolver
            self._resolver = TFConfigClusterResolver()
        return self._resolver

    should_checkpoint = property(lambda self: self.worker_index == 0,
                                 doc="bool: whether this process writes checkpoints.")
    should_save_summary = property(lambda self: self.worker_index == 0,
                                   doc="bool: whether this process writes summaries.")

    def _in_multi_worker_mode(self):
        """Return whether there are other processes."""
        return self.worker_count > 1
