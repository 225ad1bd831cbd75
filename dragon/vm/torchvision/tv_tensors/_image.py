"""Images, videos and masks."""
from dragon.vm.torchvision.tv_tensors._tv_tensor import TVTensor


def _from_pillow(data):
    if hasattr(data, "getbands"):
        from dragon.vm.torchvision.transforms.functional import pil_to_tensor
        return pil_to_tensor(data)
    return data


class Image(TVTensor):
    """An image (..., C, H, W).

    Parameters
    ----------
    data : Any
        A tensor, an image of Pillow, or what `torch.as_tensor` takes.
    dtype, device, requires_grad : optional
        Of the tensor.

    """

    _particulars = ()

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        tensor = cls._to_tensor(_from_pillow(data), dtype=dtype, device=device, requires_grad=requires_grad)
        if tensor.ndim < 2:
            raise ValueError(f"Tensor must be 2D or higher, got {tensor.ndim}D tensor.")
        return (tensor.unsqueeze(0) if tensor.ndim == 2 else tensor).as_subclass(cls)


class Video(TVTensor):
    """A video (..., T, C, H, W); see `Image`."""

    _particulars = ()

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        tensor = cls._to_tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)
        if tensor.ndim < 4:
            raise ValueError(f"Tensor must be 4D or higher, got {tensor.ndim}D tensor.")
        return tensor.as_subclass(cls)


class Mask(TVTensor):
    """A mask of segments or of instances; see `Image`."""

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        return cls._to_tensor(_from_pillow(data), dtype=dtype, device=device,
                              requires_grad=requires_grad).as_subclass(cls)
