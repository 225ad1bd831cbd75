"""Matrices of affine transforms."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("transforms", __name__))
