"""Small files for data sets, of random pixels and numbers, and what two data sets hold."""
import json
import zlib

import numpy
import pytest
from compare import same
from PIL import Image

numbers = numpy.random.default_rng(0)


def picture(path, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (5, 6, 3) if mode == "RGB" else (5, 6)
    Image.fromarray(numbers.integers(0, 255, shape).astype("uint8")).save(path)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def matlab(path, **values):
    path.parent.mkdir(parents=True, exist_ok=True)
    pytest.importorskip("scipy.io").savemat(path, values)


def floats(path, channels=1, order="<"):
    path.parent.mkdir(parents=True, exist_ok=True)
    values = numbers.normal(size=(4, 5, channels)).astype(f"{order}f4")
    path.write_bytes(f"{'PF' if channels == 3 else 'Pf'}\n5 4\n{'-' if order == '<' else ''}1.0\n".encode()
                     + values.tobytes())


def movement(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    values = numbers.normal(size=(4, 5, 2)).astype("<f4")
    path.write_bytes(b"PIEH" + numpy.array([5, 4], "<i4").tobytes() + values.tobytes())


def deep_picture(path):
    """Write a PNG of three channels of 16 bits, which Pillow does not write, and return its pixels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = numbers.integers(0, 2 ** 16, (4, 5, 3)).astype(">u2")
    pixels[..., 2] = numbers.integers(0, 2, (4, 5))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    head = (5).to_bytes(4, "big") + (4).to_bytes(4, "big") + bytes([16, 2, 0, 0, 0])
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
                     + chunk(b"IEND", b""))
    return pixels.astype("int32")


def disparity_picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(numbers.integers(1, 60000, (5, 6)).astype("uint16")).save(path)


def same_items(mine, theirs):
    """Assert that two data sets hold the same."""
    assert len(mine) == len(theirs) > 0 and repr(mine) == repr(theirs)
    for index in range(len(theirs)):
        found, wanted = mine[index], theirs[index]
        assert isinstance(found, tuple) == isinstance(wanted, tuple)
        pairs = (each if isinstance(each, tuple) else (each,) for each in (found, wanted))
        for item, right in zip(*pairs, strict=True):
            if right is None or isinstance(right, (int, str, tuple, list)):
                assert item == right
            else:
                same(item, right)
