"""Operators that are called like any function of Python, on tensors and batches, with no pipeline around them."""
import os as _os

import numpy as _np

from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.dynamic import calls as _calls
from dragon.vm.dali.core.dynamic import kinds as _kinds
from dragon.vm.dali.core.dynamic import places as _places
from dragon.vm.dali.core.dynamic.kinds import DType
from dragon.vm.dali.core.dynamic.places import Device, EvalContext, EvalMode, ThreadPool, get_num_threads
from dragon.vm.dali.core.dynamic.places import set_num_threads
from dragon.vm.dali.core.dynamic.making import as_batch, as_tensor, batch, tensor
from dragon.vm.dali.core.dynamic.values import Batch, Tensor
from dragon.vm.dali.experimental.dynamic import decoders, io, math, noise, random, readers, reductions, segmentation
from dragon.vm.dali.experimental.dynamic import transforms

globals().update(_calls.functions_of("", __name__))
globals().update(_faces.refuse("""
checkpoint: readers and RNG have get_state and set_state
capture: loops run as they are
ExternalSource: a loop over one's own data, and as_batch
optical_flow: kernels for devices
jitter: a kernel for devices; warp_affine and noise.* move and change pixels
stream: pipelines run on the host
get_current_stream: pipelines run on the host
get_default_stream: pipelines run on the host
set_current_stream: pipelines run on the host
set_default_stream: pipelines run on the host
""", __name__))
dtype, device = _kinds.as_dtype, _places.device
uint8, uint16, uint32, uint64 = (_kinds.TYPES[f"u{_bits}"] for _bits in (8, 16, 32, 64))
int8, int16, int32, int64 = (_kinds.TYPES[f"i{_bits}"] for _bits in (8, 16, 32, 64))
float16, float32, float64, bfloat16 = (*(_kinds.TYPES[f"f{_bits}"] for _bits in (16, 32, 64)), _kinds.BFLOAT16)
bool = _kinds.TYPES["bool"]
DataType, ImageType, InterpType = (_kinds.LISTS[_name] for _name in ("DataType", "ImageType", "InterpType"))


def type_id(dtype):
    """Return a type in the words of pipelines."""
    return _kinds.as_dtype(dtype).type_id


def imread(filepaths, device="cpu", **arguments):
    """Read and decode a picture, or several as a batch.

    Parameters
    ----------
    filepaths : Union[str, os.PathLike, Sequence, Tensor, Batch]
        Where it lies; tensors hold the bytes of a path.
    device : str, optional, default="cpu"
        Where the program wants it.
    arguments : Any
        Those of `decoders.image`.

    Returns
    -------
    Union[Tensor, Batch]
        The picture, or pictures.

    """
    def encode(path):
        return _np.frombuffer(_os.fsencode(path), _np.uint8)
    if isinstance(filepaths, (str, bytes, _os.PathLike)):
        filepaths = tensor(encode(filepaths))
    elif not isinstance(filepaths, (Tensor, Batch)):
        filepaths = as_batch([encode(path) for path in filepaths])
    return decoders.image(io.file.read(filepaths), device=device, **arguments)
