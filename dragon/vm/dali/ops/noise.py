"""Pictures with noise on them."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("noise", __name__))
