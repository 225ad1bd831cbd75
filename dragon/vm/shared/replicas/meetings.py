"""Sums and means of replicas in the middle of their code."""
from dragon.core.modes import no_grad
from dragon.vm.shared import nest, strategies
from dragon.vm.shared.recording.gradient import custom_gradient
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops


def alike(value):
    """Return another tensor of the same numbers: what replicas return is told apart by being different objects."""
    return value if isinstance(value, IndexedSlices) else ops.view(value, tuple(value.shape))


def all_reduce(kind, value):
    """Return the sum or mean of the values of all replicas, each leaf of a structure for itself.

    Parameters
    ----------
    kind : str
        "sum" or "mean"; gradients are joined in the same way.
    value : Any
        This replica's: a tensor, or a structure of some.

    Returns
    -------
    Any
        The same structure.

    """
    memory = strategies.local.replica.memory
    leaves = [leaf if isinstance(leaf, IndexedSlices) else convert_to_tensor(leaf) for leaf in nest.flatten(value)]

    def together(columns):
        with no_grad():  # the gradient is told below; the other replicas' histories are theirs
            joined = [memory.join(kind, list(column)) for column in zip(*columns)]
        return [[memory.placed(alike(value), number) for value in joined] for number in range(memory.count)]

    if not any(isinstance(leaf, IndexedSlices) for leaf in leaves):
        @custom_gradient
        def reduce(*tensors):
            def gradient(*upstream):
                return all_reduce(kind, list(upstream))
            joined = strategies.local.replica.merge(together, list(tensors))
            return (joined[0], lambda grad: gradient(grad)[0]) if len(joined) == 1 else (joined, gradient)
        found = reduce(*leaves)
        found = [found] if len(leaves) == 1 else list(found)
    else:
        found = strategies.local.replica.merge(together, leaves)
    return nest.pack_sequence_as(value, found)
