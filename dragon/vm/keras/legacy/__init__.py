"""keras.legacy: what older programs, files and libraries ask for."""
from dragon.vm.guest import lookup
from dragon.vm.keras.legacy import saving

__getattr__, __dir__ = lookup(globals())
