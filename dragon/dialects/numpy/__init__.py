"""NumPy's functions of elements and products, as guests have them that have NumPy's names.

`arccos = acos(x)` says which of the engine's operators a function is; of several names for one operator, the first is
what it is called. `arccos : floating` says that integers count as floating numbers, `: truths` that operands count as
bools, and `: product` that elements are added up.
"""
