"""How alike images are."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor
from dragon.vm.keras.ops.image.blur import make_bell
from dragon.vm.keras.ops.image.common import Layout


@operation
def ssim(image1, image2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, data_format=None):
    """Return the structural similarity of images.

    Parameters
    ----------
    image1, image2 : Tensor
        One image each, or a batch.
    max_val : float, optional, default=1.0
        The largest possible number.
    filter_size : int, optional, default=11
        The size of windows.
    filter_sigma : float, optional, default=1.5
        How wide the bell over a window is.
    k1, k2 : float, optional
        What keeps quotients from zeros.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    Tensor
        One number for each pair.

    """
    first, second = tensor(image1), tensor(image2)
    layout = Layout(first, data_format, "image1")
    Layout(second, data_format, "image2")
    dtype = dtype_of(first)
    work = result_type(dtype, float)
    first, second = (ops.permute(cast_to(layout.enter(x), work), [0, 3, 1, 2]) for x in (first, second))
    bell = make_bell(filter_size, filter_sigma, work)
    kernel = ops.reshape(ops.mul(ops.unsqueeze(bell, 1), bell), (1, 1, filter_size, filter_size))
    batch, channels = first.shape[:2]

    def mean(x):
        return ops.conv(ops.reshape(x, (-1, 1, *x.shape[2:])), kernel, None, [1, 1])
    mean1, mean2 = mean(first), mean(second)
    both, square1, square2 = ops.mul(mean1, mean2), ops.square(mean1), ops.square(mean2)
    var1, var2 = ops.sub(mean(ops.square(first)), square1), ops.sub(mean(ops.square(second)), square2)
    shared = ops.sub(mean(ops.mul(first, second)), both)
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    top = ops.mul(ops.add(ops.mul(both, 2.0), c1), ops.add(ops.mul(shared, 2.0), c2))
    bottom = ops.mul(ops.add(ops.add(square1, square2), c1), ops.add(ops.add(var1, var2), c2))
    made = ops.mean(ops.reshape(ops.mean(ops.div(top, bottom), [1, 2, 3]), (batch, channels)), -1)
    return cast_to(ops.squeeze(made, 0) if layout.single else made, dtype)
