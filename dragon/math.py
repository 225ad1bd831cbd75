"""Operators of mathematics: pointwise functions, reductions, products of matrices."""
from dragon.ops import shelf, shown_in

__getattr__, __dir__ = shelf(__name__, shown_in("math"))
