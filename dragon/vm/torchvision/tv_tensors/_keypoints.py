"""Keypoints on an image."""
from dragon.vm.torchvision.tv_tensors._tv_tensor import TVTensor


class KeyPoints(TVTensor):
    """Places (..., 2) on an image.

    Parameters
    ----------
    data : Any
        What `torch.as_tensor` takes.
    canvas_size : Tuple[int, int]
        The image's height and width.
    dtype, device, requires_grad : optional
        Of the tensor.

    """

    _loose = {"check_dims": False}
    _particulars = ("canvas_size",)

    @classmethod
    def _wrap(cls, tensor, *, canvas_size, check_dims=True):
        if check_dims and tensor.ndim == 1:
            tensor = tensor.unsqueeze(0)
        elif check_dims and tensor.shape[-1] != 2:
            raise ValueError(f"Expected a tensor of shape (..., 2), not {tensor.shape}")
        points = tensor.as_subclass(cls)
        points.canvas_size = canvas_size
        return points

    def __new__(cls, data, *, canvas_size, dtype=None, device=None, requires_grad=None):
        return cls._wrap(cls._to_tensor(data, dtype=dtype, device=device, requires_grad=requires_grad),
                         canvas_size=canvas_size)
