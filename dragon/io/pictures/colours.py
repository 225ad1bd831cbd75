"""Changes of colour as one matrix: rows of red, green, blue and 1, for values from 0 to 255."""

RED, GREEN, BLUE = 0.299, 0.587, 0.114  # what the eye makes of them
MIDDLE = 127.5


def colour_matrix(brightness=1.0, contrast=1.0, saturation=1.0, hue=0.0):
    """Return the matrix that changes colours in the order of the arguments.

    Parameters
    ----------
    brightness : float, optional, default=1.0
        What values are multiplied by.
    contrast : float, optional, default=1.0
        How far they lie from middle grey; a picture's own mean would take a look at all of it first.
    saturation : float, optional, default=1.0
        How far colours lie from their grey.
    hue : float, optional, default=0.0
        How far colours are turned, 1 being all the way round.

    Returns
    -------
    tuple of float
        Twelve numbers, three rows of four.

    """
    import numpy as np
    grey = np.array([[RED, GREEN, BLUE]] * 3)
    mixed = saturation * np.eye(3) + (1 - saturation) * grey
    if hue:
        # Colours are turned about grey in the plane of the two differences of colour that television uses.
        planes = np.array([[RED, GREEN, BLUE], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
        mixed = turn_colours(planes, 2 * np.pi * hue) @ mixed
    made = np.concatenate((mixed * brightness * contrast, mixed.sum(1, keepdims=True) * (1 - contrast) * MIDDLE), 1)
    return tuple(made.ravel().tolist())


def turn_colours(planes, angle, saturation=1.0):
    """Return the matrix that turns hue, and scales saturation, in the plane of two differences of colour.

    Parameters
    ----------
    planes : numpy.ndarray
        What luma and the two differences are made of: rows of red, green and blue.
    angle : float
        By which hue is turned.
    saturation : float, optional, default=1.0
        What differences are multiplied by.

    """
    import numpy as np
    cosine, sine = saturation * np.cos(angle), saturation * np.sin(angle)
    return np.linalg.inv(planes) @ np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]]) @ planes


def random_colours(draws, brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0):
    """Return the matrix of a random change: factors lie from 1 - x to 1 + x, the turn of hue from -x to x."""
    factors = [draws.uniform(max(0.0, 1 - most), 1 + most) if most else 1.0
               for most in (brightness, contrast, saturation)]
    return colour_matrix(*factors, draws.uniform(-hue, hue) if hue else 0.0)
