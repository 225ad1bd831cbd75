"""Strategies of distribution: what they share, and those of one replica; `spread.py` has those of several."""
import contextlib
import enum
import threading

from dragon.core.scopes import contextmanager
from dragon.vm.shared import nest, strategies
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.device import parse_device
from dragon.vm.shared.tensors.devices import device, engine_device
from dragon.vm.shared.tensors.placing import usual_device

_local = threading.local()


class ReduceOp(enum.Enum):
    """The ways of making one value of those of replicas."""

    SUM = "SUM"
    MEAN = "MEAN"


class InputContext:
    """The part of the input that is read here.

    Parameters
    ----------
    num_input_pipelines, input_pipeline_id, num_replicas_in_sync : int, optional
        How many read, which one this is, and how many replicas there are.

    """

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines, self.input_pipeline_id = num_input_pipelines, input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """Return a replica's part of a batch."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(f"The global batch size {global_batch_size} is not divisible by the number of replicas "
                             f"{self.num_replicas_in_sync}")
        return global_batch_size // self.num_replicas_in_sync


class ValueContext:
    """What `experimental_distribute_values_from_function` tells of a replica.

    Parameters
    ----------
    replica_id_in_sync_group : int, optional, default=0
        Which one it is.
    num_replicas_in_sync : int, optional, default=1
        How many there are.

    """

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self._number, self._count = replica_id_in_sync_group, num_replicas_in_sync

    replica_id_in_sync_group = property(lambda self: self._number, doc="int: which replica it is.")
    num_replicas_in_sync = property(lambda self: self._count, doc="int: how many replicas there are.")

    def __repr__(self):
        return f"tf.distribute.ValueContext(replica id {self._number},  total replicas in sync: {self._count})"


class ReplicaContext:
    """The place where a replica's code runs.

    Parameters
    ----------
    strategy : Strategy
        The strategy.
    replica_id_in_sync_group : int, optional, default=0
        Which replica it is.

    """

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self.strategy, self.replica_id_in_sync_group = strategy, replica_id_in_sync_group

    num_replicas_in_sync = property(lambda self: self.strategy.num_replicas_in_sync,
                                    doc="int: how many replicas there are.")

    @property
    def devices(self):
        """List[str]: the device of this replica."""
        replica = strategies.local.replica
        return [self.strategy.worker_devices[0 if replica is None else replica.number]]

    def all_reduce(self, reduce_op, value, options=None):
        """Return the sum or mean of all replicas' values; gradients are joined in the same way."""
        kind = reduce_op_of(reduce_op, "all_reduce")
        if strategies.local.replica is None:
            return value
        from dragon.vm.shared.replicas.meetings import all_reduce
        return all_reduce("sum" if kind is ReduceOp.SUM else "mean", value)

    def all_gather(self, value, axis, options=None):
        """Return all replicas' values one after the other."""
        if strategies.local.replica is None:
            return value
        from dragon.vm.tensorflow.core.flow.meetings import all_gather
        return all_gather(self.strategy, value, axis)

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Call a function, once, with the values of all replicas, and return what it returns for this one."""
        if strategies.local.replica is None:
            with _context(None):
                return merge_fn(self.strategy, *args, **(kwargs or {}))
        from dragon.vm.tensorflow.core.flow.meetings import merge_call
        return merge_call(self.strategy, merge_fn, args, kwargs or {}, _context)


def reduce_op_of(value, who):
    """Return a way of joining values by its name, or raise a ValueError that says who asked."""
    try:
        return value if isinstance(value, ReduceOp) else ReduceOp(str(value).upper())
    except ValueError:
        raise ValueError(f"{who}: got reduce_op={value!r}, expected 'sum' or 'mean'") from None


@contextmanager
def _context(context):
    """Have code run as a replica's, or with None as that of all."""
    before = getattr(_local, "context", "default")
    _local.context = context
    try:
        yield context
    finally:
        _local.context = before


