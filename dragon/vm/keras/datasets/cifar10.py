"""Pictures of ten kinds of things: 50000 of 32 x 32 pixels, and 10000 for tests."""
from dragon.vm.keras.datasets.cifar import load_batches

HASH = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def load_data():
    """Return the pictures and their kinds: (x, y) for training, (x, y) for tests; uint8."""
    parts = [load_batches("cifar-10-python.tar.gz", "cifar-10-batches-py", HASH, names, "labels")
             for names in ([f"data_batch_{number}" for number in range(1, 6)], ["test_batch"])]
    return tuple((x, y.astype("uint8")) for x, y in parts)
