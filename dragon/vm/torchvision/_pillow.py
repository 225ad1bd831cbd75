"""The one door to Pillow: says what to install where it is missing."""
try:
    import PIL
    from PIL import Image, ImageChops, ImageColor, ImageDraw, ImageEnhance, ImageFont, ImageOps  # noqa: F401
except ImportError as error:
    from dragon.core.distribution import install_words
    raise ImportError("torchvision: found no Pillow, which images need; install it with "
                      f"`{install_words('vision')}` or `pip install pillow`", name="PIL") from error

__version__ = PIL.__version__
