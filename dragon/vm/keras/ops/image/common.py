"""How images come: one or a batch, channels first or last; within, all are batches with channels last."""
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.ops.common import ops, standard_format


class Layout:
    """The layout of images, for the way there and back.

    Parameters
    ----------
    images : Tensor
        One image or a batch.
    data_format : Optional[str]
        "channels_last" or "channels_first"; the configured one for None.
    what : str, optional, default="images"
        What errors call them.

    """

    def __init__(self, images, data_format, what="images"):
        self.first = standard_format(data_format) == "channels_first"
        if images.ndim not in (3, 4):
            raise ValueError(f"Invalid {what} rank: expected rank 3 (single image) or rank 4 (batch of images). "
                             f"Received input with shape: {what}.shape={tuple(images.shape)}")
        self.single = images.ndim == 3

    def enter(self, images):
        """Return a batch with channels last, as a view."""
        images = ops.unsqueeze(images, 0) if self.single else images
        return ops.permuted(images, [0, 2, 3, 1]) if self.first else images

    def leave(self, images):
        """Return such a batch as the images came."""
        images = ops.permuted(images, [0, 3, 1, 2, *range(4, images.ndim)]) if self.first else images
        return ops.squeeze(images, 0) if self.single else images


def check_choice(name, value, choices):
    """Refuse what is not among the choices."""
    if value not in choices:
        raise ValueError(f"Invalid value for argument `{name}`. Expected of one {tuple(choices)}. "
                         f"Received: {name}={value}")


def like_images(self, images, *args, **kwargs):
    """Return symbolic images of the same sizes, for operations whose other arguments tell no shape."""
    Layout(images, None)
    return KerasTensor(images.shape, dtype=images.dtype)
