"""`x[...]` as TensorFlow reads it: integers, slices, `...`, `tf.newaxis` and scalar tensors; or one mask of bools."""
from dragon import _C
from dragon.core.capture.control import is_open
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import Base, Tensor, as_tensor, ops

newaxis = None
_get = _C.Tensor.__getitem__


def get_item(x, key):
    """Return a part of a tensor or variable."""
    kind = type(key)
    if kind is not int:
        if is_capturing() and _has_open(key):
            return _at_open(x, key if kind is tuple or kind is list else (key,))
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


def _is_open_number(part):
    """Return whether a subscript is a number that is known when the graph runs."""
    return isinstance(part, _C.Tensor) and part.ndim == 0 and part.dtype.name in ("int32", "int64", "int16") and (
        is_open(part))


def _has_open(key):
    return _is_open_number(key) or type(key) in (tuple, list) and any(map(_is_open_number, key))


def _at_open(x, key):
    """Return a part of a tensor, some of whose subscripts are known when the graph runs: these are taken last."""
    rank = sum(part is not None and part is not Ellipsis for part in key)
    plain, axes, axis = [], [], 0
    for part in key:
        if _is_open_number(part):
            axes.append((axis, part))
        plain.append(slice(None) if _is_open_number(part) else part)
        if part is Ellipsis:
            axis += x.ndim - rank
        elif part is None or type(part) is slice or _is_open_number(part):
            axis += 1
    found = get_item(x, tuple(plain))
    for axis, number in reversed(axes):
        number = ops.cast(number, "int64")
        size = _C.Tensor.shape.__get__(found)[axis]
        number = ops.where(ops.lt(number, 0), ops.add(number, size), number)
        found = ops.squeeze(ops.index_select(found, axis, ops.reshape(number, (1,))), axis)
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
    from dragon.vm.shared.tensors.convert import brought, convert_to_tensor
    mask = brought(convert_to_tensor(mask), x.device)
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
            return int(part)
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
