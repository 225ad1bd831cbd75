"""Whole files."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("io.file", __name__))
