"""Tensors by value and all that describes them: dtypes, shapes, devices, variables, strings; what they are made of."""
import functools

from dragon.vm.shared.tensors import convert, indexing, operators


@functools.cache
def _string_class():
    """Return the class of tensors of strings, which only programs that have text read."""
    from dragon.vm.shared.tensors.strings import StringTensor
    return StringTensor


convert.string_class.append(_string_class)
