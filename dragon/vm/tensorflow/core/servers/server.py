"""`tf.distribute.Server`: a process that keeps variables, and runs functions that a coordinator sends."""
import threading

from dragon.distributed.serving.service import Service
from dragon.distributed.serving.shelf import Shelf
from dragon.vm.tensorflow.core.cluster import ClusterSpec

_serving = []  # servers go on whether a program holds them or not


class _Guest:
    """Who has connected: a coordinator, or a worker that asks for variables."""

    def __init__(self, server):
        self._server, self._session, self._is_owner, self._worker = server, None, False, None

    def begin(self, session, is_owner):
        """Say whose variables are meant, and whether they shall be forgotten when this connection ends."""
        self._session, self._is_owner = session, is_owner
        self._shelf = self._server._shelf(session)

    def make(self, key, array):
        """Keep a new value."""
        return self._shelf.make(key, array)

    def drop(self, keys):
        """Keep some values no longer."""
        self._shelf.drop(keys)

    def pull(self, known):
        """Return what is newer."""
        return self._shelf.pull(known)

    def push(self, writes):
        """Write values."""
        return self._shelf.push(writes)

    def employ(self, number, servers, facts):
        """Begin to run functions.

        Parameters
        ----------
        number : int
            Which worker this is.
        servers : List[str]
            The addresses of those that keep variables.
        facts : dict
            What the strategy is told here.

        """
        from dragon.vm.tensorflow.core.servers.worker import Worker
        self._worker = Worker(self._session, number, servers, facts)

    def define(self, kind, number, data):
        """Take a function, or what makes a value of this worker's own."""
        self._worker.define(kind, number, data)

    def run(self, function, data):
        """Run a function; returns what it returned."""
        return self._worker.run(function, data)

    def _close(self):
        if self._worker is not None:
            self._worker.close()
        if self._is_owner:
            self._server._forget(self._session)


class Server:
    """Serve a task of a cluster: keep variables, or run functions.

    Parameters
    ----------
    server_or_cluster_def : Union[ServerDef, ClusterDef, ClusterSpec, dict]
        The cluster.
    job_name : str, optional
        The task's job; the cluster's only one by default.
    task_index : int, optional
        Its number; 0 where the job has one task.
    protocol : str, optional, default="grpc"
        The only one, by its name in TensorFlow; a protocol of Dragon's own it is.
    config : ConfigProto, optional
        Accepted.
    start : bool, optional, default=True
        Whether to serve at once.

    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        told = server_or_cluster_def
        if hasattr(told, "job_name") and hasattr(told, "cluster"):  # a ServerDef
            job_name, task_index = job_name or told.job_name, told.task_index if task_index is None else task_index
            protocol, told = protocol or told.protocol or None, told.cluster
        if protocol not in (None, "grpc"):
            raise NotImplementedError(f"tf.distribute.Server: got protocol={protocol!r}, expected 'grpc'")
        self._cluster = ClusterSpec(told)
        jobs = self._cluster.jobs
        if job_name is None:
            if len(jobs) != 1:
                raise ValueError(f"tf.distribute.Server: got no job_name for the jobs {sorted(jobs)}, expected one")
            job_name = jobs[0]
        if task_index is None:
            indices = self._cluster.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError(f"tf.distribute.Server: got no task_index for the tasks {indices} of {job_name!r}, "
                                 "expected one")
            task_index = indices[0]
        self._job, self._index = job_name, int(task_index)
        self._address = self._cluster.task_address(job_name, self._index)
        self._shelves, self._lock, self._service = {}, threading.Lock(), None
        if start:
            self.start()

    target = property(lambda self: f"grpc://{self._address}", doc="str: where it serves.")

    @property
    def server_def(self):
        """ServerDef: the cluster, and which task this is."""
        from dragon.vm.tensorflow.core.cluster import ServerDef
        return ServerDef(cluster=self._cluster.as_cluster_def(), job_name=self._job, task_index=self._index,
                         protocol="grpc")

    @staticmethod
    def create_local_server(config=None, start=True):
        """Return a server of one task, "local" 0, at a free port.

        Parameters
        ----------
        config : ConfigProto, optional
            Accepted.
        start : bool, optional, default=True
            Whether to serve at once.

        """
        return Server({"local": [f"localhost:{free_ports(1)[0]}"]}, config=config, start=start)

    def start(self):
        """Begin to serve."""
        if self._service is None:
            self._service = Service(self._address, lambda: _Guest(self))
            _serving.append(self)

    def join(self):
        """Wait until the server is stopped: for ever."""
        self.start()
        while not self._service.ended.wait(3600.0):
            pass

    def _stop(self):
        """Serve no more, as if the process had ended."""
        if self._service is not None:
            self._service.close()
            _serving.remove(self)
            self._service = None

    def _shelf(self, session):
        with self._lock:
            return self._shelves.setdefault(session, Shelf())

    def _forget(self, session):
        with self._lock:
            self._shelves.pop(session, None)

    def __repr__(self):
        return f"<tf.distribute.Server /job:{self._job}/task:{self._index} at {self._address}>"


def free_ports(count):
    """Return ports that nobody listens on."""
    import socket
    sockets = [socket.socket() for _ in range(count)]
    try:
        for found in sockets:
            found.bind(("127.0.0.1", 0))
        return [found.getsockname()[1] for found in sockets]
    finally:
        for found in sockets:
            found.close()


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """Return servers of this process: (workers, those that keep variables).

    Parameters
    ----------
    num_workers, num_ps : int
        How many of which kind.
    protocol : str, optional, default="grpc"
        See `tf.distribute.Server`.
    worker_config, ps_config : ConfigProto, optional
        Accepted.

    """
    addresses = [f"localhost:{port}" for port in free_ports(num_workers + num_ps)]
    cluster = {"worker": addresses[:num_workers], "ps": addresses[num_workers:]}
    cluster = ClusterSpec({job: tasks for job, tasks in cluster.items() if tasks})
    return ([Server(cluster, "worker", index, protocol, worker_config) for index in range(num_workers)],
            [Server(cluster, "ps", index, protocol, ps_config) for index in range(num_ps)])
