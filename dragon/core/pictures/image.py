"""A tensor as a picture: PNG, written here, so that no package is needed to look at numbers."""
import base64
import struct
import zlib

from dragon.core import files
from dragon.core.pictures import opening
from dragon.core.pictures.page import escape, read, shorten

_LARGEST = 1 << 24  # pixels
_SMALLEST_SIDE = 96  # of a picture on a page; smaller ones are enlarged, each pixel a square


def encode_png(pixels):
    """Return pixels as a PNG file.

    Parameters
    ----------
    pixels : numpy.ndarray
        Bytes of shape (height, width) or (height, width, channels), with 1 to 4 channels.

    Returns
    -------
    bytes
        The file.

    """
    pixels = pixels.reshape(*pixels.shape, 1) if pixels.ndim == 2 else pixels
    height, width, channels = pixels.shape
    colours = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


class ImagePicture:
    """Numbers as an image.

    Parameters
    ----------
    numbers : numpy.ndarray
        (height, width), with channels before or behind them; a batch of such becomes a grid.
    title : str, optional, default="Image"
        What it is.
    low, high : float, optional
        What is black and what is white; by default 0 and 255 of bytes, 0 and 1 of floats that lie within, else the
        least and the largest number.

    """

    def __init__(self, numbers, title="Image", low=None, high=None):
        self.title = shorten(title)
        self.pixels = to_pixels(numbers, low, high)
        height, width = self.pixels.shape[:2]
        self.text = f"{self.title}: {width} x {height} pixels; save(path) writes a .png"

    def png(self):
        """Return the image as the bytes of a PNG file."""
        return encode_png(self.pixels)

    def html(self):
        """Return a page with the image."""
        return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
                f"<style>{read('colours.css')}body{{background:var(--paper);color:var(--ink);font-family:system-ui}}"
                f"</style></head><body>{self._repr_html_()}</body></html>")

    def save(self, path):
        """Write the image as PNG, or as a page if the name ends in .html.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            The file; one that is there is replaced.

        """
        name = str(path).lower()
        if not name.endswith((".png", ".html")):
            raise ValueError(f"save: got {str(path)!r}, expected a name that ends in .png or .html")
        files.write(path, self.png() if name.endswith(".png") else self.html().encode())

    def show(self):
        """Show the image: in the notebook, or in a browser."""
        opening.show(self)

    def _repr_png_(self):
        return self.png()

    def _repr_html_(self):
        height, width = self.pixels.shape[:2]
        scale = max(1, -(-_SMALLEST_SIDE // max(min(height, width), 1)))
        data = base64.b64encode(self.png()).decode()
        return (f'<figure style="margin:0"><img alt="{escape(self.title)}" width="{width * scale}" '
                f'style="image-rendering:pixelated;max-width:100%" src="data:image/png;base64,{data}">'
                f'<figcaption style="opacity:.65">{escape(self.title)}</figcaption></figure>')

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<dragon image {self.text!r}>"


def to_pixels(numbers, low=None, high=None):
    """Return numbers as bytes of shape (height, width) or (height, width, channels).

    Parameters
    ----------
    numbers : numpy.ndarray
        An image, or a batch of images, which becomes a grid; channels stand first or last.
    low, high : float, optional
        What is black and what is white.

    Returns
    -------
    numpy.ndarray
        The pixels. A NaN is black.

    """
    import numpy
    shape = numbers.shape
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"image: got numbers of dtype {numbers.dtype}, expected booleans, integers or floats")
    if not 2 <= numbers.ndim <= 4 or numbers.size == 0:
        raise ValueError(f"image: got shape {shape}, expected (height, width), with channels before or behind, or a "
                         "batch of those, and at least one pixel")
    if numbers.size > 4 * _LARGEST:
        raise ValueError(f"image: got shape {shape}, expected at most {_LARGEST} pixels; take a part, x[..., ::4, ::4]")
    if numbers.ndim >= 3:
        axis = next((axis for count in ((3,), (1, 4)) for axis in (-3, -1) if shape[axis] in count), None)
        if axis is None and numbers.ndim == 4:
            raise ValueError(f"image: got shape {shape}, expected 1, 3 or 4 channels, first or last")
        numbers = numbers[..., None] if axis is None else numpy.moveaxis(numbers, axis, -1)
    pixels = _to_bytes(numbers, low, high)
    pixels = _grid(pixels) if pixels.ndim == 4 else pixels
    return pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def _to_bytes(numbers, low, high):
    import numpy
    if numbers.dtype == numpy.uint8 and low is None and high is None:
        return numpy.ascontiguousarray(numbers)
    numbers = numbers.astype(numpy.float64)
    good = numbers[numpy.isfinite(numbers)]
    least, most = (good.min(), good.max()) if good.size else (0.0, 1.0)
    inside = least >= 0 and most <= 1
    low = (0.0 if inside else least) if low is None else low
    high = (1.0 if inside else most) if high is None else high
    numbers, low, high = numbers / 2, low / 2, high / 2  # so that the way from one to the other is finite
    scaled = numpy.nan_to_num((numbers - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
    return (numpy.clip(scaled, 0, 1) * 255).round().astype(numpy.uint8)


def _grid(images):
    """Return a batch as one image, with a grey line between its parts."""
    import numpy
    count, height, width, channels = images.shape
    across = int(numpy.ceil(numpy.sqrt(count)))
    down = -(-count // across)
    grid = numpy.full((down * (height + 1) - 1, across * (width + 1) - 1, channels), 128, numpy.uint8)
    for place, image in enumerate(images):
        y, x = place // across * (height + 1), place % across * (width + 1)
        grid[y:y + height, x:x + width] = image
    return grid
