"""What goes from stage to stage: several values in messages with one tag, led by one that says what they are."""
from dragon.vm import torch
from dragon.vm.torch.distributed import messages
from dragon.vm.torch.distributed.collectives import object_device
from dragon.vm.torch.distributed.making import _group
from dragon.vm.torch.distributed.objects import _count, _to_object, _to_tensor

FIRST_TAG = 1 << 20  # programs' own tags are smaller


class _Shape:
    """A tensor that follows.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.

    """

    def __init__(self, tensor):
        self.shape, self.dtype, self.learns = tuple(tensor.shape), tensor.dtype, tensor.requires_grad
        self.kind = tensor.device.type


def send(values, group, peer, tag):
    """Begin to send values to a rank of a group; return the works."""
    device = object_device(_group(group))
    head = _to_tensor([_Shape(value) if isinstance(value, torch.Tensor) else value for value in values], device)
    tensors = [value.detach() for value in values if isinstance(value, torch.Tensor)]
    return [messages.isend(tensor, group=group, tag=FIRST_TAG + tag, group_dst=peer)
            for tensor in (_count(device, len(head)), head, *tensors)]


def receive(group, peer, tag):
    """Return the values that a rank of a group has sent; tensors ask for gradients if they did there."""
    def fill(tensor):
        messages.recv(tensor, group=group, tag=FIRST_TAG + tag, group_src=peer)
        return tensor
    device = object_device(_group(group))
    size = fill(_count(device, 0)).item()
    head = _to_object(fill(torch.empty(size, dtype=torch.uint8, device=device)), size)
    return [fill(torch.empty(value.shape, dtype=value.dtype, device=value.kind)).requires_grad_(value.learns)
            if isinstance(value, _Shape) else value for value in head]
