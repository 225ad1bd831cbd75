"""Lists of tensors are split by device and dtype as genuine PyTorch splits them."""
import torch
from dragon.vm import torch as dragon_torch


def split(module):
    from importlib import import_module
    group = import_module(module.__name__ + ".utils._foreach_utils")._group_tensors_by_device_and_dtype
    tensors = [module.ones(1), module.ones(2, dtype=module.float64), module.ones(3)]
    groups = group([tensors, [None, tensors[1], tensors[0]], []], with_indices=True)
    return {(str(device), str(dtype)): (places, [
        [None if x is None else tuple(x.shape) for x in part] for part in lists])
            for (device, dtype), (lists, places) in groups.items()}


def test_lists_are_split():
    assert split(dragon_torch) == split(torch)
