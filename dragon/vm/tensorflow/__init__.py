"""TensorFlow's API on Dragon's engine: the guest `tensorflow`. Names are looked up when first asked for."""
import importlib as _importlib
import pkgutil as _pkgutil
import sys as _sys

from dragon import _C
from dragon.vm.tensorflow.core import names as _names
from dragon.vm.tensorflow.core.dtypes import ALIASES as _ALIASES, OBJECTS as _OBJECTS
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

# Outside of tapes nothing is recorded; where PyTorch's door is open, recording stays on as its users expect.
if "dragon.vm.torch" not in _sys.modules:
    _C.set_grad_enabled(False)

__version__ = "2.21.0"
newaxis = None
globals().update(_OBJECTS)
globals().update((_alias, _OBJECTS[_name]) for _alias, _name in _ALIASES.items() if _alias != "float")

_places = _names.read_table()
_areas = tuple(_module.name for _module in _pkgutil.iter_modules(__path__) if _module.name != "core")
_find = _module_getattr("tensorflow", globals(), _places, _areas)


def __getattr__(name):
    elsewhere = _names.ELSEWHERE.get(name)
    if elsewhere is not None and name not in _areas:
        where = f"{__name__}.keras" if name == "keras" else elsewhere
        return globals().setdefault(name, _importlib.import_module(where))
    return _find(name)


def __dir__():
    return sorted({*globals(), *_places, *_areas, *_names.ELSEWHERE})
