"""`tf.random`: TensorFlow's own streams of numbers, bit by bit, where it has streams of numbers."""
import enum

from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.letters import expect
from dragon.vm.shared.seed import permutation
from dragon.vm.shared.seed import next_captured_seed, next_stream, set_seed  # noqa: F401: tf.random.set_seed
from dragon.vm.shared.tensors.placing import on_host
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.tensor import as_tensor, ops
from dragon.vm.tensorflow.core.numbers.sequences import index_shuffle

PHILOX, THREEFRY = 1, 2


class Algorithm(enum.Enum):
    """The ways of computing streams: Philox is the one there is."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


__getattr__, __dir__ = _lookup(globals(), {
    "core.numbers.samplers": "all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler "
                             "log_uniform_candidate_sampler uniform_candidate_sampler"})


def _stream(seed, kind=None, shape=()):
    """Return the seed tensor of an operator that counts its calls: under capture, a tensor that each run counts on."""
    count = _count(shape)
    return next_captured_seed(seed, count) if is_capturing() else next_stream(seed, kind, count)


def _count(shape):
    count = 1
    for size in as_shape(shape):
        count *= size
    return count


def _words(seed):
    seed = convert_to_tensor(seed, dtype_hint="int32")
    if tuple(seed.shape) != (2,):
        raise ValueError(f"seed must have shape [2], not {list(seed.shape)}. Received: seed={seed}")
    with on_host():
        return ops.cast(seed, "int64")


def _check_algorithm(alg):
    if alg not in ("auto_select", "philox", None, 1, 3, Algorithm.PHILOX, Algorithm.AUTO_SELECT):
        raise NotImplementedError(f"tf.random: the algorithm is Philox, ThreeFry is not there. Received: alg={alg}")


def _scaled(numbers, scale, shift):
    """Return numbers times a scale plus a shift, each a number or a tensor."""
    if not (isinstance(scale, (int, float)) and scale == 1):
        numbers = ops.mul(numbers, convert_to_tensor(scale, numbers.dtype))
    if not (isinstance(shift, (int, float)) and shift == 0):
        numbers = ops.add(numbers, convert_to_tensor(shift, numbers.dtype))
    return numbers


def _normal(operator, stream, shape, mean, stddev, dtype):
    return _scaled(operator(stream, as_shape(shape), dtype=as_dtype(dtype).name), stddev, mean)


def _uniform(stream, shape, minval, maxval, dtype):
    dtype = as_dtype(dtype)
    if dtype.is_floating:
        low, high = 0 if minval is None else minval, 1 if maxval is None else maxval
        numbers = ops.stateless_uniform(stream, as_shape(shape), dtype=dtype.name)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            return _scaled(numbers, high - low, low)
        low, high = convert_to_tensor(low, dtype), convert_to_tensor(high, dtype)
        return ops.add(ops.mul(numbers, ops.sub(high, low)), low)
    if dtype.name not in ("int32", "int64", "uint32", "uint64"):
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are float16, bfloat16, float32, "
                         "float64, int32, int64, uint32 and uint64.")
    if minval is None and maxval is None:
        words = ops.stateless_integers(stream, as_shape(shape), dtype=dtype.name.removeprefix("u"))
        return ops.view_dtype(words, dtype) if dtype.is_unsigned else words
    if dtype.is_unsigned:
        raise ValueError(f"Both minval and maxval must be None for unsigned integer dtype {dtype}. "
                         f"Received: minval={minval}, maxval={maxval}")
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {dtype}. Received: maxval=None")
    return ops.stateless_integers(stream, as_shape(shape), low=int(minval or 0), high=int(maxval), dtype=dtype.name)


# --- operators that count their calls

def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Return normal numbers.

    Parameters
    ----------
    shape : Sequence[int]
        The shape.
    mean, stddev : Union[float, Tensor], optional
        0 and 1 by default.
    dtype : DType, optional
        A floating one; float32 by default.
    seed : int, optional
        Together with `tf.random.set_seed` it fixes the numbers.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> tf.random.normal((2, 3), mean=5.0, stddev=0.0).numpy()
    array([[5., 5., 5.],
           [5., 5., 5.]], dtype=float32)

    """
    return _normal(ops.stateless_normal, _stream(seed, ("normal", str(dtype)), shape), shape, mean, stddev, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Return normal numbers within two standard deviations of the mean."""
    return _normal(ops.stateless_truncated_normal, _stream(seed, ("truncated", str(dtype)), shape), shape, mean, stddev,
                   dtype)


def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    """Return uniform numbers in [minval, maxval): [0, 1) by default, integers for an integer dtype.

    Parameters
    ----------
    shape : Union[Sequence[int], Tensor]
        The sizes of the axes.
    minval, maxval : number, optional
        The bounds; integers need the upper one.
    dtype : DType, optional, default=tf.float32
        The type of the numbers.
    seed : int, optional
        Of this draw.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> x = tf.random.uniform((2, 3), minval=5, maxval=10)
    >>> x.shape, bool(tf.reduce_all((x >= 5) & (x < 10)))
    (TensorShape([2, 3]), True)

    """
    return _uniform(_stream(seed, ("uniform", str(dtype)), shape), shape, minval, maxval, dtype)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Return categories drawn by unnormalised log probabilities, `num_samples` for each row."""
    drawn = ops.stateless_categorical(_stream(seed), convert_to_tensor(logits), int(num_samples))
    return ops.cast(drawn, "int64" if dtype is None else as_dtype(dtype).name)


def gamma(shape, alpha, beta=None, dtype="float32", seed=None, name=None):
    """Return gamma numbers of shapes `alpha` and rates `beta`; the result's shape is `shape` and theirs."""
    return _gamma(_stream(seed), as_shape(shape), alpha, beta, dtype, front=True)


def _gamma(stream, shape, alpha, beta, dtype, front):
    dtype = as_dtype(dtype)
    alpha = convert_to_tensor(alpha, dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    alpha, beta = ops.add(alpha, ops.zeros_like(beta)), ops.add(beta, ops.zeros_like(alpha))
    if front:
        drawn = ops.stateless_gamma(stream, alpha, _count(shape))
        return ops.div(ops.reshape(drawn, (*shape, *alpha.shape)), beta)
    drawn = ops.stateless_gamma(stream, ops.broadcast_to(alpha, shape))
    return ops.div(drawn, beta)


def poisson(shape, lam, dtype="float32", seed=None, name=None):
    """Return Poisson numbers of rates `lam`; the result's shape is `shape` and theirs.

    Seeds fix the numbers, but they are not TensorFlow's: the engine has a way of its own to draw them.
    """
    lam = convert_to_tensor(lam, dtype_hint="float32")
    rates = ops.clone(ops.broadcast_to(lam, (*as_shape(shape), *lam.shape)))
    return ops.cast(ops.poisson(rates, generator=_poisson_generator(seed, tuple(rates.shape))), as_dtype(dtype).name)


def _poisson_generator(seed, shape):
    """Return a generator that starts where a counting operator's stream does; under capture, the process's own."""
    if is_capturing():
        if seed is not None:
            raise NotImplementedError("tf.random.poisson: captured functions draw from the process's generator. "
                                      f"Received: seed={seed}")
        return None
    used, second, first = next_stream(seed, "poisson", _count(shape)).tolist()
    generator = _C.Generator()
    generator.manual_seed((first << 31 ^ second ^ used << 7) & (1 << 63) - 1)
    return generator


def shuffle(value, seed=None, name=None):
    """Return a tensor with its first axis in random order."""
    value = convert_to_tensor(value)
    if value.ndim == 0:
        return value
    return ops.index_select(value, 0, permutation(_stream(seed), value.shape[0]))


# --- functions of a seed

def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"):
    """Return normal numbers that are a function of a seed of two integers."""
    _check_algorithm(alg)
    return _normal(ops.stateless_normal, _words(seed), shape, mean, stddev, dtype)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype="float32", name=None, alg="auto_select"):
    """Return normal numbers within two deviations of the mean, a function of a seed of two integers."""
    _check_algorithm(alg)
    return _normal(ops.stateless_truncated_normal, _words(seed), shape, mean, stddev, dtype)


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype="float32", name=None, alg="auto_select"):
    """Return uniform numbers that are a function of a seed of two integers."""
    _check_algorithm(alg)
    if minval is None and maxval is not None:
        raise ValueError(f"For minval=None, maxval must be None. Received: maxval={maxval}")
    return _uniform(_words(seed), shape, minval, maxval, dtype)


