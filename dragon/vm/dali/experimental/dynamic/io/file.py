"""Files as rows of bytes."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("io.file", __name__))
