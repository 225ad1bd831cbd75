"""Lists and their entries, where `Feature.LISTS` asks for them."""
from dragon import _C
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def list_append(target, item):
    """Return a list with an item more; of a `TensorArray` one that holds it."""
    if hasattr(target, "_staged_parts"):
        return target.write(target.size(), item)
    target.append(item)
    return target


def set_item(target, index, value):
    """Return a list, array or tensor with another value at an index."""
    if hasattr(target, "_staged_parts"):
        return target.write(index, value)
    if isinstance(target, _C.Tensor) and not hasattr(target, "assign"):
        rows = ops.reshape(ops.cast(convert_to_tensor(index), "int64"), (1, 1))
        value = convert_to_tensor(value, target.dtype)
        from dragon.vm.shared.arrays.gathering import tensor_scatter_nd_update
        return tensor_scatter_nd_update(target, rows, ops.unsqueeze(value, 0))
    target[index] = value
    return target