def stateless_categorical(logits, num_samples, seed, dtype="int64", name=None):
    """Return categories drawn by unnormalised log probabilities, a function of a seed of two integers."""
    drawn = ops.stateless_categorical(_words(seed), convert_to_tensor(logits), int(num_samples))
    return ops.cast(drawn, as_dtype(dtype).name)


def stateless_poisson(shape, seed, lam, dtype="int32", name=None):
    """Return Poisson numbers of rates that fit a shape, a function of a seed of two integers.

    The numbers are not TensorFlow's: the engine has a way of its own to draw them.
    """
    first, second = _words(seed).tolist()
    generator = _C.Generator()
    generator.manual_seed((first << 31 ^ second) & (1 << 63) - 1)
    rates = convert_to_tensor(lam, dtype_hint="float32")
    rates = ops.clone(ops.broadcast_to(ops.cast(rates, "float32"), as_shape(shape)))
    return ops.cast(ops.poisson(rates, generator=generator), as_dtype(dtype).name)


def stateless_parameterized_truncated_normal(shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None):
    """Return normal numbers between bounds, a function of a seed of two integers.

    The numbers are not TensorFlow's: they are drawn by the inverse of the distribution.

    Parameters
    ----------
    shape : Sequence[int]
        The shape, which the parameters fit.
    seed : Tensor
        Two integers.
    means, stddevs, minvals, maxvals : Union[float, Tensor], optional
        The distributions, and the bounds.
    name : str, optional
        Accepted.

    """
    sizes = as_shape(shape)
    means, stddevs, minvals, maxvals = (ops.cast(convert_to_tensor(one), "float64")
                                        for one in (means, stddevs, minvals, maxvals))
    root = 2.0 ** 0.5
    low, high = (ops.mul(ops.add(ops.erf(ops.div(ops.div(ops.sub(bound, means), stddevs), root)), 1.0), 0.5)
                 for bound in (minvals, maxvals))
    share = stateless_uniform(sizes, seed, dtype="float64")
    share = ops.add(low, ops.mul(share, ops.sub(high, low)))
    found = ops.add(means, ops.mul(stddevs, ops.mul(ops.erfinv(ops.sub(ops.mul(share, 2.0), 1.0)), root)))
    return ops.cast(ops.maximum(ops.minimum(found, maxvals), minvals), "float32")


