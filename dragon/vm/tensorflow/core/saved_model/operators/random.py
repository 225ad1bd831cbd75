"""Operators that draw numbers: TensorFlow's own for seeds of its stateless operators and generators."""
from dragon.vm.shared.arrays.creation import bitcast
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import read
from dragon.vm.tensorflow import random
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import host, number, numbers, tensor


def _seed(node):
    """Return the seed of an operator that counts its calls: None draws from the global stream."""
    return node.get("seed2", 0) or node.get("seed", 0) or None


@operator("RandomUniform")
def _uniform(node, shape):
    return random.uniform(numbers(shape), dtype=node.get("dtype"), seed=_seed(node))


@operator("RandomUniformInt")
def _integers(node, shape, low, high):
    return random.uniform(numbers(shape), number(low), number(high), node.get("Tout", tensor(low).dtype), _seed(node))


@operator("RandomStandardNormal")
def _normal(node, shape):
    return random.normal(numbers(shape), dtype=node.get("dtype"), seed=_seed(node))


@operator("TruncatedNormal")
def _truncated(node, shape):
    return random.truncated_normal(numbers(shape), dtype=node.get("dtype"), seed=_seed(node))


@operator("RandomShuffle")
def _shuffle(node, x):
    return random.shuffle(tensor(x), seed=_seed(node))


@operator("Multinomial")
def _categorical(node, logits, count):
    return random.categorical(tensor(logits), number(count), node.get("output_dtype", "int64"), _seed(node))


@operator("RandomGamma")
def _gamma(node, shape, alpha):
    return random.gamma(numbers(shape), tensor(alpha), dtype=tensor(alpha).dtype, seed=_seed(node))


@operator("RandomPoissonV2")
def _poisson(node, shape, rate):
    return random.poisson(numbers(shape), tensor(rate), node.get("dtype", "int64"), _seed(node))


# --- functions of a seed of two integers

_STATELESS = {"StatelessRandomUniform": ops.stateless_uniform, "StatelessRandomNormal": ops.stateless_normal,
              "StatelessTruncatedNormal": ops.stateless_truncated_normal}


@operator("StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal")
def _stateless(node, shape, seed):
    return _STATELESS[node.op](_words(seed), numbers(shape), dtype=as_dtype(node.get("dtype", "float32")).name)


def _words(seed):
    return ops.cast(tensor(seed), "int64")


@operator("StatelessRandomUniformInt")
def _stateless_integers(node, shape, seed, low, high):
    return ops.stateless_integers(_words(seed), numbers(shape), low=number(low), high=number(high),
                                  dtype=as_dtype(node.get("dtype")).name)


@operator("StatelessRandomUniformFullInt")
def _stateless_all(node, shape, seed):
    return ops.stateless_integers(_words(seed), numbers(shape), dtype=as_dtype(node.get("dtype")).name)


@operator("StatelessMultinomial")
def _stateless_categorical(node, logits, count, seed):
    return random.stateless_categorical(tensor(logits), number(count), tensor(seed), node.get("output_dtype", "int64"))


# --- functions of a stream's key and counter, which come from a seed or a generator

@operator("StatelessRandomGetAlg")
def _algorithm(node):
    return host(1)


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


def _stream(node, key, counter):
    """Return the words of a stream: those of a seed, or a counter of two and a key of one."""
    if isinstance(key, Scrambled):
        return key.words
    if isinstance(counter, Scrambled):
        raise UnimplementedError(None, None, f"saved_model: {node.op} with a key of another seed than its counter is "
                                 f"not supported (node '{node.name}' of function '{node.where}')")
    counter, key = ops.cast(tensor(counter), "int64"), ops.cast(tensor(key), "int64")
    return ops.cat([ops.reshape(counter, (-1,)), ops.reshape(key, (-1,))])


@operator("StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2")
def _stateless_v2(node, shape, key, counter, algorithm):
    draw = _STATELESS[node.op.removesuffix("V2")]
    return draw(_stream(node, key, counter), numbers(shape), dtype=as_dtype(node.get("dtype", "float32")).name)


@operator("StatelessRandomUniformIntV2")
def _stateless_integers_v2(node, shape, key, counter, algorithm, low, high):
    return ops.stateless_integers(_stream(node, key, counter), numbers(shape), low=number(low), high=number(high),
                                  dtype=as_dtype(node.get("dtype")).name)


@operator("StatelessRandomUniformFullIntV2")
def _stateless_all_v2(node, shape, key, counter, algorithm):
    wanted = as_dtype(node.get("dtype")).name
    signed = {"uint32": "int32", "uint64": "int64"}.get(wanted, wanted)
    found = ops.stateless_integers(_stream(node, key, counter), numbers(shape), dtype=signed)
    return found if signed == wanted else bitcast(found, wanted)
