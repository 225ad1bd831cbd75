"""One image made lighter or darker, or of other colours, as an array."""
from dragon.vm.keras.utils.image import array_to_img, img_to_array
from dragon.vm.shared.files.pictures import pillow


def apply_channel_shift(x, intensity, channel_axis=0):
    """Return an image with a number added to all channels, within the least and the largest that it has.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    intensity : float
        What is added.
    channel_axis : int, optional, default=0
        The axis of channels.

    Returns
    -------
    numpy.ndarray
        Of the same shape.

    """
    import numpy
    shifted = numpy.clip(numpy.rollaxis(x, channel_axis) + intensity, numpy.min(x), numpy.max(x))
    return numpy.rollaxis(shifted, 0, channel_axis + 1)


def random_channel_shift(x, intensity_range, channel_axis=0):
    """Return an image with a number added that is drawn.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    intensity_range : float
        The largest number, in either direction.
    channel_axis : int, optional, default=0
        The axis of channels.

    """
    import numpy
    return apply_channel_shift(x, numpy.random.uniform(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x, brightness, scale=True):
    """Return an image that is lighter or darker.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    brightness : float
        0 is black, 1 leaves it as it is.
    scale : bool, optional, default=True
        Whether its numbers are scaled to 0 ... 255.

    Returns
    -------
    numpy.ndarray
        Of the same shape.

    """
    import numpy
    pillow("apply_brightness_shift")
    from PIL import ImageEnhance
    least, most = numpy.min(x), numpy.max(x)
    beyond = least < 0 or most > 255
    made = img_to_array(ImageEnhance.Brightness(array_to_img(x, scale=beyond or scale)).enhance(brightness))
    return made / 255 * (most - least) + least if beyond and not scale else made


def random_brightness(x, brightness_range, scale=True):
    """Return an image whose brightness is drawn.

    Parameters
    ----------
    x : numpy.ndarray
        One image.
    brightness_range : Tuple[float, float]
        The limits; 1 leaves it as it is.
    scale : bool, optional, default=True
        As of `apply_brightness_shift`.

    """
    import numpy
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, numpy.random.uniform(brightness_range[0], brightness_range[1]), scale)
