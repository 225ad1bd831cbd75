"""Operators of lists of tensors, as loops make them, and of the older arrays of tensors."""
from dragon.vm.shared.arrays import joining
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.saved_model.table import operator
from dragon.vm.tensorflow.core.saved_model.values import (
    RaggedRows, RaggedVariant, TensorList, host, number, numbers, shape_of, tensor)

LONGEST = 1 << 24  # places of a list that a file may ask for at once


def _list(value, node):
    if not isinstance(value, TensorList):
        raise invalid_argument(f"{node.op}: got {type(value).__name__}, expected a list of tensors. Node: {node.name}")
    return value


def _shape(value):
    """Return what a shape says of elements: None, or sizes of which -1 is unknown."""
    found = numbers(value)
    return found if isinstance(found, list) else None if found == -1 else []


def _place(items, index, node):
    if not 0 <= index < len(items):
        raise invalid_argument(f"Trying to access element {index} in a list with {len(items)} elements. "
                               f"[Op:{node.op}]")
    return index


@operator("TensorListReserve")
def _reserve(node, shape, count):
    count = number(count)
    if not 0 <= count <= LONGEST:
        raise invalid_argument(f"TensorListReserve: got {count} elements, expected 0 to {LONGEST}")
    return TensorList([None] * count, node.get("element_dtype"), _shape(shape))


@operator("EmptyTensorList")
def _empty(node, shape, most):
    return TensorList([], node.get("element_dtype"), _shape(shape))


@operator("TensorListFromTensor")
def _from_tensor(node, x, shape):
    parts = x.items if isinstance(x, RaggedRows) else joining.unstack(tensor(x))
    return TensorList(list(parts), node.get("element_dtype"), _shape(shape))


@operator("TensorListLength")
def _length(node, items):
    return host(len(_list(items, node).items))


@operator("TensorListElementShape")
def _element_shape(node, items):
    found = _list(items, node).element_shape
    return host(-1 if found is None else list(found), node.get("shape_type"))


@operator("TensorListGetItem")
def _get_item(node, items, index, shape):
    items = _list(items, node)
    return _filled(items, _place(items.items, number(index), node), _shape(shape))


def _filled(items, index, shape=None):
    """Return an element; zeros where nothing was set."""
    found = items.items[index]
    if found is not None:
        return found
    known = next((shape_of(one) for one in items.items if one is not None), None) or items.element_shape or shape
    if known is None or any(size < 0 for size in known):
        raise invalid_argument(f"Trying to read an uninitialized tensor, whose shape is not known. Element {index}")
    return ops.zeros(tuple(known), dtype=items.dtype)


@operator("TensorListSetItem")
def _set_item(node, items, index, value):
    items, index = _list(items, node), number(index)
    held = list(items.items)
    if index >= len(held) and node.get("resize_if_index_out_of_bounds") and index <= LONGEST:
        held += [None] * (index + 1 - len(held))
    held[_place(held, index, node)] = value
    return items.but(held)


@operator("TensorListPushBack")
def _push(node, items, value):
    items = _list(items, node)
    return items.but([*items.items, value])


@operator("TensorListPopBack")
def _pop(node, items, shape):
    items = _list(items, node)
    if not items.items:
        raise invalid_argument("Trying to pop from an empty list. [Op:TensorListPopBack]")
    return items.but(items.items[:-1]), _filled(items, len(items.items) - 1, _shape(shape))


@operator("TensorListResize")
def _resize(node, items, count):
    items, count = _list(items, node), number(count)
    if not 0 <= count <= LONGEST:
        raise invalid_argument(f"TensorListResize: got {count} elements, expected 0 to {LONGEST}")
    return items.but((items.items + [None] * count)[:count])


@operator("TensorListStack")
def _stack(node, items, shape):
    items, shape = _list(items, node), _shape(shape)
    if not items.items:
        inner = shape or items.element_shape or []
        return ops.zeros((0, *(max(size, 0) for size in inner)), dtype=items.dtype)
    if any(isinstance(one, RaggedVariant) for one in items.items):
        return RaggedRows(list(items.items))
    return joining.stack([tensor(_filled(items, index, shape)) for index in range(len(items.items))])


@operator("TensorListGather")
def _gather(node, items, indices, shape):
    items, shape = _list(items, node), _shape(shape)
    return joining.stack([tensor(_filled(items, _place(items.items, index, node), shape))
                          for index in numbers(indices)])


@operator("TensorListScatterV2 TensorListScatter")
def _scatter(node, x, indices, shape, count=None):
    places = numbers(indices)
    length = max(places, default=-1) + 1
    if count is not None and number(count) > length:
        length = number(count)
    if min(places, default=0) < 0 or length > LONGEST:
        raise invalid_argument(f"{node.op}: got indices {places[:8]}, expected 0 to {LONGEST}")
    held = [None] * length
    for place, value in zip(places, joining.unstack(tensor(x))):
        held[place] = value
    return TensorList(held, node.get("element_dtype"), _shape(shape))


@operator("TensorListConcatV2 TensorListConcat")
def _concat(node, items, shape=None, leading=None):
    items = _list(items, node)
    parts = [tensor(_filled(items, index)) for index in range(len(items.items))]
    lengths = host([part.shape[0] for part in parts], "int64")
    return (joining.concat(parts, 0) if parts else ops.zeros((0,), dtype=items.dtype)), lengths


@operator("TensorListSplit")
def _split(node, x, shape, lengths):
    return TensorList(list(joining.split(tensor(x), numbers(lengths))), node.get("element_dtype"), _shape(shape))


@operator("TensorListConcatLists")
def _join(node, one, other):
    return _list(one, node).but([*_list(one, node).items, *_list(other, node).items])
