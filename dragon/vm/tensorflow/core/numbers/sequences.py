"""Numbers that look random and are not: Sobol's sequence, and places in a permutation that is never written down."""
from dragon.core.sobol import MAXBIT, MAXDIM, direction_numbers
from dragon.vm.shared.arrays.creation import constant
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32, float64, int32
from dragon.vm.shared.tensors.tensor import ops

INTEGERS = ("int32", "uint32", "int64", "uint64")
LEAST_WORD = 8  # bits; permutations of fewer look regular
ENDLESS = 0xFFFFFFFC  # of the cipher's key schedule: ones but for the last two bits
FIRST_OF_KEYS = 498247692  # what stands before the two numbers of a seed
CHAIN = 0x7369F885192C0EF5  # the bits that its round keys are mixed with, the lowest first


def sobol_sample(dim, num_results, skip=0, dtype="float32", name=None):
    """Return points of Sobol's sequence, which fill a cube more evenly than random ones.

    Parameters
    ----------
    dim : int
        How many numbers a point has, from 1 to 21,200.
    num_results : int
        How many points.
    skip : int, optional, default=0
        How many points of the sequence come before.
    dtype : DType, optional, default="float32"
        float32 or float64.

    Returns
    -------
    Tensor
        Of shape (num_results, dim).

    Examples
    --------
    >>> tf.math.sobol_sample(2, 3).numpy().tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]

    """
    dim, count, skip = (int(convert_to_tensor(one, int32)) for one in (dim, num_results, skip))
    dtype = as_dtype(dtype)
    if dtype not in (float32, float64):
        raise invalid_argument(f"Value for attr 'dtype' of {dtype.name} is not in the list of allowed values: float, "
                               "double [Op:SobolSample]")
    for holds, claim in ((dim >= 1, "dim must be at least one"), (dim < MAXDIM, f"dim must be at most {MAXDIM - 1}"),
                         (count >= 1, "num_results must be at least one"), (skip >= 0, "skip must be non-negative"),
                         (count + skip < 2 ** 31 - 1, "num_results+skip must be less than 2147483647")):
        if not holds:
            raise invalid_argument(f"{claim} [Op:SobolSample]")
    if count + skip >= 2 ** MAXBIT:
        raise NotImplementedError(f"tf.math.sobol_sample: got skip={skip} and num_results={count}, expected points "
                                  f"among the first {2 ** MAXBIT}, which have {MAXBIT} digits")
    state = constant(direction_numbers(dim))
    numbers = ops.arange(skip + 1, skip + 1 + count, dtype="int64")
    codes = ops.bitwise_xor(numbers, ops.bitwise_right_shift(numbers, 1))  # Gray's: two that follow differ in one bit
    points = ops.zeros((count, dim), dtype="int64")
    for bit in range((skip + count).bit_length()):
        wanted = ops.unsqueeze(ops.bitwise_and(ops.bitwise_right_shift(codes, bit), 1), 1)
        points = ops.bitwise_xor(points, wanted * state[:, bit])
    return ops.cast(points, dtype) * 2.0 ** -MAXBIT


