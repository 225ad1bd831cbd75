"""Lists of tensors by device and dtype, as optimizers of others want them for operators on lists."""
from dragon.vm.torch.core.tensor import Tensor

_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices():
    """Return the device types, beside the CPU, with operators on lists."""
    return ["cuda"]


def _get_fused_kernels_supported_devices():
    """Return the device types with fused optimizers."""
    return ["cpu", "cuda"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """Return lists of tensors split by the device and dtype of the first list's.

    Parameters
    ----------
    tensorlistlist : Sequence[Sequence[Optional[Tensor]]]
        Lists of equal lengths; those after the first may be empty.
    with_indices : bool, optional, default=False
        Whether the places in the lists are told.

    Returns
    -------
    Dict[Tuple[device, dtype], Tuple[List[List[Optional[Tensor]]], List[int]]]
        For each device and dtype the shorter lists, and the places.

    """
    groups = {}
    for place, first in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for short, whole in zip(lists, tensorlistlist):
            if whole:
                short.append(whole[place])
        if with_indices:
            places.append(place)
    return groups


def _device_has_foreach_support(device):
    """Return whether there are operators on lists for a device."""
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    """Return whether there are operators on lists for a device and these classes of tensors."""
    return _device_has_foreach_support(device) and all(
        tensor is None or type(tensor) in _foreach_supported_types for tensor in tensors)
