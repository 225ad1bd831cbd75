"""Decoders: pictures and sounds out of files."""
from dragon.vm.dali.core.dynamic import calls as _calls

globals().update(_calls.functions_of("decoders", __name__))
