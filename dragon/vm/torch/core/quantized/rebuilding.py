"""What files call to make a quantized tensor anew."""
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.quantized.making import check_channels, number_of, require_kind, require_points
from dragon.vm.torch.core.quantized.parts import WHOLE, make
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.storage import window


def _rebuild_qtensor(storage, storage_offset, size, stride, quantizer_params, requires_grad, backward_hooks):
    """Return a quantized tensor on a storage of integers, from its scheme, scales and zero points."""
    kind = require_kind("load", storage.dtype, ("quint4x2",))
    held = storage._untyped_storage if hasattr(storage, "_untyped_storage") else storage
    integers = window(held._memory, storage.dtype, storage_offset, size, stride)
    scheme, *told = quantizer_params
    if scheme is layouts.per_tensor_affine:
        scale, zero_point = told
        require_points("load", [zero_point], kind)
        return make(integers, kind, WHOLE, number_of("load", "scale", scale, "float64"),
                    number_of("load", "zero_point", zero_point, "int64"))
    if scheme not in (layouts.per_channel_affine, layouts.per_channel_affine_float_qparams):
        raise RuntimeError(f"load: got the scheme {scheme!r}, expected torch.per_tensor_affine or per_channel_affine: "
                           "Can't deserialize quantized tensor with that qscheme")
    scales, zero_points, axis = told
    if type(scales) is not Tensor:  # of old files
        scales, zero_points = as_tensor(scales, dtype=OBJECTS["float64"]), as_tensor(zero_points)
    scales, zero_points, told = check_channels("load", integers, scales, zero_points, axis, kind)
    return make(integers, kind, told, scales, zero_points, axis)


_rebuild_qtensor.__module__ = __name__.replace("core.quantized.rebuilding", "_utils")  # where files look for it
