"""Functions of operators that are new in DALI."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.fn import decoders, readers

globals().update(_faces.functions_of("experimental", __name__))
