"""What replicas do together in the middle of their code, in TensorFlow's words."""
from dragon.core.modes import no_grad
from dragon.vm.shared import nest, strategies
from dragon.vm.shared.recording.gradient import custom_gradient
from dragon.vm.shared.replicas.meetings import alike, all_reduce
from dragon.vm.shared.replicas.values import regroup, select
from dragon.vm.shared.tensors.convert import convert_to_tensor


def merge_call(strategy, function, args, kwargs, within):
    """Return what a function, called once with the values of all replicas, returns for this one. ..."""
    def together(all_args, all_kwargs):
        with within(None):
            result = function(strategy, *regroup(all_args), **regroup(all_kwargs))
        return [select(number, result) for number in range(strategy.local_count)]
    return strategies.local.replica.merge(together, tuple(args), dict(kwargs))


def all_gather(strategy, value, axis):
    """Return the values of all replicas one after the other; a gradient goes back to whose part it is. ..."""
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(value)]

    def gather(leaf):
        def together(parts):
            with no_grad():
                whole = strategy._joined_along(axis, parts)
            return [strategy.memory.placed(alike(whole), number) for number in range(strategy.local_count)]

        def starts(parts):
            sizes = strategy._workers.gather(convert_to_tensor([int(part.shape[axis]) for part in parts]), 0).numpy()
            first = strategy.worker_index * strategy.local_count
            return [int(sizes[:first + number].sum()) for number in range(strategy.local_count)]

        @custom_gradient
        def gathered(tensor):
            def gradient(upstream):
                total = all_reduce("sum", upstream)
                begin = strategies.local.replica.merge(starts, tensor)
                rows = [slice(None)] * axis + [slice(begin, begin + int(tensor.shape[axis]))]
                return total[tuple(rows)]
            return strategies.local.replica.merge(together, tensor), gradient
        return gathered(leaf)
    return nest.pack_sequence_as(value, [gather(leaf) for leaf in leaves])
