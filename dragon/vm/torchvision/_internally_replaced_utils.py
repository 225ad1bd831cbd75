"""Checkpoints from the local cache, fetched if there is a network."""
import os

from dragon.vm import torch


def cache_folder():
    """Return the folder where PyTorch keeps checkpoints."""
    home = os.environ.get("TORCH_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.join(os.path.expanduser(home), "hub", "checkpoints")


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=True):
    """Return a checkpoint from the cache; it is fetched first if it is not there.

    Parameters
    ----------
    url : str
        Where it is.
    model_dir : str, optional
        The folder of the cache.
    map_location : optional
        As for `torch.load`.
    progress, check_hash : bool, optional
        Accepted for compatibility.
    file_name : str, optional
        Its name in the folder.
    weights_only : bool, optional, default=True
        As for `torch.load`.

    Returns
    -------
    Dict[str, Tensor]
        The checkpoint.

    """
    from dragon.vm.torchvision.datasets.utils import download_url
    folder, name = model_dir or cache_folder(), file_name or os.path.basename(url)
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        download_url(url, folder, name)
    return torch.load(path, map_location=map_location, weights_only=weights_only)
