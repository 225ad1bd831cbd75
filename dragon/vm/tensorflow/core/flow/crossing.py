"""What strategies take beside devices: how values of replicas are joined, and how input and runs go.

With one replica nothing is moved: a value is its own sum and mean, whichever way of joining a program names. Replicas
of one process share memory, so of several there is one sum, which is every device's.
"""
import collections
import enum

from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.data.iterator import Iterator
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.replicas.values import PerReplica
from dragon.vm.shared.tensors.tensor import Base, ops
from dragon.vm.tensorflow.core.flow import spread_data
from dragon.vm.tensorflow.core.flow.strategies import ReduceOp, Strategy, reduce_op_of


def _add_all(values):
    total = values[0]
    for value in values[1:]:
        total = ops.add(total, value)
    return total


def _joined(reduce_op, values, add):
    total = add([convert_to_tensor(value) for value in values])
    return total if reduce_op is ReduceOp.SUM else ops.div(total, len(values))


class CrossDeviceOps:
    """A way of joining the values of replicas; classes of users override the methods that end in `implementation`."""

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """Return the sum or mean of the replicas' values.

        Parameters
        ----------
        reduce_op : Union[ReduceOp, str]
            "sum" or "mean".
        per_replica_value : Tensor
            The one replica's value.
        destinations : Any
            Where it is wanted.
        options : Any, optional
            How it is moved.

        Returns
        -------
        Tensor
            The value.

        """
        return self.reduce_implementation(reduce_op_of(reduce_op, "reduce"), per_replica_value, destinations, options)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        """Return the sum or mean of the replicas' values; what `reduce` does."""
        if not isinstance(per_replica_value, PerReplica):
            return convert_to_tensor(per_replica_value)
        return _joined(reduce_op, per_replica_value.values, _add_all)

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """Return the sums or means of several values.

        Parameters
        ----------
        reduce_op : Union[ReduceOp, str]
            "sum" or "mean".
        value_destination_pairs : Sequence[Tuple[Tensor, Any]]
            Values, and where they are wanted.
        options : Any, optional
            How they are moved.

        Returns
        -------
        List[Tensor]
            The values.

        """
        pairs = list(value_destination_pairs)
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"batch_reduce: got {value_destination_pairs!r}, expected pairs of a value and a place")
        return self.batch_reduce_implementation(reduce_op_of(reduce_op, "batch_reduce"), pairs, options)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options):
        """Return the sums or means of several values; what `batch_reduce` does."""
        return [self.reduce_implementation(reduce_op, value, place, options)
                for value, place in value_destination_pairs]

    def broadcast(self, tensor, destinations):
        """Return a value for all replicas.

        Parameters
        ----------
        tensor : Tensor
            The value.
        destinations : Any
            Where it is wanted.

        Returns
        -------
        Tensor
            The value.

        """
        return self.broadcast_implementation(tensor, destinations)

    def broadcast_implementation(self, tensor, destinations):
        """Return a value for all replicas; what `broadcast` does."""
        return convert_to_tensor(tensor)


class ReductionToOneDevice(CrossDeviceOps):
    """Join values on one device.

    Parameters
    ----------
    reduce_to_device : str, optional
        Its name.
    accumulation_fn : Callable, optional
        Adds a list of values.

    """

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
        """Return what the user's function makes of the values, or their sum or mean."""
        if isinstance(per_replica_value, PerReplica):
            return _joined(reduce_op, per_replica_value.values, self.accumulation_fn or _add_all)
        value = convert_to_tensor(per_replica_value)
        return value if self.accumulation_fn is None else self.accumulation_fn([value])


class _InPacks(CrossDeviceOps):
    """What ways of joining share that put small values together."""

    _who = ""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"{self._who} requires num_packs >= 0, but {num_packs} is specified")
        self.num_packs = num_packs


class HierarchicalCopyAllReduce(_InPacks):
    """Join values along the wires of a machine.

    Parameters
    ----------
    num_packs : int, optional, default=1
        How many packs small values are put into.

    """

    _who = "HierarchicalCopy"


class NcclAllReduce(_InPacks):
    """Join values by way of NVIDIA's library, where there are several devices.

    Parameters
    ----------
    num_packs : int, optional, default=1
        How many packs small values are put into.

    """

    _who = "NCCL all-reduce"


class InputReplicationMode(enum.Enum):
    """Whether a function that makes a dataset is called for each worker or for each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(collections.namedtuple("InputOptions", (
        "experimental_fetch_to_device", "experimental_replication_mode", "experimental_place_dataset_on_device",
        "experimental_per_replica_buffer_size"))):
    """How a strategy reads datasets.

    Parameters
    ----------
    experimental_fetch_to_device : bool, optional, default=True
        Whether elements are moved to the device.
    experimental_replication_mode : InputReplicationMode, optional, default=PER_WORKER
        Whether a function that makes a dataset is called for each worker or for each replica.
    experimental_place_dataset_on_device : bool, optional, default=False
        Whether the dataset itself is.
    experimental_per_replica_buffer_size : int, optional, default=1
        How many elements are fetched ahead.

    """

    def __new__(cls, experimental_fetch_to_device=None,
                experimental_replication_mode=InputReplicationMode.PER_WORKER,
                experimental_place_dataset_on_device=False, experimental_per_replica_buffer_size=1):
        fetch = True if experimental_fetch_to_device is None else experimental_fetch_to_device
        return super().__new__(cls, fetch, experimental_replication_mode, experimental_place_dataset_on_device,
                               experimental_per_replica_buffer_size)


class RunOptions(collections.namedtuple("RunOptions", (
        "experimental_enable_dynamic_batch_size", "experimental_bucketizing_dynamic_shape",
        "experimental_xla_options"))):
    """How `Strategy.run` runs on devices with a compiler of their own.

    Parameters
    ----------
    experimental_enable_dynamic_batch_size : bool, optional, default=True
        Whether the last batch may be smaller.
    experimental_bucketizing_dynamic_shape : bool, optional, default=False
        Whether sizes are rounded up.
    experimental_xla_options : Any, optional
        For the compiler.

    """

    def __new__(cls, experimental_enable_dynamic_batch_size=True, experimental_bucketizing_dynamic_shape=False,
                experimental_xla_options=None):
        return super().__new__(cls, experimental_enable_dynamic_batch_size, experimental_bucketizing_dynamic_shape,
                               experimental_xla_options)


class _Seen(type):
    """Classes that values belong to by what they are: with one replica these are ordinary ones."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls._kinds) if "_kinds" in vars(cls) else super().__instancecheck__(value)


class DistributedValues(metaclass=_Seen):
    """Values of replicas; with one replica those are variables and tensors."""

    _kinds = (Base, PerReplica)


class DistributedDataset(metaclass=_Seen):
    """Datasets that replicas read: with one replica those are datasets."""

    _kinds = (Dataset, spread_data.DistributedDataset)


class DistributedIterator(metaclass=_Seen):
    """Iterators over datasets that replicas read: with one replica those are iterators."""

    _kinds = (Iterator, spread_data.DistributedIterator)


class StrategyExtended(metaclass=_Seen):
    """The part of a strategy that libraries call: with one replica that is the strategy itself.

    Parameters
    ----------
    container_strategy : Strategy
        The strategy that it is a part of.

    """

    def __new__(cls, container_strategy):
        return expect(container_strategy, Strategy, "tf.distribute.StrategyExtended", "container_strategy")

    _kinds = (Strategy,)
