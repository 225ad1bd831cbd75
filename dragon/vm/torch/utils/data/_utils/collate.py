"""From a list of samples to a batch."""
import re
from collections.abc import Mapping, Sequence

from dragon.io import current_arena
from dragon.vm import torch
from dragon.vm.torch.core.layout import strided
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils.data._utils.structure import (is_namedtuple, map_mapping, rebuild_mapping,
                                                         rebuild_sequence)

np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = ("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
                                  "found {}")


def default_convert(data):
    """Return data with arrays and NumPy numbers as tensors, in mappings and sequences too."""
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(data.dtype.str):
            return data
        return torch.as_tensor(data)
    if isinstance(data, Mapping):
        return map_mapping(default_convert, data)
    if is_namedtuple(data):
        return kind(*map(default_convert, data))
    if isinstance(data, tuple):
        return list(map(default_convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return rebuild_sequence(data, list(map(default_convert, data)))
    return data


def collate(batch, *, collate_fn_map=None):
    """Return samples as one, element by element.

    Parameters
    ----------
    batch : list
        The samples, all of one structure.
    collate_fn_map : dict, optional
        A function for each type, or tuple of types, of elements.

    Returns
    -------
    Any
        What the functions return, in the structure of a sample.

    """
    first = batch[0]
    if collate_fn_map is not None:
        function = collate_fn_map.get(type(first))
        if function is None:
            function = next((found for kind, found in collate_fn_map.items() if isinstance(first, kind)), None)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return rebuild_mapping(first, {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
                                       for key in first})
    if not isinstance(first, Sequence):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    if not is_namedtuple(first) and any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
    if isinstance(first, tuple):
        return type(first)(*columns) if is_namedtuple(first) else columns
    return rebuild_sequence(first, columns)


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Return tensors stacked; in a worker, in shared memory at once."""
    first = batch[0]
    if getattr(first, "layout", strided) is not strided:
        raise RuntimeError("Batches of sparse tensors are not currently supported by the default collate_fn; "
                           "please provide a custom collate_fn to handle them appropriately.")
    arena = current_arena()
    count = first.numel()
    if arena is None or count == 0 or first.requires_grad or any(type(item) is not torch.Tensor for item in batch):
        return torch.stack(batch, 0)  # which asks the classes of tensors that have others
    memory = arena.allocate(len(batch) * count * first.element_size())
    place = ops.view_dtype(torch.frombuffer(memory, dtype=torch.uint8), first.dtype)
    return torch.stack(batch, 0, out=ops.view(place, (len(batch), *first.shape)))


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Return arrays stacked, as a tensor."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([torch.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """Return NumPy numbers as a tensor."""
    import numpy as np
    return torch.as_tensor(np.array(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """Return Python floats as a tensor of doubles."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Return Python integers as a tensor."""
    return torch.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Return texts as they are."""
    return batch


def _default_map():
    import numpy as np
    # The first class of which an element is an instance wins, hence the order.
    return {Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn,
            (np.bool_, np.number, np.object_): collate_numpy_scalar_fn, float: collate_float_fn,
            int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}


default_collate_fn_map = _default_map()


def default_collate(batch):
    """Return samples as a batch: tensors stacked, numbers as tensors, texts as lists, structures kept."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
