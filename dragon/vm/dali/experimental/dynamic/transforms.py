"""Matrices of affine transforms."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("transforms", __name__))
