"""Masks."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.functions_of("segmentation", __name__))
