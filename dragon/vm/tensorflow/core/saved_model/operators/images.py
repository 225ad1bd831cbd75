"""Operators of images."""
from dragon.vm.shared.errors import UnimplementedError, invalid_argument
from dragon.vm.shared.images.warping import PROJECTED, project_batch
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.saved_model.table import operator, row_function
from dragon.vm.tensorflow.core.saved_model.values import dtype_of, numbers, tensor


def _places(size, wanted, aligned):
    """Return where pixels are read that older files ask for: from the corner on, with corners aligned or not."""
    import numpy as np
    scale = np.float32((size - 1) / (wanted - 1)) if aligned and wanted > 1 else np.float32(size / wanted)
    return np.arange(wanted, dtype=np.float32) * scale


def _weights(size, wanted, aligned):
    """Return the matrix of a bilinear reading."""
    import numpy as np
    places = _places(size, wanted, aligned)
    low = np.minimum(np.floor(places).astype(int), size - 1)
    high, part, rows_ = np.minimum(low + 1, size - 1), places - np.floor(places), np.arange(wanted)
    made = np.zeros((wanted, size), np.float32)
    np.add.at(made, (rows_, low), 1 - part)
    np.add.at(made, (rows_, high), part)
    return convert_to_tensor(made)


def _nearest(size, wanted, aligned):
    import numpy as np
    places = _places(size, wanted, aligned)
    found = np.floor(places + np.float32(0.5)) if aligned else np.floor(places)
    return convert_to_tensor(np.minimum(found, size - 1).astype(np.int64))


@operator("ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea")
def _resize(node, x, size):
    x, size = tensor(x), numbers(size)
    aligned, centred = node.get("align_corners"), node.get("half_pixel_centers", False)
    method = {"ResizeBilinear": "bilinear", "ResizeNearestNeighbor": "nearest", "ResizeBicubic": "bicubic",
              "ResizeArea": "area"}[node.op]
    if centred or method == "area" and not aligned:
        from dragon.vm.tensorflow import image  # which few programs need
        return image.resize(x, size, method)
    if method == "nearest":
        rows_, columns = (_nearest(x.shape[axis], size[axis - 1], aligned) for axis in (1, 2))
        return ops.index_select(ops.index_select(x, 1, rows_), 2, columns)
    if method != "bilinear":
        raise UnimplementedError(None, None, f"saved_model: {node.op} without half_pixel_centers is not supported "
                                 f"(node '{node.name}' of function '{node.where}')")
    rows_, columns = (_weights(x.shape[axis], size[axis - 1], aligned) for axis in (1, 2))
    return ops.einsum("ph,bhwc,qw->bpqc", [rows_, ops.cast(x, "float32"), columns])


KERNELS = {"lanczos1": "lanczos1", "lanczos3": "lanczos3", "lanczos5": "lanczos5", "gaussian": "gaussian",
           "box": "box", "triangle": "triangle", "keyscubic": "keys", "mitchellcubic": "mitchell"}


def _placed(function, node, x, sizes, scale, translation):
    """Return images scaled and moved, or what that makes of a gradient."""
    scale, translation = tensor(scale), tensor(translation)
    kernel = KERNELS.get(node.get("kernel_type", "lanczos3"))
    if kernel is None:
        raise invalid_argument(f"Unrecognized kernel type: {node.get('kernel_type')}. Known: {', '.join(KERNELS)}")
    if tuple(scale.shape) != (2,) or not min(scale.tolist()) > 0:
        raise invalid_argument(f"Scale must be greater than zero, for two axes. Received: {scale.tolist()}")
    made = function(ops.permuted(ops.cast(x, "float32"), [0, 3, 1, 2]), scale, translation, sizes, kernel,
                    node.get("antialias", True))
    return ops.permuted(made, [0, 2, 3, 1])


@operator("ScaleAndTranslate")
def _scale_and_translate(node, x, size, scale, translation):
    x = tensor(x)
    if x.ndim != 4 or 0 in x.shape[1:] or x.dtype.name in ("bool", "string"):
        raise invalid_argument(f"{node.op}: got images of {x.dtype.name} and shape {tuple(x.shape)}, expected numbers "
                               "and four axes, none of which but the first is empty")
    return _placed(ops.scale_and_translate, node, x, numbers(size), scale, translation)


@operator("ScaleAndTranslateGrad")
def _scale_and_translate_back(node, slope, x, scale, translation):
    return _placed(ops.scale_and_translate_backward, node, tensor(slope), list(tensor(x).shape[1:3]), scale,
                   translation)


@operator("ImageProjectiveTransformV3 ImageProjectiveTransformV2")
def _transform(node, x, transforms, size, fill=None):
    x, value = tensor(x), 0.0 if fill is None else float(tensor(fill))
    if x.dtype.name not in PROJECTED:
        raise invalid_argument(f"{node.op}: got images of {x.dtype.name}, expected {', '.join(PROJECTED)}")
    return project_batch(x, tensor(transforms), numbers(size), node.get("interpolation").lower(),
                         node.get("fill_mode").lower(), value)


@row_function
def longer(x, size):
    """Return a vector with zeros behind it."""
    return ops.cat([x, ops.zeros((size - x.shape[0],), dtype=dtype_of(x))])