def stateless_gamma(shape, seed, alpha, beta=None, dtype="float32", name=None):
    """Return gamma numbers of a shape that `alpha` fits, a function of a seed of two integers."""
    return _gamma(_words(seed), as_shape(shape), alpha, beta, dtype, front=False)


def stateless_binomial(shape, seed, counts, probs, output_dtype="int32", name=None):
    """Return the successes in `counts` trials of chance `probs`, a function of a seed of two integers."""
    counts = ops.broadcast_to(ops.cast(convert_to_tensor(counts), "float64"), as_shape(shape))
    probs = ops.broadcast_to(ops.cast(convert_to_tensor(probs), "float64"), as_shape(shape))
    return ops.cast(ops.stateless_binomial(_words(seed), ops.clone(counts), ops.clone(probs)),
                    as_dtype(output_dtype).name)


def split(seed, num=2, alg="auto_select"):
    """Return `num` seeds made of one."""
    return stateless_uniform([num, 2], seed, minval=None, maxval=None,
                             dtype=convert_to_tensor(seed, dtype_hint="int32").dtype, alg=alg)


def fold_in(seed, data, alg="auto_select"):
    """Return a seed made of a seed and a number."""
    seed = convert_to_tensor(seed, dtype_hint="int32")
    data = ops.cast(convert_to_tensor(data), seed.dtype.name)
    made = stateless_uniform([1], seed, minval=None, maxval=None, dtype=seed.dtype, alg=alg)
    return ops.cat([ops.reshape(made, (1,)), ops.reshape(data, (1,))])


# --- generators

def create_rng_state(seed, alg):
    """Return the state of a generator that starts with a seed."""
    _check_algorithm(alg)
    with on_host():
        seed = ops.reshape(ops.cast(convert_to_tensor(seed), "int64"), (-1,))
        return ops.cat([seed, ops.zeros((3,), dtype="int64")])[:3]


