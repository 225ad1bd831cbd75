"""Tensors as `TensorProto` messages: what `tf.io.serialize_tensor` gives."""
import math

from dragon.core.files import may_hold
from dragon.core.wire import DecodeError
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, over_strings
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.tensors.dtypes import as_dtype

Dim = make_message("Dim", "The size of an axis.", size=Field(1, "int64"), name=Field(2, "string"))
TensorShapeProto = make_message("TensorShapeProto", "The sizes of the axes.", dim=Field(2, Dim, True),
                                unknown_rank=Field(3, "bool"))
TensorProto = make_message(
    "TensorProto", "The numbers of a tensor.", dtype=Field(1, "enum"), tensor_shape=Field(2, TensorShapeProto),
    version_number=Field(3, "int32"), tensor_content=Field(4, "bytes"), float_val=Field(5, "float", True),
    double_val=Field(6, "double", True), int_val=Field(7, "int32", True), string_val=Field(8, "bytes", True),
    scomplex_val=Field(9, "float", True), int64_val=Field(10, "int64", True), bool_val=Field(11, "bool", True),
    dcomplex_val=Field(12, "double", True), half_val=Field(13, "int32", True))
Dim.__module__ = TensorShapeProto.__module__ = TensorProto.__module__ = __name__
# The list that numbers are in where they are not raw bytes.
LISTS = {"float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val",
         "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val", "bfloat16": "half_val"}
MOST_AXES = 32  # as many as NumPy's arrays may have


def make_proto(tensor):
    """Return a tensor as a message."""
    proto = TensorProto(dtype=tensor.dtype.as_datatype_enum)
    # Set even where there is no axis: a scalar differs from a tensor of unknown shape.
    proto.tensor_shape.SetInParent()
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=int(size))
    array = array_of(tensor)
    if tensor.dtype.name == "string":
        proto.string_val.extend(array.ravel().tolist() if array.ndim else [array[()]])
    else:
        proto.tensor_content = array.tobytes()
    return proto


def serialize(tensor):
    """Return a tensor as the bytes of a message."""
    return make_proto(tensor).SerializeToString()


def parse(data):
    """Return the tensor that the bytes of a message hold."""
    try:
        return read_proto(TensorProto.FromString(data))
    except (DecodeError, UnicodeDecodeError) as error:
        raise errors.InvalidArgumentError(None, None, f"Could not parse the bytes as a TensorProto: {error}") from None


def _refuse(what):
    raise errors.InvalidArgumentError(None, None, f"Could not parse the bytes as a TensorProto: {what}")


def _count(shape, values, width):
    """Return how many elements a shape has; a list that is too short goes on, though not without an end."""
    count = math.prod(shape)
    if any(size < 0 for size in shape) or len(shape) > MOST_AXES or not may_hold(count * width, values * width):
        _refuse(f"a shape {shape[:8]} of {values} elements")
    return count


def read_proto(proto):
    """Return the tensor of a message."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    array = read_array(proto)
    return over_strings(array) if array.dtype == object else convert_to_tensor(array)


def read_array(proto):
    """Return the numbers of a message as an array, strings as one of bytes."""
    import numpy as np
    try:
        dtype = as_dtype(proto.dtype)
        kind = np.dtype(object if dtype.name == "string" else dtype.as_numpy_dtype)
    except (TypeError, KeyError, ValueError) as error:
        _refuse(error)
    shape = [dim.size for dim in proto.tensor_shape.dim]
    if dtype.name == "string":
        values = proto.string_val or [b""]
        array = np.full(_count(shape, len(values), kind.itemsize), values[-1], object)
        array[:len(values)] = values[:array.size]
        return array.reshape(shape)
    if proto.tensor_content:
        if len(proto.tensor_content) != math.prod(shape) * kind.itemsize or min(shape, default=0) < 0:
            _refuse(f"{len(proto.tensor_content)} bytes for a shape {shape[:8]} of {dtype.name}")
        return np.frombuffer(proto.tensor_content, kind).reshape(shape)
    name = LISTS.get(dtype.name, "int_val")
    values = np.array(list(getattr(proto, name)) or [0])
    if name == "half_val":
        values = values.astype(np.uint16).view(kind)
    elif name in ("scomplex_val", "dcomplex_val"):
        if len(values) % 2:
            _refuse("a complex number without its imaginary part")
        values = values[0::2] + 1j * values[1::2]
    array = np.full(_count(shape, len(values), kind.itemsize), values[-1], kind)
    array[:len(values)] = values[:array.size]
    return array.reshape(shape)
