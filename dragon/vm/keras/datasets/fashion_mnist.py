"""Clothes of ten kinds: 60000 pictures of 28 x 28 pixels, and 10000 for tests."""
import gzip
import os

from dragon.vm.keras.datasets.sources import fetch


def load_data():
    """Return the pictures and their kinds: (x, y) for training, (x, y) for tests; uint8."""
    return _part("train"), _part("t10k")


def _part(name):
    import numpy as np
    folder = os.path.join("datasets", "fashion-mnist")
    labels, pictures = (fetch(f"{name}-{kind}-ubyte.gz", None, cache_subdir=folder)
                        for kind in ("labels-idx1", "images-idx3"))
    with gzip.open(labels, "rb") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    with gzip.open(pictures, "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(len(y), 28, 28), y
