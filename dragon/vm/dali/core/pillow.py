"""The package Pillow, asked for when a picture is read, and not before."""


def pillow(who):
    """Return Pillow's module `Image`.

    Parameters
    ----------
    who : str
        Who needs it.

    """
    try:
        from PIL import Image
    except ImportError:
        raise ModuleNotFoundError(f"{who}: got no package Pillow, expected it: pip install pillow",
                                  name="PIL") from None
    return Image
