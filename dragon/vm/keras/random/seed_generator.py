"""Generators of seeds: a variable that every draw counts on, so that random numbers can be repeated and captured."""
import random

from dragon import _C
from dragon.core.capture.rules import Rules
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.core.scopes import name_scope
from dragon.vm.keras.core.variable import Variable
from dragon.vm.shared.tensors.placing import on_host
from dragon.vm.shared.tensors.tensor import Tensor, ops

GLOBAL_SEED_GENERATOR = "global_seed_generator"
# Seeds are counted modulo this number before they are used, as genuine Keras does with TensorFlow.
_MODULUS = 2 ** 31 - 2


class SeedGenerator(Configured):
    """A source of seeds, each another one.

    Parameters
    ----------
    seed : int, optional
        Where to begin; drawn by Python's `random` if there is none.
    name : str, optional
        The name.

    """

    _arguments = "seed=_initial_seed ..."

    def __init__(self, seed=None, name=None, **kwargs):
        self.name = auto_name(type(self).__name__) if name is None else name
        kwargs.pop("backend", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments. Received: {kwargs}")
        self._initial_seed = seed
        seed = make_default_seed() if seed is None else seed
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        with name_scope(self.name, caller=self), on_host():  # which reads it for each draw
            self.state = Variable(lambda shape, dtype: _seed_tensor(seed), shape=(2,), dtype="int64", trainable=False,
                                  aggregation="none", name="seed_generator_state")

    def next(self, ordered=True):
        """Return the next seed, and count on.

        Parameters
        ----------
        ordered : bool, optional, default=True
            Count the second number up by 1; otherwise both numbers jump about.

        Returns
        -------
        Tensor
            Two integers.

        """
        with on_host():
            state = self.state.value
            seed = ops.clone(state)
            if ordered:
                self.state.assign(ops.add(state, _step()))
            else:
                self.state.assign(ops.remainder(ops.mul(ops.add(state, 1), 5387), 933199))
        return seed


_steps = []


def _step():
    if not _steps:
        _steps.append(_C.tensor([0, 1], "int64", None, Tensor))
    return _steps[0]


def _seed_tensor(seed):
    return _C.tensor([seed, 0], "int64", None, Tensor)


def make_default_seed():
    """Return a seed drawn by Python's `random`."""
    return random.randint(1, int(1e9))


def global_seed_generator():
    """Return the generator of those who have none; `set_random_seed` starts it anew."""
    generator = global_state.get_global_attribute(GLOBAL_SEED_GENERATOR)
    if generator is None:
        generator = SeedGenerator()
        global_state.set_global_attribute(GLOBAL_SEED_GENERATOR, generator)
    return generator


def draw_seed(seed):
    """Return a seed of two integers.

    Parameters
    ----------
    seed : Optional[Union[int, SeedGenerator]]
        A number stands for itself, a generator for its next seed, None for that of the global generator.

    Returns
    -------
    Tensor
        Two integers, as int64.

    """
    if isinstance(seed, SeedGenerator):
        return seed.next()
    if isinstance(seed, int) and not isinstance(seed, bool):
        return _seed_tensor(seed)
    if seed is None:
        return global_seed_generator().next(ordered=False)
    raise ValueError("Argument `seed` must be either an integer or an instance of `SeedGenerator`. "
                     f"Received: seed={seed} (of type {type(seed)})")


def stream_seed(seed):
    """Return the two integers that a stream of random numbers begins with."""
    if isinstance(seed, int) and not isinstance(seed, bool):
        return _C.tensor([seed % _MODULUS, 0], "int64", None, Tensor)
    with on_host():
        return ops.remainder(draw_seed(seed), _MODULUS)


# Captured steps read what they count by, and which generator is everybody's, where these are.
_step()
Rules.globals.append(("keras.random", globals(), ("_steps",)))
Rules.switches.append(("global seed generator", lambda: global_state.get_global_attribute(GLOBAL_SEED_GENERATOR)))
