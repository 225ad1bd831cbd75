"""The keys and counters of streams of random numbers, which come from a seed or a generator."""
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import read
from dragon.vm.tensorflow.core.saved_model.table import operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import host, number, tensor


def _words(seed):
    return ops.cast(tensor(seed), "int64")


class Scrambled:
    """The key or the counter of a stream: what a seed of two integers makes of itself, kept as that seed.

    Parameters
    ----------
    words : Tensor
        Two integers, a seed; or three, a counter and a key.

    """

    def __init__(self, words):
        self.words = words

    shape = property(lambda self: (1,), doc="tuple: a key is one number.")


@operator("StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg")
def _key_counter(node, seed):
    made = Scrambled(_words(seed))
    return made, made, host(1)


@operator("StatelessRandomGetKey")
def _key(node, seed):
    return Scrambled(_words(seed))


@operator("RngReadAndSkip")
def _skip(node, state, algorithm, delta):
    before = ops.clone(read(state))
    step = number(delta)
    state.assign_add(ops.cast(ops.reshape(tensor(host([step * 256, 0, 0], "int64")), (3,)), "int64"))
    return before


@row_function
def stream(node, key, counter):
    """Return the words of a stream: those of a seed, or a counter of two and a key of one."""
    if isinstance(key, Scrambled):
        return key.words
    if isinstance(counter, Scrambled):
        raise UnimplementedError(None, None, f"saved_model: {node.op} with a key of another seed than its counter is "
                                 f"not supported (node '{node.name}' of function '{node.where}')")
    counter, key = ops.cast(tensor(counter), "int64"), ops.cast(tensor(key), "int64")
    return ops.cat([ops.reshape(counter, (-1,)), ops.reshape(key, (-1,))])
