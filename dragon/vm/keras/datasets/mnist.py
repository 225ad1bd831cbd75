"""Handwritten digits: 60000 pictures of 28 x 28 pixels, and 10000 for tests."""
from dragon.vm.keras.datasets.sources import BASE, fetch

HASH = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"


def load_data(path="mnist.npz"):
    """Return the pictures and the digits. ...

    Returns
    -------
    Tuple[Tuple[numpy.ndarray, numpy.ndarray], Tuple[numpy.ndarray, numpy.ndarray]]
        (x, y) for training, (x, y) for tests; uint8.

    """
    import numpy as np
    with np.load(fetch(path, HASH, BASE + "mnist.npz"), allow_pickle=False) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])
