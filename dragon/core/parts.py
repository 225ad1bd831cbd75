"""Tensors that are made of others: how one is made, what it is made of, and who computes calls with it."""
from dragon import _C

make_of_parts, parts_of, set_handler = _C.make_of_parts, _C.parts_of, _C.set_parts_handler
