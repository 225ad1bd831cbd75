"""Batches of replicas, and what their steps return."""
from dragon.vm.keras.core import tree
from dragon.vm.shared.replicas.values import PerReplica, is_spread, select, split
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.placing import beside
from dragon.vm.shared.tensors.tensor import ops


def parts_of(batch, strategy):
    """Return a batch as values of the replicas of this process, which take its parts.

    Parameters
    ----------
    batch : Any
        A structure of tensors: the samples of all replicas, of all processes; or values of replicas already.
    strategy : Strategy
        Whose replicas.

    """
    here = strategy.local_count
    if is_spread(batch):
        parts = [select(number, batch) for number in range(here)]
    elif getattr(strategy, "reads_own", False):
        sharers = strategy.sharers
        parts = [split(batch, len(sharers))[sharers.index(strategy.worker_index)] if len(sharers) > 1 else batch]
    else:
        first = strategy.worker_index * here
        parts = split(batch, strategy.num_replicas_in_sync)[first:first + here]
    if hasattr(strategy, "weigh"):
        strategy.weigh(parts[0])
    return parts[0] if here == 1 else PerReplica(parts)


def together(outputs, strategy, how):
    """Return what steps of replicas return as what one step would.

    Parameters
    ----------
    outputs : Any
        What `Strategy.run` returned.
    strategy : Strategy
        Whose replicas.
    how : str
        "mean", or "concat" along the samples.

    """
    def join(value):
        if how == "concat":
            return strategy.gather(value, 0)
        if strategy.worker_count > 1:
            return strategy.reduce("mean", value)
        if not isinstance(value, PerReplica):
            return value
        parts = [strategy.memory.placed(convert_to_tensor(part), 0) for part in value.values]
        with beside(parts[0]):
            return ops.mean(ops.stack(parts), 0)
    return tree.map_structure(join, outputs)
