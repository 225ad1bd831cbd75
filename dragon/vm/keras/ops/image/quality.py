"""How alike images are."""
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor
from dragon.vm.keras.ops.image.common import Layout
from dragon.vm.shared.images.similarity import find_similarities


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
    first, second = (cast_to(layout.enter(x), work) for x in (first, second))
    found, _ = find_similarities(first, second, max_val, int(filter_size), filter_sigma, k1, k2)
    made = ops.mean(ops.mean(found, [-3, -2]), -1)
    return cast_to(ops.squeeze(made, 0) if layout.single else made, dtype)
