"""The parts that the two CIFAR data sets have in common: pictures of 32 x 32 pixels in batches of their own form."""
import os

from dragon.vm.keras.core.config import image_data_format
from dragon.vm.keras.datasets.sources import ArrayUnpickler, fetch

ADDRESS = "https://www.cs.toronto.edu/~kriz/"


def load_batches(archive, folder, file_hash, batches, key):
    """Return the pictures and labels of batches, joined."""
    import numpy as np
    path = fetch(f"{folder}-target", file_hash, ADDRESS + archive, extract=True)
    pictures, labels = [], []
    for name in batches:
        with open(os.path.join(path, folder, name), "rb") as file:
            batch = {word.decode(): value for word, value in ArrayUnpickler(file, encoding="bytes").load().items()}
        pictures.append(batch["data"].reshape(-1, 3, 32, 32))
        labels += batch[key]
    x = np.concatenate(pictures)
    x = x.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else x
    return x, np.reshape(labels, (-1, 1))
