"""Random numbers, and where they come from."""
from dragon.vm.dali.core.dynamic import calls as _calls
from dragon.vm.dali.core.dynamic.calls import RNG, get_default_rng, set_seed

globals().update(_calls.functions_of("random", __name__))
