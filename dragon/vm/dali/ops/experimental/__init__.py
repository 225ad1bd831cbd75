"""Classes of operators that are new in DALI."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.ops import decoders, readers

globals().update(_faces.classes_of("experimental", __name__))
