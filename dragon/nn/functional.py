"""The functions that layers compute."""
from dragon.ops import shelf, shown_in

__getattr__, __dir__ = shelf(__name__, shown_in("nn.functional"))