def random_index_shuffle(index, seed, max_index, rounds=4, name=None):
    """Return where a number stands in a permutation of the numbers up to another, without the permutation.

    Parameters
    ----------
    index : Tensor
        Numbers, or one.
    seed : Tensor
        Three numbers that tell which permutation it is, or three for each of the numbers.
    max_index : Tensor
        The last of the numbers that are permuted, or one for each.
    rounds : int, optional, default=4
        How often numbers are mixed: even, and at least 4.

    Returns
    -------
    Tensor
        Of the shape and dtype of the numbers.

    """
    index = convert_to_tensor(index)
    if index.dtype.name not in INTEGERS:
        raise invalid_argument(f"Value for attr 'dtype' of {index.dtype.name} is not in the list of allowed values: "
                               "int32, uint32, int64, uint64 [Op:RandomIndexShuffle]")
    numbers, keys, lasts = (array_of(one) for one in (index, convert_to_tensor(seed),
                                                      convert_to_tensor(max_index, index.dtype)))
    if numbers.ndim > 1:
        raise invalid_argument("Index must be a scalar or a vector. [Op:RandomIndexShuffle]")
    count = numbers.size
    if keys.shape not in ((3,), (count, 3)):
        raise invalid_argument(f"Seed must be a vector of size [3] or a matrix of size [{count}, 3] but got "
                               f"{list(keys.shape)}. [Op:RandomIndexShuffle]")
    if lasts.ndim and lasts.shape != numbers.shape:
        raise invalid_argument("Maxval must be a scalar or a vector of the same size as index but got "
                               f"{list(lasts.shape)} [Op:RandomIndexShuffle]")
    if rounds < 4 or rounds % 2:
        raise invalid_argument(f"tf.random_index_shuffle: got rounds={rounds}, expected an even number from 4 on "
                               "[Op:RandomIndexShuffle]")
    made = numbers.copy()
    for place in range(count):
        key = keys[place] if keys.ndim == 2 else keys
        made.reshape(-1)[place] = _place(int(numbers.reshape(-1)[place]), [int(one) & 0xFFFFFFFF for one in key],
                                         int(lasts[place] if lasts.ndim else lasts), rounds)
    return wrap_array(made)


def _place(index, key, last, rounds):
    """Return the place of one number: it is enciphered until it comes out among the numbers."""
    if index < 0:
        raise invalid_argument(f"index must be >= 0 but was {index} [Op:RandomIndexShuffle]")
    if last < index:
        raise invalid_argument(f"max_index must be >= index, but {last} < {index} [Op:RandomIndexShuffle]")
    if not last:
        return 0
    word = max(-(-(last - 1).bit_length() // 2), LEAST_WORD)
    keys = _round_keys(key, word, rounds)
    while True:
        index = _encipher(index, keys, word)
        if index <= last:
            return index


def _turn(value, by, word):
    """Return a word of some bits turned to the left; to the right where `by` is negative."""
    by %= word
    return (value << by | value >> (word - by)) & ((1 << word) - 1)


def _mix(value, word):
    return _turn(value, 1, word) & _turn(value, 8, word) ^ _turn(value, 2, word)


def _round_keys(key, word, rounds):
    """Return the keys of the rounds of the cipher Simon, for words of any size."""
    mask = (1 << word) - 1
    keys, bits = [one & mask for one in key], CHAIN & mask
    while len(keys) < rounds:
        keys.append((ENDLESS & mask) ^ (bits & 1) ^ keys[-3] ^ _turn(keys[-1], -3, word) ^ _turn(keys[-1], -4, word))
        bits >>= 1
    return keys


def _encipher(value, keys, word):
    """Return a number of two words as the cipher makes it."""
    left, right = value >> word, value & ((1 << word) - 1)
    for first, second in zip(keys[::2], keys[1::2]):
        left ^= _mix(right, word) ^ first
        right ^= _mix(left, word) ^ second
    return left << word | right


def index_shuffle(index, seed, max_index):
    """Return where numbers stand in a permutation of the numbers up to another, without the permutation.

    Parameters
    ----------
    index : Tensor
        Numbers, or one.
    seed : Tensor
        Two numbers that tell which permutation it is, or two for each of the numbers.
    max_index : Tensor
        The last of the numbers that are permuted, or one for each.

    Returns
    -------
    Tensor
        Of the shape and dtype of the numbers.

    Examples
    --------
    >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy().tolist()
    [2, 0, 1, 3]

    """
    seed = convert_to_tensor(seed)
    first = ops.full((*seed.shape[:-1], 1), FIRST_OF_KEYS, dtype=seed.dtype)
    return random_index_shuffle(index, ops.cat([first, seed], -1), max_index)
