"""`tf.distribute.ParameterServerStrategy`: variables on servers, functions on workers."""
import contextlib
import uuid

from dragon.core.scopes import contextmanager
from dragon.distributed.serving.link import Link, LinkError
from dragon.vm.shared import errors, nest, strategies
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.variable import variable_creator_scope
from dragon.vm.tensorflow.core.flow import strategies as flow
from dragon.vm.tensorflow.core.servers.copies import Copies, Shard

WHO = "tf.distribute.ParameterServerStrategy"
JOBS = ("chief", "worker", "ps", "evaluator")
PATIENCE_SECONDS = 300.0  # with servers that are not there yet


class ParameterServerStrategy(flow.Strategy):
    """Variables that servers keep, and functions that workers run; `ClusterCoordinator` sends these.

    Parameters
    ----------
    cluster_resolver : ClusterResolver
        Which processes there are: at least one "worker" and one "ps". This one is the "chief".
    variable_partitioner : Callable, optional
        Told the shape and dtype of a new variable, returns how many parts each axis is cut into; the first one can be.

    """

    is_elsewhere, is_served = True, True  # models remember it, and their steps are sent

    def __init__(self, cluster_resolver, variable_partitioner=None):
        super().__init__()
        cluster = _checked(cluster_resolver)
        self._resolver, self._partitioner = cluster_resolver, variable_partitioner
        self._servers, self._worker_addresses = (
            [cluster.task_address(job, index) for index in cluster.task_indices(job)] for job in ("ps", "worker"))
        self._session, self._turn, self._failed = uuid.uuid4().hex, 0, None
        self._links = {}
        self.copies, self._coordinator, self._dirty = Copies(self._ask), None, set()
        for task in range(len(self._servers)):
            self._ask(task, "pull", {})
        strategies.writers.append(self._note_write)

    @classmethod
    def _of_worker(cls, copies, servers, workers):
        """Return what stands for the strategy where functions run."""
        self = object.__new__(cls)
        flow.Strategy.__init__(self)
        self._resolver = self._partitioner = self._coordinator = None
        self.copies, self._servers, self._worker_addresses = copies, servers, workers
        self._dirty = set()
        return self

    cluster_resolver = property(lambda self: self._resolver, doc="ClusterResolver: what tells the processes.")
    _num_workers = property(lambda self: len(self._worker_addresses), doc="int: how many workers there are.")
    _num_ps = property(lambda self: len(self._servers), doc="int: how many servers keep variables.")

    @property
    def coordinator(self):
        """ClusterCoordinator: who sends functions to the workers."""
        from dragon.vm.tensorflow.core.servers.coordinator import ClusterCoordinator
        return ClusterCoordinator(self)

    def _in_multi_worker_mode(self):
        """Return whether there are other processes."""
        return False

    def _facts(self):
        """Return what stands for the strategy where functions run is told."""
        return {"servers": self._servers, "workers": self._worker_addresses}

    # --- servers

    def _ask(self, task, action, *args):
        """Return what a server answers."""
        name = f"/job:ps/replica:0/task:{task}"
        if self._failed is not None:
            raise self._failed
        try:
            if task not in self._links:
                link = Link(self._servers[task], name, PATIENCE_SECONDS)
                link.ask("begin", self._session, True)
                self._links[task] = link
            return self._links[task].ask(action, *args)
        except LinkError as error:
            raise self._fail(error) from None

    def _fail(self, error):
        """Note that a server has gone, with its variables; return the error that tells it."""
        self._failed = errors.UnavailableError(None, None, (
            f"{WHO}: got no answer of {error.name} ({error.reason}), expected its process, which keeps variables; "
            "start the program anew, from a checkpoint"))
        return self._failed

    # --- variables

    def _parts_of(self, shape, dtype):
        """Return how many parts the rows of a variable are cut into."""
        if self._partitioner is None or not len(shape):
            return 1
        parts = list(self._partitioner(shape=TensorShape(shape), dtype=dtype))
        if not parts or len(parts) != len(shape):
            raise ValueError("variable_partitioner must return a list/tuple of the same length as the shape. "
                             f"Received: {parts} for the shape {tuple(shape)}")
        if any(count != 1 for count in parts[1:]):
            raise ValueError("All dimensions except the first must have one partition: only the first axis can be cut. "
                             f"Received: {parts} for the shape {tuple(shape)}")
        return int(parts[0])

    def _note(self, variable):
        """Have servers keep a new variable."""
        array = host_array(variable)
        count = self._parts_of(array.shape, getattr(variable, "_dtype", None) or variable.dtype)
        if count == 1:
            shards = [Shard(self._next_server())]
        else:
            small, more = divmod(array.shape[0], count)
            sizes = [small + (part < more) for part in range(count)]
            starts = [sum(sizes[:part]) for part in range(count)]
            shards = [Shard(self._next_server(), start, start + size) for start, size in zip(starts, sizes)]
        self.copies.make(variable, shards)

    def _next_server(self):
        self._turn += 1
        return (self._turn - 1) % len(self._servers)

    def _note_write(self, variable):
        """Remember that this process has written into a variable."""
        number = self.copies.number_of(variable)
        if number is not None:
            self._dirty.add(number)

    def _send_writes(self):
        """Send what this process has written into variables as far as it was told."""
        dirty, self._dirty = self._dirty, set()
        if dirty:
            self.copies.push(sorted(dirty), dirty)

    def _catch_up(self):
        """Bring the variables of this process up to date."""
        self._send_writes()
        self.copies.push()  # what graphs have written is told by nobody
        self.copies.pull()
        self._dirty.clear()

    def _create(self, next_creator, **given):
        """Make a variable in parts where the partitioner says so."""
        from dragon.vm.tensorflow.core.servers.sharded import ShardedVariable, first_value
        if self._partitioner is None:
            return next_creator(**given)
        given["initial_value"] = value = first_value(given["initial_value"], given["dtype"])
        if hasattr(value, "dtype") and self._parts_of(tuple(value.shape), value.dtype) > 1:
            return ShardedVariable(**given)
        return next_creator(**given)

    def variable_created_in_scope(self, v):
        """Return whether a variable is one that servers keep."""
        return self.copies.number_of(v) is not None

    # --- running

    @contextmanager
    def scope(self):
        """Use the strategy within a `with` block: variables that are made there are kept on servers."""
        before = strategies.local.watcher
        is_here = self._resolver is not None and not getattr(flow._local, "rehearsing", False)
        if is_here:
            strategies.local.watcher = self._note
        try:
            with super().scope(), variable_creator_scope(self._create) if is_here else contextlib.nullcontext():
                yield self
        finally:
            strategies.local.watcher = before

    @contextmanager
    def _running(self, watcher_within=None):
        """Have a function run as one that was scheduled does; who watches new variables is told of them."""
        before, flow._local.strategy = getattr(flow._local, "strategy", None), self
        watcher, strategies.local.watcher = strategies.local.watcher, watcher_within
        try:
            with flow._context(None):
                yield
        finally:
            flow._local.strategy, strategies.local.watcher = before, watcher

    def experimental_local_results(self, value):
        """Return the value in a tuple: a worker has one replica."""
        return (value,)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """Return what a function makes of an InputContext: each worker reads by itself."""
        return dataset_fn(flow.InputContext())

    def reduce(self, reduce_op, value, axis=None):
        """Return the one replica's value, or its sum or mean along an axis."""
        return nest.map_structure(lambda item: super(ParameterServerStrategy, self).reduce(reduce_op, item, axis),
                                  value)


def _checked(resolver):
    """Return the cluster that a resolver tells, or say what is wrong with it."""
    cluster = resolver.cluster_spec()
    if not cluster:
        raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
    unknown = [job for job in cluster.jobs if job not in JOBS]
    if unknown:
        raise ValueError(f"{WHO}: got the jobs {unknown}, expected some of {list(JOBS)}")
    if resolver.task_type is not None and resolver.task_type not in JOBS:
        raise ValueError(f"Unrecognized task_type: {resolver.task_type!r}, valid task types are: {list(JOBS)}")
    if "chief" in cluster.jobs and cluster.num_tasks("chief") > 1:
        raise ValueError("There must be at most one 'chief' job.")
    for job in ("ps", "worker"):
        if job not in cluster.jobs or cluster.num_tasks(job) < 1:
            raise ValueError(f"There must be at least one {job}.")
    if resolver.task_type in ("ps", "worker"):
        raise ValueError(f"{WHO}: got the task {resolver.task_type!r} {resolver.task_id}, expected the chief: workers "
                         "and servers run `tf.distribute.Server(...).join()`")
    return cluster
