"""Small helpers of layers: sizes given as one number or one per axis, prefixes of names."""
from collections.abc import Iterable

from dragon.vm.torch.core.tensor import ops


def _ntuple(n, name="parse"):
    """Return a function that makes a number a tuple of `n`, and any sequence a tuple."""
    def parse(x):
        return tuple(x) if isinstance(x, Iterable) else (x,) * n
    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """Return the items from last to first, each `n` times: paddings as `pad` wants them."""
    return tuple(item for item in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Return output sizes in which None stands for the input's."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"output_size: got {len(defaults)} input dims, expected at least {len(out_size) + 1}")
    return [default if size is None else size for size, default in zip(out_size, defaults[-len(out_size):])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Take a prefix away from the names of a `state_dict`, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        # The module itself stands there without the prefix's dot.
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix):]] = metadata.pop(key)


def factory(device, dtype):
    """Return the keyword arguments with which a layer makes its tensors."""
    return {"device": device, "dtype": dtype}


def empty(*shape, device=None, dtype=None):
    """Return a tensor for a layer to fill."""
    from dragon.vm.torch.core.device import as_device
    return ops.empty(shape, dtype=dtype, device=as_device(device))
