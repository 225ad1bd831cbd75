"""Operators under their names below `experimental.dynamic`, and the random numbers that they draw."""
import random
import threading

import numpy as np

from dragon.vm.dali.core.dynamic.kinds import DType
from dragon.vm.dali.core.dynamic.computing import run
from dragon.vm.dali.core.graph import call
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import OPERATORS

WORD = (1 << 64) - 1
_default = threading.local()


class RNG:
    """Random numbers: each call of an operator that draws takes a seed from it.

    Parameters
    ----------
    seed : int, optional
        Where they start from; anywhere by default.
    state : str, optional
        What `state` was of another one, which this one goes on from.

    """

    def __init__(self, seed=None, state=None):
        if state is not None and seed is not None:
            raise ValueError("Cannot specify both `seed` and `state`")
        if state is not None:
            self.set_state(state)
        else:
            self.seed = random.getrandbits(64) if seed is None else seed

    @property
    def seed(self):
        """Raise: a seed can be set, and not be asked for."""
        raise AttributeError("seed is write-only")

    @seed.setter
    def seed(self, value):
        self._start, self._count = int(value) & WORD, 0

    def __call__(self):
        """Return a random number of 32 bits."""
        place, self._count = self._count, self._count + 1 & WORD
        return int(np.random.Philox(key=self._start, counter=place).random_raw()) >> 32

    def advance(self, n):
        """Pass over some numbers."""
        if n < 0:
            raise ValueError("Cannot advance by a negative number")
        self._count = self._count + n & WORD

    def clone(self):
        """Return another one that gives the same numbers from here on."""
        return RNG(state=self.state)

    def get_state(self, *, cuda_stream=None):
        """Return from where the numbers go on, as text."""
        return f"{self._start}:{self._count}"

    def set_state(self, value):
        """Go on from where another one was."""
        start, colon, count = str(value).partition(":")
        if not colon or not start.isdigit() or not count.isdigit():
            raise ValueError(got("RNG", f"state {value!r}", "what `state` of an RNG was"))
        self.seed = int(start)
        self.advance(int(count))

    state = property(get_state, lambda self, value: self.set_state(value), doc="From where the numbers go on.")

    def __repr__(self):
        return f"RNG(state='{self.state}')"


def get_default_rng():
    """Return the random numbers of this thread, which calls draw from unless they are given others."""
    if not hasattr(_default, "rng"):
        _default.rng = RNG()
    return _default.rng


def set_seed(seed):
    """Have the random numbers of this thread start anew."""
    get_default_rng().seed = seed


def functions_of(room, module):
    """Return {name: function} of the operators in a room: "" or "decoders"."""
    made = {}
    for name, operator in OPERATORS.items():
        place, _, last = name.rpartition(".")
        if place == room and not last.startswith("_") and operator.kind != "source" and "function" not in last:
            made[last] = _function(operator, module)
    return made


def _function(operator, module):
    def function(*inputs, batch_size=None, device=None, rng=None, **arguments):
        return apply(operator, inputs, arguments, batch_size, device, rng)
    function.__name__ = function.__qualname__ = operator.name.rpartition(".")[2]
    function.__module__, function.__doc__ = module, operator.doc
    function.list_keywords = lambda: [*operator.list_keywords(), "batch_size", "rng"]
    return function


def apply(operator, inputs, arguments, batch_size=None, device=None, rng=None):
    """Return what an operator makes of tensors and batches.

    Parameters
    ----------
    operator : Operator
        Which.
    inputs : Sequence
        Tensors, batches, arrays and numbers.
    arguments : Dict[str, Any]
        By name.
    batch_size : int, optional
        How many samples there are, where no batch says so.
    device : Union[Device, str], optional
        Where the program wants it.
    rng : RNG, optional
        What is drawn from.

    """
    who = operator.name.rpartition(".")[2]
    for name in arguments:
        if name not in operator.list_keywords():
            raise TypeError(f"{who}() got an unexpected keyword argument {name!r}")
    if rng is not None and not isinstance(rng, RNG):
        raise ValueError(got(f"dynamic.{who}", f"rng of {type(rng).__name__}", "an RNG"))
    if device is not None:
        arguments = {**arguments, "device": getattr(device, "asked", (str(device).partition(":")[0],))[0]}
    arguments = {name: value.type_id if isinstance(value, DType) else value for name, value in arguments.items()}
    draws = "seed" in operator.arguments
    words = (rng or get_default_rng()) if draws and arguments.get("seed") is None else None
    seed = None if words is None else words() << 32 | words()
    return run(lambda *handles, **named: call(operator.name, handles, named), inputs, arguments, batch_size, seed,
               f"dynamic.{operator.name}")
