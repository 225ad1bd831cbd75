"""Tensors by value and all that describes them: dtypes, shapes, devices, variables, strings; what they are made of."""
from dragon.core.tape import record_when_asked
from dragon.vm.shared.tensors import convert, indexing, operators

record_when_asked()  # by tapes
