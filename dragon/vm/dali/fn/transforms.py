"""Matrices of affine transforms."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.functions_of("transforms", __name__))
