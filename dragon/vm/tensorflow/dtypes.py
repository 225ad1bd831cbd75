"""`tf.dtypes`: the element types and what converts between them."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.tensors import dtypes as _dtypes
from dragon.vm.shared.arrays.creation import cast, saturate_cast  # noqa: F401
from dragon.vm.shared.tensors.dtypes import DType, as_dtype  # noqa: F401

globals().update(_dtypes.OBJECTS)
half, double = _dtypes.float16, _dtypes.float64
QUANTIZED_DTYPES = frozenset(_dtype for _dtype in _dtypes.OBJECTS.values() if _dtype.is_quantized)
__getattr__, __dir__ = _lookup(globals(), {"math": "complex"})
