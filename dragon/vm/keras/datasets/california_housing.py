"""Prices of houses in California in 1990: 20640 rows of 8 numbers."""
from dragon.vm.keras.datasets.sources import cut, load_table

HASH = "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f"


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """Return the rows and the prices.

    Parameters
    ----------
    version : str, optional, default="large"
        "small" for the first 600 rows.

    """
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be one of 'small', 'large'. Received: version={version}")
    x, y = load_table(path, HASH, test_split)
    return cut(*((x[:600], y[:600]) if version == "small" else (x, y)), test_split, seed)
