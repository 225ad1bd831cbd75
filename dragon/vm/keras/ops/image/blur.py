"""Images smoothed, and their edges."""
from dragon.vm.keras.ops.common import dtype_of, operation, ops, tensor
from dragon.vm.keras.ops.image.common import Layout, like_images
from dragon.vm.keras.ops.nn.convolution import depthwise_conv
from dragon.vm.shared.images.edges import find_edges


def make_bell(size, sigma, dtype):
    """Return numbers in the shape of a bell, whose sum is 1."""
    places = ops.sub(ops.arange(int(size), dtype=dtype), (int(size) - 1) / 2)
    bell = ops.exp(ops.mul(ops.square(ops.div(places, sigma)), -0.5))
    return ops.div(bell, ops.sum(bell))


@operation
def gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    """Smooth images by a bell-shaped window.

    Parameters
    ----------
    kernel_size : Tuple[int, int], optional, default=(3, 3)
        The window's sizes.
    sigma : Tuple[float, float], optional, default=(1.0, 1.0)
        How wide the bell is.

    """
    images = tensor(images)
    layout = Layout(images, data_format)
    x, dtype = layout.enter(images), dtype_of(images)
    across, down = (make_bell(*how, dtype) for how in zip(kernel_size, sigma))
    window = ops.mul(ops.unsqueeze(down, 1), across)
    shape = (int(kernel_size[0]), int(kernel_size[1]), 1, 1)
    kernel = ops.tile(ops.reshape(window, shape), [1, 1, x.shape[-1], 1])
    return layout.leave(depthwise_conv(x, kernel, 1, "same", "channels_last"))


gaussian_blur.operation.compute_output_spec = like_images


@operation
def sobel_edges(images, data_format=None):
    """Return how images change downwards and to the right, along a new last axis. ...

    Returns
    -------
    Tensor
        With a last axis of 2.

    """
    images = tensor(images)
    layout = Layout(images, data_format)
    front = ops.permute(layout.enter(images), [0, 3, 1, 2])
    return layout.leave(find_edges(ops.pad(front, [1, 1, 1, 1], "reflect")))
