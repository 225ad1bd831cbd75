"""Random numbers."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("random", __name__))
