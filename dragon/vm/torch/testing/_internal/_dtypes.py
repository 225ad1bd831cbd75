"""NumPy's dtypes and PyTorch's, each by the other."""
import numpy as np

from dragon.vm import torch

NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
torch_to_numpy_dtype_dict = {getattr(torch, name): np.dtype(name) for name in NAMES}
numpy_to_torch_dtype_dict = {known.type: dtype for dtype, known in torch_to_numpy_dtype_dict.items()}
torch_to_numpy_dtype_dict = {dtype: known.type for dtype, known in torch_to_numpy_dtype_dict.items()}


def numpy_to_torch_dtype(np_dtype):
    """Return PyTorch's dtype for one of NumPy's, or for one of its classes of numbers."""
    return numpy_to_torch_dtype_dict[np.dtype(np_dtype).type]
