"""ONNX's other sizes of images as TensorFlow's nodes."""
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.translation import cast, handles

INT32, FLOAT32 = as_dtype("int32"), as_dtype("float32")
# (mode, how coordinates are told) of what TensorFlow has a node for.
NODES = {("nearest", "asymmetric"): ("ResizeNearestNeighbor", {}),
         ("nearest", "half_pixel"): ("ResizeNearestNeighbor", {"half_pixel_centers": True}),
         ("linear", "half_pixel"): ("ResizeBilinear", {"half_pixel_centers": True}),
         ("linear", "align_corners"): ("ResizeBilinear", {"align_corners": True}),
         ("cubic", "half_pixel"): ("ResizeBicubic", {"half_pixel_centers": True})}
KERNELS = {"linear": "triangle", "cubic": "keyscubic"}
CUBIC = -0.5  # what TensorFlow's cubic kernels are made with
ROUNDED = {"asymmetric": "floor", "half_pixel": "round_prefer_ceil"}  # how places are, of the nearest element


def cut(b, x, begin, end):
    """Return a part of a vector."""
    return b.StridedSlice(x, [begin], [end], [1])


def _sizes(b, call, moved):
    """Return (old height and width, new ones)."""
    old = cut(b, b.shape(moved, INT32), 1, 3)
    if call.end(3) is not None:
        return old, cast(b, cut(b, call.end(3), 2, 4), INT32)
    factors = b.constant(call.numbers(2)[2:], FLOAT32)
    new = b.unary("Floor", b.binary("Mul", cast(b, old, FLOAT32), factors))
    return old, cast(b, new, INT32)


@handles("Resize")
def _resize(b, call):
    x, mode = call.end(0), call.get("mode", "nearest")
    way = call.get("coordinate_transformation_mode", "half_pixel")
    known = (mode, way) in NODES and x.rank == 4
    if mode == "cubic" and call.get("cubic_coeff_a", -0.75) != CUBIC:
        known = False
    if mode == "nearest" and call.get("nearest_mode") != ROUNDED.get(way):
        known = False
    if not known:
        raise call.refusal(f"of mode {mode}, coordinates {way} and a tensor of {x.rank} axes is not supported")
    moved = b.transpose(x, [0, 2, 3, 1])
    old, new = _sizes(b, call, moved)
    if call.get("antialias", 0):
        scale = b.binary("RealDiv", cast(b, new, FLOAT32), cast(b, old, FLOAT32))
        found = b.ScaleAndTranslate(moved, new, scale, b.constant([0, 0], FLOAT32), dtype=FLOAT32,
                                    kernel_type=KERNELS[mode], antialias=True)
    else:
        op, options = NODES[mode, way]
        dtype = x.dtype if mode == "nearest" else FLOAT32
        found = b.call(op, moved, new, dtype=dtype, **options)
    return b.transpose(cast(b, found, x.dtype), [0, 3, 1, 2])
