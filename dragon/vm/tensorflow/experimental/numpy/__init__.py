"""`tf.experimental.numpy`: NumPy's functions on tensors, with NumPy's dtypes."""
from math import e, inf, pi  # noqa: F401

from dragon.vm.guest import gather as _gather, lookup as _lookup
from dragon.vm.shared.tensors.tensor import Tensor as ndarray  # noqa: F401
from dragon.vm.tensorflow.core.numpy_like import arrays as _arrays, elementwise as _elementwise
from dragon.vm.tensorflow.core.numpy_like import reductions as _reductions
from dragon.vm.tensorflow.core.numpy_like.behaviour import experimental_enable_numpy_behavior  # noqa: F401
from dragon.vm.tensorflow.core.numpy_like.promotion import promote_types, result_type  # noqa: F401

newaxis = None
_gather(globals(), _arrays, _elementwise, _reductions)
# NumPy's scalar types, which are its dtypes as well; the names that newer NumPys lack.
_TYPES = {name: name for name in "bool_ complex64 complex128 float16 float32 float64 inexact int8 int16 int32 int64 "
          "object_ uint8 uint16 uint32 uint64".split()}
_TYPES.update(complex_="complex128", float_="float64", int_="int64", string_="bytes_", unicode_="str_")
_find, _list_names = _lookup(globals())


def __getattr__(name):
    if name in _TYPES:
        import numpy
        return globals().setdefault(name, getattr(numpy, _TYPES[name]))
    return _find(name)


def __dir__():
    return sorted({*_list_names(), *_TYPES})
