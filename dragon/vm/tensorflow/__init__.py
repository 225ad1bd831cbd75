"""TensorFlow's API on Dragon's engine: the guest `tensorflow`. Names are looked up when first asked for."""
import sys as _sys

from dragon import _C
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.ragged import listeners as _listeners
from dragon.vm.shared.tensors.dtypes import ALIASES as _ALIASES, OBJECTS as _OBJECTS
from dragon.vm.tensorflow.core.names import PLACES as _PLACES

# Outside of tapes nothing is recorded; where PyTorch's door is open, recording stays on as its users expect.
if "dragon.vm.torch" not in _sys.modules:
    _C.set_grad_enabled(False)

__version__ = "2.21.0"
newaxis = None
globals().update(_OBJECTS)
globals().update((_alias, _OBJECTS[_name]) for _alias, _name in _ALIASES.items() if _alias != "float")

__getattr__, __dir__ = _lookup(globals(), _PLACES)


def _know_ragged():
    """Have functions of dense tensors know ragged and sparse ones."""
    from dragon.vm.tensorflow.core import dispatch  # noqa: F401


_listeners.when_made(globals(), _know_ragged)
