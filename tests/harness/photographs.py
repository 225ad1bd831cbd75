"""Small photographs for tests, as arrays and as files, and random numbers for those who draw."""
import io
import random

import numpy as np
from PIL import Image


class Draws(random.Random):
    """Random numbers with the two methods that geometry asks for."""

    def integer(self, count):
        return self.randrange(count)


def photograph(height, width, seed=0):
    """Return soft shades of colour with some edges, as an array [height, width, 3]."""
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, 256, (max(1, height // 9), max(1, width // 9), 3), np.uint8)
    pixels = np.asarray(Image.fromarray(cells).resize((width, height), Image.BICUBIC)).astype(int)
    pixels[height // 3:height // 2, width // 4:width // 2] += 70
    return (pixels + draw.integers(-9, 10, pixels.shape)).clip(0, 255).astype(np.uint8)


def jpeg(pixels, mode=None, **options):
    """Return an array as the bytes of a JPEG file."""
    file = io.BytesIO()
    Image.fromarray(pixels, mode).save(file, "JPEG", **{"quality": 85, **options})
    return file.getvalue()


def pillow_pixels(data, mode=None):
    """Return what Pillow reads."""
    picture = Image.open(io.BytesIO(data))
    return np.asarray(picture if mode is None else picture.convert(mode))
