"""Classes of operators that were new in DALI once."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.ops import decoders, readers

_all = _faces.classes_of("", __name__)
globals().update({name: _all[name] for name in "Equalize Filter TensorResize AudioResample PeekImageShape".split()})