class Generator:
    """A stream of random numbers with a state that can be looked at, copied and set.

    Parameters
    ----------
    copy_from : Generator, optional
        A generator to go on as.
    state : Tensor, optional
        Three integers: the counter's halves and the key.
    alg : str, optional
        "philox".

    """

    def __init__(self, copy_from=None, state=None, alg=None):
        from dragon.vm.shared.tensors.variable import Variable
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Can't specify `state` or `alg` together with `copy_from`. Received: "
                                 f"state={state}, alg={alg}")
            state, alg = expect(copy_from, Generator, "Generator", "copy_from").state, "philox"
        _check_algorithm(alg)
        with on_host():  # which reads it for each draw
            state = ops.reshape(ops.cast(convert_to_tensor(state), "int64"), (-1,))
        if tuple(state.shape) != (3,):
            raise ValueError(f"The shape of a Philox state is [3]. Received: {list(state.shape)}")
        with on_host():
            self._state_var = Variable(state, dtype="int64", trainable=False, name="StateVar")

    @classmethod
    def from_state(cls, state, alg):
        """Make a generator that goes on from a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """Make a generator that starts with a seed."""
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """Make a generator that starts where nobody can foresee."""
        return cls(state=_unforeseen(), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """Make a generator of a key and a counter."""
        return cls(state=_key_counter(key, counter), alg=alg)

    def _checkpoint_parts(self):
        return {"_state_var": self._state_var}

    state = property(lambda self: self._state_var, doc="Variable: the counter's halves and the key.")

    algorithm = property(lambda self: PHILOX, doc="The number of the algorithm.")

    key = property(lambda self: self._state_var[2], doc="Tensor: the key.")

    def reset(self, state):
        """Go on from a state."""
        self._state_var.assign(ops.cast(convert_to_tensor(state), "int64"))

    def reset_from_seed(self, seed):
        """Start anew with a seed."""
        self.reset(create_rng_state(seed, None))

    def reset_from_key_counter(self, key, counter):
        """Start anew with a key and a counter."""
        self.reset(_key_counter(key, counter))

    def _take(self, count):
        """Return the state, and leave behind what a call of `count` numbers may use."""
        with on_host():
            state = as_tensor(ops.clone(self._state_var))
            self._state_var.assign_add(ops.cast(convert_to_tensor([count * 256, 0, 0]), "int64"))
        return state

    def _take_for(self, shape):
        return self._take(_count(shape))

    def skip(self, delta):
        """Leave out numbers; returns the state before."""
        return self._take(int(delta))

    def normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Return normal numbers."""
        return _normal(ops.stateless_normal, self._take_for(shape), shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype="float32", name=None):
        """Return normal numbers within two standard deviations of the mean."""
        return _normal(ops.stateless_truncated_normal, self._take_for(shape), shape, mean, stddev, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype="float32", name=None):
        """Return uniform numbers in [minval, maxval)."""
        return _uniform(self._take_for(shape), shape, minval, maxval, dtype)

    def uniform_full_int(self, shape, dtype="int64", name=None):
        """Return integers from all of their dtype."""
        return _uniform(self._take_for(shape), shape, None, None, dtype)

    def binomial(self, shape, counts, probs, dtype="int32", name=None):
        """Return the successes in `counts` trials of chance `probs`."""
        stream = self._take_for(shape)
        counts = ops.clone(ops.broadcast_to(ops.cast(convert_to_tensor(counts), "float64"), as_shape(shape)))
        probs = ops.clone(ops.broadcast_to(ops.cast(convert_to_tensor(probs), "float64"), as_shape(shape)))
        return ops.cast(ops.stateless_binomial(stream, counts, probs), as_dtype(dtype).name)

    def make_seeds(self, count=1):
        """Return seeds for stateless functions, of shape [2, count]."""
        seeds = self.uniform_full_int([count], dtype="int64")
        return ops.stack([seeds, ops.zeros_like(seeds)])

    def split(self, count=1):
        """Return generators whose streams do not meet."""
        keys = self.uniform_full_int([count], dtype="int64").numpy().tolist()
        return [Generator(state=convert_to_tensor([0, 0, key], "int64"), alg="philox") for key in keys]


def _unforeseen():
    import secrets
    return convert_to_tensor([secrets.randbits(63) for _ in range(3)], "int64")


def _key_counter(key, counter):
    counter = ops.reshape(ops.cast(convert_to_tensor(counter), "int64"), (-1,))
    return ops.cat([counter, ops.reshape(ops.cast(convert_to_tensor(key), "int64"), (1,))])


_global = []


def get_global_generator():
    """Return the process's generator, made when it is first asked for."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator):
    """Have another generator be the process's."""
    _global[:] = [generator]


class experimental:
    """Names of older programs."""

    Generator = Generator
    Algorithm = Algorithm
    create_rng_state = staticmethod(create_rng_state)
    get_global_generator = staticmethod(get_global_generator)
    set_global_generator = staticmethod(set_global_generator)
    stateless_split = staticmethod(split)
    stateless_fold_in = staticmethod(fold_in)
    index_shuffle = staticmethod(index_shuffle)

    @staticmethod
    def stateless_shuffle(value, seed, alg="auto_select", name=None):
        """Return the entries of a tensor's first axis in an order that a seed decides."""
        value = convert_to_tensor(value)
        return ops.index_select(value, 0, permutation(_words(seed), value.shape[0]))
