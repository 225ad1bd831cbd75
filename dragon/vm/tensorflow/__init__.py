"""TensorFlow's API on Dragon's engine: the guest `tensorflow`. Names are looked up when first asked for.

Functions take a `name`, as TensorFlow's do. It labels a node of a graph there, and is not used here.
"""
from dragon.vm.docstrings import Words as _Words
from dragon.vm.guest import FINISHED as _FINISHED, lookup as _lookup
from dragon.vm.shared import strategies as _strategies
from dragon.vm.shared.ragged import listeners as _listeners
from dragon.vm.shared.tensors.dtypes import ALIASES as _ALIASES, OBJECTS as _OBJECTS
from dragon.vm.tensorflow.core.names import PLACES as _PLACES
from dragon.vm.tensorflow.core.examples_of_rows import EXAMPLES as _EXAMPLES
from dragon.vm.tensorflow.core.words import WORDS as _WORDS

__version__ = "2.21.0"
newaxis = None
globals().update(_OBJECTS)
globals().update((_alias, _OBJECTS[_name]) for _alias, _name in _ALIASES.items() if _alias != "float")

__getattr__, __dir__ = _lookup(globals(), _PLACES)
_FINISHED["tensorflow"] = _Words("tensorflow", _WORDS, _EXAMPLES).finish


def _strategy_in_use():
    from dragon.vm.tensorflow.core.flow.strategies import get_strategy
    return get_strategy()


def _know_ragged():
    """Have functions of dense tensors know ragged and sparse ones."""
    from dragon.vm.tensorflow.core import dispatch  # noqa: F401: it is done by importing it


_listeners.when_made(globals(), _know_ragged)
_strategies.current.append(_strategy_in_use)
