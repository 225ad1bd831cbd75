"""Pictures with noise on them."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("noise", __name__))
