"""Who tells which processes there are."""
import json
import os

from dragon.vm.tensorflow.core.cluster import ClusterSpec


class ClusterResolver:
    """The base of what tells a cluster's processes, and which of them this one is."""

    task_type = task_id = rpc_layer = None
    environment = ""

    def cluster_spec(self):
        """Return the ClusterSpec; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}.cluster_spec: got a call, expected a class that defines it")

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """Return the address of a task; "" where none is named."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        return _with_layer(self.cluster_spec().task_address(kind, number), rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """Return how many devices other than CPUs this process has, by their kinds."""
        from dragon.vm.shared.tensors.devices import list_logical_devices
        kinds = [device.device_type for device in list_logical_devices() if device.device_type != "CPU"]
        return {kind: kinds.count(kind) for kind in kinds}


def _with_layer(address, layer):
    return f"{layer}://{address}" if layer and address else address


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program tells itself.

    Parameters
    ----------
    cluster_spec : ClusterSpec
        The processes.
    master : str, optional, default=""
        The address that `master` returns.
    task_type : str, optional
        The job of this process.
    task_id : int, optional
        Its number there.
    environment : str, optional, default=""
        Where it runs: "" or "google".
    num_accelerators : Dict[str, int], optional
        How many devices each process has, by kind.
    rpc_layer : str, optional
        What comes before addresses.

    """

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
                 rpc_layer=None):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._spec, self._master, self._accelerators = cluster_spec, master, num_accelerators
        self.task_type, self.task_id, self.environment, self.rpc_layer = task_type, task_id, environment, rpc_layer

    def cluster_spec(self):
        """Return the ClusterSpec."""
        return self._spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """Return the address of a task, or the one that was told."""
        if task_type is None or task_id is None:
            return _with_layer(self._master, rpc_layer or self.rpc_layer)
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """Return what was told, or how many devices other than CPUs this process has."""
        return self._accelerators or super().num_accelerators(task_type, task_id, config_proto)


class TFConfigClusterResolver(ClusterResolver):
    """A cluster that the environment variable `TF_CONFIG` tells.

    Parameters
    ----------
    task_type, task_id : optional
        The job and number of this process, in place of what is told.
    rpc_layer : str, optional
        What comes before addresses; told, or "grpc".
    environment : str, optional
        Where it runs.

    """

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        config = self._config()
        task = config.get("task", {})
        self.task_type = task.get("type") if task_type is None else str(task_type)
        number = task.get("index") if task_id is None else task_id
        self.task_id = None if number is None else int(number)
        self.rpc_layer = rpc_layer or config.get("rpc_layer", "grpc")
        self.environment = environment or config.get("environment", "")

    @staticmethod
    def _config():
        try:
            return json.loads(os.environ.get("TF_CONFIG") or "{}")
        except ValueError as error:
            raise ValueError(f"TF_CONFIG: got {os.environ['TF_CONFIG']!r}, expected JSON ({error})") from None

    def cluster_spec(self):
        """Return the ClusterSpec; an empty one where none is told."""
        return ClusterSpec(self._config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """Return the address of a task; "" where there is one process or none."""
        if sum(self.cluster_spec().num_tasks(job) for job in self.cluster_spec().jobs) < 2:
            return ""
        return super().master(task_type, task_id, rpc_layer)


class TPUClusterResolver(ClusterResolver):
    """A cluster of TPUs, of which there are none here.

    Parameters
    ----------
    tpu : str, optional
        Its name.
    *args, **kwargs : Any
        Where to look for it.

    """

    def __init__(self, tpu=None, *args, **kwargs):
        raise ValueError(f"tf.distribute.cluster_resolver.TPUClusterResolver: got {tpu!r}, expected a TPU; there is "
                         "none here. Please provide a TPU Name to connect to.")


class UnionResolver(ClusterResolver):
    """The clusters of several resolvers as one.

    Parameters
    ----------
    *args : ClusterResolver
        Who tells them; the first one also tells which process this is.
    **kwargs : Any
        `task_type`, `task_id`, `environment` and `rpc_layer`, in place of what the first one tells.

    """

    def __init__(self, *args, **kwargs):
        unknown = sorted(set(kwargs) - {"task_type", "task_id", "environment", "rpc_layer"})
        if unknown:
            raise ValueError(f"Unexpected kwargs provided {unknown!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args
        for name in ("task_type", "task_id", "environment", "rpc_layer"):
            setattr(self, name, kwargs.get(name, getattr(args[0], name)))

    def cluster_spec(self):
        """Return the ClusterSpec of all; jobs that several tell have the tasks of all of them."""
        jobs = {}
        for resolver in self._resolvers:
            spec = resolver.cluster_spec()
            for job in spec.jobs:
                tasks = jobs.setdefault(job, [])
                tasks += [address for address in spec.job_tasks(job) if address not in tasks]
        return ClusterSpec(jobs)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """Return the address of a task, or the one that the first resolver tells."""
        if task_type is None or task_id is None:
            return self._resolvers[0].master(rpc_layer=rpc_layer)
        return super().master(task_type, task_id, rpc_layer)
