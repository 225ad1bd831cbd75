"""Sums, means, extremes and spreads along axes."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("reductions", __name__))
