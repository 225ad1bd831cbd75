"""Pictures of a hundred kinds of things, in twenty groups: 50000 of 32 x 32 pixels, and 10000 for tests."""
from dragon.vm.keras.datasets.cifar import load_batches

HASH = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"


def load_data(label_mode="fine"):
    """Return the pictures and their labels.

    Parameters
    ----------
    label_mode : str, optional, default="fine"
        "fine" for the hundred kinds, "coarse" for the twenty groups.

    Returns
    -------
    Tuple[Tuple[numpy.ndarray, numpy.ndarray], Tuple[numpy.ndarray, numpy.ndarray]]
        (x, y) for training, (x, y) for tests.

    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f"`label_mode` must be one of `\"fine\"`, `\"coarse\"`. Received: label_mode={label_mode}.")
    return tuple(load_batches("cifar-100-python.tar.gz", "cifar-100-python", HASH, [name], f"{label_mode}_labels")
                 for name in ("train", "test"))