class Strategy:
    """The way in which computing is spread: over one replica.

    Parameters
    ----------
    extended : Any, optional
        Must be None.

    """

    def __init__(self, extended=None):
        if extended is not None:
            raise NotImplementedError(f"tf.distribute.Strategy: extended is not supported. Received: {extended!r}")
        self._device = None

    is_spread = False  # whether there are several replicas
    is_elsewhere = property(lambda self: self._device is not None and engine_device(self._device) != usual_device(),
                            doc="bool: whether its device is not the one where all runs anyway.")
    num_replicas_in_sync = property(lambda self: 1, doc="int: how many replicas there are.")
    cluster_resolver = property(lambda self: None, doc="None: there is one machine.")
    extended = property(lambda self: self, doc="Strategy: itself.")
    should_checkpoint = property(lambda self: True, doc="bool: whether this process writes checkpoints.")
    should_save_summary = property(lambda self: True, doc="bool: whether this process writes summaries.")
    worker_devices = property(lambda self: (str(parse_device(self._device) or usual_device()),),
                              doc="Tuple[str]: the device.")

    parameter_devices = worker_devices
    experimental_require_static_shapes = property(lambda self: False, doc="bool: whether sizes may not vary.")

    def variable_created_in_scope(self, v):
        """Return True: all variables are the one replica's."""
        return True

    def value_container(self, value):
        """Return the value itself, which is all replicas'."""
        return value

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """Return the sum or mean of the replicas' values at a place: the value."""
        reduce_op_of(reduce_op, "reduce_to")
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """Return the sums or means of several values at their places: the values."""
        return [self.reduce_to(reduce_op, value, place) for value, place in value_destination_pairs]

    def colocate_vars_with(self, colocate_with_variable):
        """Return a context in which variables are where another one is: there is one device."""
        return contextlib.nullcontext()

    def _in_multi_worker_mode(self):
        """Return False: libraries ask so whether there are other machines."""
        return False

    @contextmanager
    def scope(self):
        """Use the strategy within a `with` block."""
        before = getattr(_local, "strategy", None)
        _local.strategy = self
        try:
            with _context(None), device(self._device or ""):
                yield self
        finally:
            _local.strategy = before

    def run(self, fn, args=(), kwargs=None, options=None):
        """Call a function on the replica; returns what it returns."""
        before = getattr(_local, "strategy", None)
        _local.strategy = self
        try:
            with _context(ReplicaContext(self)), device(self._device or ""):
                return fn(*args, **(kwargs or {}))
        finally:
            _local.strategy = before

    def reduce(self, reduce_op, value, axis=None):
        """Return the sum or mean of the replicas' values, and along an axis if one is named."""
        kind = reduce_op_of(reduce_op, "reduce")
        value = nest.map_structure(convert_to_tensor, value)
        if axis is None:
            return value
        run = ops.sum if kind is ReduceOp.SUM else ops.mean
        return nest.map_structure(lambda item: run(item, axis), value)

    def gather(self, value, axis):
        """Return the replicas' values one after the other."""
        return convert_to_tensor(value)

    def experimental_local_results(self, value):
        """Return the replicas' values as a tuple."""
        return (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """Return the dataset, all of which the replica sees."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """Return what a function makes of an InputContext."""
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn):
        """Return what a function makes of the replica's number."""
        return value_fn(ValueContext())

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Call a function with a variable."""
        return fn(var, *args, **(kwargs or {}))

    # --- older names, and those of libraries

    def experimental_distribute_datasets_from_function(self, dataset_fn, options=None):
        """Return the same as `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def unwrap(self, value):
        """Return the same as `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value, name=None):
        """Return a value: what was to be done has been done."""
        return value

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Return the same as `run`."""
        return self.run(fn, args, kwargs)

    def broadcast_to(self, tensor, destinations):
        """Return a value, which all replicas see."""
        return convert_to_tensor(tensor)

    def read_var(self, v):
        """Return the value of a variable."""
        return v.read_value() if hasattr(v, "read_value") else convert_to_tensor(v)

    def non_slot_devices(self, var_list):
        """Return where what belongs to no variable of a list is kept."""
        return self.parameter_devices[0]

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        """Call a function where what belongs to no variable is kept."""
        return fn(*args, **(kwargs or {}))

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """Return a dataset of the rows of arrays."""
        from dragon.vm.shared.data.dataset import Dataset
        return Dataset.from_tensor_slices(numpy_input)

    worker_devices_by_replica = property(lambda self: [[name] for name in self.worker_devices],
                                         doc="List[List[str]]: the devices of each replica.")


class OneDeviceStrategy(Strategy):
    """Everything on one device.

    Parameters
    ----------
    device : str
        Its name.

    """

    def __init__(self, device):
        super().__init__()
        self._device = device


class TPUStrategy(Strategy):
    """Replicas on TPUs, of which there are none here: a class for libraries to derive others from.

    Parameters
    ----------
    tpu_cluster_resolver : TPUClusterResolver, optional
        Which TPUs.
    experimental_device_assignment : DeviceAssignment, optional
        Which replica is where.
    experimental_spmd_xla_partitioning : bool, optional, default=False
        Whether one replica is spread over several.

    """

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None,
                 experimental_spmd_xla_partitioning=False):
        raise ValueError(f"tf.distribute.TPUStrategy: got {tpu_cluster_resolver!r}, expected what knows a TPU; there "
                         "is none here. Please provide a TPU Name to connect to.")


_default = Strategy()


def experimental_set_strategy(strategy):
    """Use a strategy from here on, or the default again with None; not within a strategy's scope.

    Parameters
    ----------
    strategy : Strategy, optional
        The strategy.

    """
    if getattr(_local, "strategy", None) is not None:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None and not isinstance(strategy, Strategy):
        raise TypeError(f"tf.distribute.experimental_set_strategy: got {strategy!r}, expected a strategy or None")
    _local.chosen = strategy


def get_strategy():
    """Return the strategy in use."""
    return getattr(_local, "strategy", None) or getattr(_local, "chosen", None) or _default


def has_strategy():
    """Return whether a strategy other than the default is in use."""
    return get_strategy() is not _default


def get_replica_context():
    """Return where a replica's code runs; None in code for all of them."""
    context = getattr(_local, "context", "default")
    return ReplicaContext(_default) if context == "default" else context


def in_cross_replica_context():
    """Return whether code runs for all replicas."""
    return get_replica_context() is None
