"""Sums, means, extremes and spreads along axes."""
from dragon.vm.dali.core import faces as _faces

globals().update(_faces.classes_of("reductions", __name__))
