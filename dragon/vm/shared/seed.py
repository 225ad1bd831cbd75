"""The seed of `tf.random.set_seed`, and what operators with seeds of their own make of it."""
import itertools
import random
import secrets

from dragon import _C
from dragon.core.capture.control import give_up
from dragon.core.capture.host_calls import Note, answer_of, is_writing
from dragon.core.capture.rules import Rules
from dragon.core.capture.settings import is_capturing
from dragon.core.modes import no_grad
from dragon.core.scopes import contextmanager
from dragon.vm.shared.tensors.placing import on_host
from dragon.vm.shared.tensors.tensor import Tensor, ops

DEFAULT_SEED = 87654321  # stands for the global seed where only an operator has one
LARGEST = 2 ** 31 - 1
BLOCKS = 256  # of a stream are set aside for every number


class _State:
    """The process's seed."""

    def __init__(self):
        self.seed = self.draws = None
        self.calls = {}  # of operators with seeds of their own
        self.listeners = []


_state = _State()


def set_seed(seed):
    """Set the global seed; operators without a seed of their own then draw from it.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> tf.random.set_seed(1)
    >>> a = tf.random.uniform((3,)).numpy().tolist()
    >>> tf.random.set_seed(1)
    >>> a == tf.random.uniform((3,)).numpy().tolist()
    True

    """
    seed = int(seed)
    _state.seed, _state.draws, _state.calls = seed, random.Random(seed), {}
    for listener in _state.listeners:
        listener(seed)


def on_set_seed(listener):
    """Have a function called with each new global seed."""
    _state.listeners.append(listener)


def global_seed():
    """Return the global seed, or None."""
    return _state.seed


@contextmanager
def undisturbed():
    """Have what draws seeds within the block leave those after it as they would have been."""
    before, calls = None if _state.draws is None else _state.draws.getstate(), dict(_state.calls)
    try:
        yield
    finally:
        _state.calls = calls
        if before is not None:
            _state.draws.setstate(before)


def get_seed(op_seed):
    """Return the two seeds of an operator.

    Parameters
    ----------
    op_seed : int, optional
        Its own seed.

    Returns
    -------
    tuple
        Two integers; two None where neither it nor the process has a seed.

    """
    if _state.seed is None:
        return (None, None) if op_seed is None else (DEFAULT_SEED, int(op_seed) % LARGEST)
    if op_seed is None:
        op_seed = _state.draws.randint(0, LARGEST)
    seeds = _state.seed % LARGEST, int(op_seed) % LARGEST
    return seeds if any(seeds) else (0, LARGEST)


def _stream(first, second):
    """Return the state of the stream that an operator of two seeds begins: the counter's halves and the key."""
    return _C.tensor([0, second, first], "int64", None, Tensor)


def next_stream(op_seed, kind=None, count=1, blocks=BLOCKS):
    """Return the stream of an operator that is called now; another one at each call.

    Parameters
    ----------
    op_seed : int, optional
        The operator's own seed: then its stream goes on from call to call.
    kind : Any, optional
        What tells operators with the same seed apart.
    count : int, optional, default=1
        How many numbers are made.
    blocks : int, optional, default=256
        How much of the stream is set aside for each of them.

    """
    first, second = get_seed(op_seed)
    if first is None:
        return _stream(secrets.randbits(63), secrets.randbits(63))
    if op_seed is None:
        return _stream(first, second)
    used = _state.calls.get((op_seed, kind), 0)
    _state.calls[op_seed, kind] = used + count * blocks
    return _C.tensor([used, second, first], "int64", None, Tensor)


# What captured functions count on at each run: a row for each operator, the first one for those without any seed.
# Guards watch it, and it is made here, where no capture is under way.
SITES = 512
_counters = _C.tensor([[0, 0, 0]] * SITES, "int64", None, Tensor)
_sites = itertools.count(1)
Rules.globals.append(("tf.random", globals(), ("_counters",)))
if is_capturing():
    give_up("it is the first to use tf.random, whose counters must be there before")


def next_captured_seed(op_seed, count=1, blocks=BLOCKS):
    """Return the stream of an operator in a captured function, as a tensor that goes on from run to run.

    Models of other formats have operators that count their calls themselves.

    Parameters
    ----------
    op_seed : int, optional
        The operator's own seed.
    count : int, optional, default=1
        How many numbers are made.
    blocks : int, optional, default=256
        How much of the stream is set aside for each of them.

    """
    if is_writing():
        with undisturbed():
            return answer_of(ops, Note("stream", [], seeds=get_seed(op_seed)), 3)
    first, second = get_seed(op_seed)
    site = 0 if first is None else next(_sites)
    if site >= SITES:  # a stream of its own, and other numbers than TensorFlow's from the second run on
        site = 0
    if first is None:
        first, second = secrets.randbits(62), secrets.randbits(62)
    step = count * blocks if site else 1 << 32
    with no_grad(), on_host():
        row = _C.Tensor.__getitem__(_counters, site)
        stream = ops.add(row, _C.tensor([0, second, first], "int64", None, Tensor))
        ops.add_(row, _C.tensor([step, 0, 0], "int64", None, Tensor))
    return stream


def first_stream(op_seed):
    """Return the stream that an operator begins with; None where neither it nor the process has a seed."""
    first, second = (None, None) if _state.seed is None else get_seed(op_seed)
    return None if first is None else _stream(first, second)


def permutation(stream, size):
    """Return the numbers below a size in the order that TensorFlow's swaps bring them to, as int64."""
    if is_capturing():
        return ops.argsort(ops.stateless_uniform(stream, (size,)))
    order = list(range(size))
    if size > 1:
        with on_host():
            words = ops.stateless_integers(stream, (size - 1,), dtype="int32").numpy().view("uint32").tolist()
        for place, word in enumerate(words):
            other = place + word % (size - place)
            order[place], order[other] = order[other], order[place]
    return _C.tensor(order, "int64", None, Tensor)
