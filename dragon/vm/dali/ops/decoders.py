"""Decoders: pictures and sounds out of files."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("decoders", __name__))
