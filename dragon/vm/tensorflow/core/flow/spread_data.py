"""Datasets whose batches are shared out among replicas."""
import functools
import itertools

from dragon.vm.shared import errors, nest
from dragon.vm.shared.data.options import AutoShardPolicy
from dragon.vm.shared.data.structure import map_structure
from dragon.vm.shared.replicas.values import PerReplica, split
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec


class PerReplicaSpec(TypeSpec):
    """The specs of values of replicas.

    Parameters
    ----------
    *specs : TypeSpec
        One for each.

    """

    def __init__(self, *specs):
        self._value_specs = specs

    value_specs = property(lambda self: self._value_specs, doc="tuple: the specs, by the numbers of the replicas.")

    value_type = property(lambda self: PerReplica, doc="type: the class of such values.")

    def _parts(self):
        return self._value_specs

    def is_compatible_with(self, spec_or_value):
        """Return whether values of replicas, or their specs, are as this describes."""
        other = spec_or_value
        parts = (other.values if isinstance(other, PerReplica) else
                 other._value_specs if isinstance(other, PerReplicaSpec) else ())
        return len(parts) == len(self._value_specs) and all(
            spec.is_compatible_with(part) for spec, part in zip(self._value_specs, parts))

    def __eq__(self, other):
        return isinstance(other, PerReplicaSpec) and self._value_specs == other._value_specs

    def __hash__(self):
        return hash(self._value_specs)

    def __repr__(self):
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


class DistributedDataset:
    """Batches for the replicas of this process.

    Parameters
    ----------
    strategy : SpreadStrategy
        Whose replicas.
    steps : Callable[[], Iterator[List[Any]]]
        Makes an iterator over lists of the elements of each replica.
    spec : Any
        What the elements were before they were shared out.
    cardinality : Tensor
        How many steps there are; negative for those that never end, or whose number nobody knows.

    """

    is_spread_dataset = of_replicas = True

    def __init__(self, strategy, steps, spec, cardinality):
        self._strategy, self._steps, self._spec, self._cardinality = strategy, steps, spec, cardinality

    def __iter__(self):
        return DistributedIterator(self)

    @property
    def element_spec(self):
        """The structure of specs that the elements have."""
        count = self._strategy.local_count
        if count == 1:
            return map_structure(_open, self._spec)
        return map_structure(lambda spec: PerReplicaSpec(*[_open(spec)] * count), self._spec)

    @property
    def cardinality(self):
        """Tensor: how many steps there are; -1 says infinite, -2 unknown."""
        return self._cardinality


def _open(spec):
    """Return a spec whose first axis may have any size."""
    if isinstance(spec, TensorSpec) and spec.shape.rank:
        return TensorSpec(TensorShape([None, *spec.shape[1:]]), spec.dtype)
    return spec


class DistributedIterator:
    """An iterator over batches of replicas, made by `iter(dataset)`.

    Parameters
    ----------
    dataset : DistributedDataset
        The batches.

    """

    of_replicas = True

    def __init__(self, dataset):
        self._dataset, self._elements = dataset, dataset._steps()

    element_spec = property(lambda self: self._dataset.element_spec,
                            doc="The structure of specs that the elements have.")

    def __iter__(self):
        return self

    def __next__(self):
        parts = next(self._elements)
        return parts[0] if len(parts) == 1 else _together(parts)

    def get_next(self):
        """Return the next element; an OutOfRangeError says that there is none."""
        try:
            return next(self)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self):
        """Return the next element, or none, as an Optional."""
        from dragon.vm.shared.data.optional import Optional
        try:
            return Optional(self.element_spec, next(self))
        except StopIteration:
            return Optional.empty(self.element_spec)


def _together(parts):
    return map_structure(lambda *values: PerReplica(values), *parts)


def of_whole_batches(strategy, dataset):
    """Return what iterates over a dataset whose batches are those of all replicas together."""
    here, everywhere = strategy.local_count, strategy.num_replicas_in_sync
    first = strategy.worker_index * here
    policy = dataset.options().experimental_distribute.auto_shard_policy

    def steps():
        if policy == AutoShardPolicy.OFF and strategy.worker_count > 1:  # each process reads all of it
            parts = (part for batch in dataset for part in split(batch, everywhere) if _has_samples(part))
            return iter(lambda: list(itertools.islice(parts, here)), [])
        return (split(batch, everywhere)[first:first + here] for batch in dataset)
    return steps


def _has_samples(part):
    return all(int(value.shape[0]) for value in nest.flatten(part) if hasattr(value, "shape"))


def from_function(strategy, dataset_fn, options):
    """Return the batches of what a function makes of InputContexts: each batch is one replica's."""
    mode = getattr(getattr(options, "experimental_replication_mode", None), "name", "PER_WORKER")
    if mode == "PER_REPLICA":
        datasets = [dataset_fn(strategy._input_context(number)) for number in range(strategy.local_count)]
    else:
        datasets = [dataset_fn(strategy._input_context())]
    if not all(hasattr(dataset, "element_spec") for dataset in datasets):
        raise ValueError(f"distribute_datasets_from_function: got {datasets[0]!r} from the function, expected a "
                         "tf.data.Dataset")
    count = int(datasets[0].cardinality())
    if mode != "PER_REPLICA" and count > 0:
        count = -(-count // strategy.local_count)
    return DistributedDataset(strategy, functools.partial(_steps, strategy, datasets),
                              datasets[0].element_spec, convert_to_tensor(count, "int64"))


def _steps(strategy, datasets):
    """Yield a batch for each replica; where the data ends in the middle of a step, the last ones have no samples."""
    iterators, count = [iter(dataset) for dataset in datasets], strategy.local_count
    sources = iterators if len(iterators) == count else iterators * count
    while True:
        parts = [part for source in sources for part in itertools.islice(source, 1)]
        # All processes go on until none of them has anything left.
        found = len(parts) if strategy.worker_count == 1 else int(strategy._workers.sum(convert_to_tensor(len(parts))))
        if not found:
            return
        yield parts + [map_structure(_no_samples, datasets[0].element_spec)] * (count - len(parts))


def _no_samples(spec):
    return ops.zeros((0, *(size or 0 for size in spec.shape[1:])), dtype=spec.dtype)
