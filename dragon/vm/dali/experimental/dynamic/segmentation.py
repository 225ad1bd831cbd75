"""Masks."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("segmentation", __name__))
