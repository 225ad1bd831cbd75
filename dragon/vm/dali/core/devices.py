"""What asks for a device runs on the host, and is told so once: the numbers are the same, and no kernel is for one."""
from dragon.core import warnings

_told = set()


def tell(device):
    """Warn, once in a process, that a device was asked for.

    Parameters
    ----------
    device : str
        "gpu" or "mixed".

    """
    if device not in ("gpu", "mixed"):
        raise ValueError(f"device: got {device!r}, expected 'cpu', 'gpu' or 'mixed'")
    if not _told:
        _told.add(device)
        warnings.warn(f"dali: got device={device!r}; Dragon's pipelines run on the host, with the same results")
