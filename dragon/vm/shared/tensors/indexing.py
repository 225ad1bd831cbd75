"""`x[...]` as TensorFlow reads it: integers, slices, `...`, `tf.newaxis` and scalar tensors; or one mask of bools."""
from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import Base, Tensor, as_tensor, ops

newaxis = None
_get = _C.Tensor.__getitem__


def get_item(x, key):
    """Return a part of a tensor or variable."""
    kind = type(key)
    if kind is not int:
        if kind is tuple or kind is list:
            if kind is list and _is_mask(key):
                return _masked(x, key)
            key = tuple(_item(part, key) for part in key)
        elif _is_mask(key):
            return _masked(x, key)
        else:
            key = _item(key, key)
    found = _get(x, key)
    return found if type(found) is Tensor else as_tensor(found)


def _is_mask(key):
    """Return whether a key stands for a mask: bools, alone or in an array, a tensor or lists."""
    if isinstance(key, bool):
        return True
    if isinstance(key, list):
        return bool(key) and (isinstance(key[0], bool) or isinstance(key[0], list) and _is_mask(key[0]))
    dtype = getattr(key, "dtype", None)
    return dtype is not None and getattr(dtype, "name", None) == "bool"


def _masked(x, mask):
    """Return the rows that a mask marks."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    mask = convert_to_tensor(mask)
    if not mask.ndim:
        raise ValueError("mask cannot be scalar.")
    if tuple(mask.shape) != tuple(x.shape)[:mask.ndim]:
        raise ValueError(f"Shapes {tuple(x.shape)[:mask.ndim]} and {tuple(mask.shape)} are incompatible")
    return as_tensor(_get(x, mask))


def _item(part, key):
    """Return one subscript as the engine takes it."""
    if part is None or part is Ellipsis or type(part) is int or _is_size(part):
        return part
    if type(part) is slice:
        if part.step == 0 and part.step is not None:
            raise invalid_argument("strides[0] must be non-zero [Op:StridedSlice] name: strided_slice/")
        return slice(_bound(part.start, key), _bound(part.stop, key), _bound(part.step, key))
    if isinstance(part, _C.Tensor):
        if part.ndim == 0 and part.dtype.name in ("int32", "int64", "int16"):
            return ops.cast(part, "int64") if is_capturing() else int(part)
    elif hasattr(part, "__index__") and not isinstance(part, bool) and getattr(part, "ndim", 0) == 0:
        return part.__index__()
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                    f"tensors are valid indices, got {part!r}")


def _is_size(value):
    """Return whether a value is a size that varies, which stays what it is."""
    return value.__class__ is int


def _bound(value, key):
    """Return a bound of a slice as an int or None."""
    if value is None or type(value) is int or _is_size(value):
        return value
    if isinstance(value, _C.Tensor) and value.ndim == 0 and not value.dtype.name.startswith(("float", "bfloat")):
        return value.item()
    if hasattr(value, "__index__") and not isinstance(value, bool) and getattr(value, "ndim", 0) == 0:
        return value.__index__()
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                    f"tensors are valid indices, got {key!r}")


Base.__getitem__ = get_item
