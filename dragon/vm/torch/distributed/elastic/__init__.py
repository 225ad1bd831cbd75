"""Processes that are watched and started anew."""
from dragon.vm.guest import lookup

__getattr__, __dir__ = lookup(globals())
