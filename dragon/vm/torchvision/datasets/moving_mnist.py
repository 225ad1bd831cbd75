"""Moving MNIST: two digits that wander about."""
import os

import numpy

from dragon.vm import torch
from dragon.vm.torchvision.datasets.utils import download_url, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class MovingMNIST(VisionDataset):
    """Videos of 20 frames, uint8 of shape (20, 1, 64, 64).

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `MovingMNIST`.
    split : str, optional
        "train", the first frames, or "test", the others; all frames if there is none.
    split_ratio : int, optional, default=10
        How many frames are the first, 1 to 19.
    download : bool, optional, default=False
        Whether to fetch files that are missing.
    transform : Callable, optional
        Applied to the video.

    """

    _URL = "http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy"
    _MD5 = "be083ec986bfe91a449d63653c411eb2"

    def __init__(self, root, split=None, split_ratio=10, download=False, transform=None):
        super().__init__(root, transform=transform)
        self._base_folder = os.path.join(self.root, self.__class__.__name__)
        self._filename = self._URL.rpartition("/")[2]
        self.split = split if split is None else verify_str_arg(split, "split", ("train", "test"))
        if not isinstance(split_ratio, int):
            raise TypeError(f"`split_ratio` should be an integer, but got {type(split_ratio)}")
        if not 1 <= split_ratio <= 19:
            raise ValueError(f"`split_ratio` should be `1 <= split_ratio <= 19`, but got {split_ratio} instead.")
        self.split_ratio = split_ratio
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError("Dataset not found. You can use download=True to download it.")
        frames = numpy.load(os.path.join(self._base_folder, self._filename))
        wanted = {None: slice(None), "train": slice(split_ratio), "test": slice(split_ratio, None)}[split]
        # The file has all videos' first frames, then all second ones, and so on.
        self.data = torch.from_numpy(frames[wanted]).transpose(0, 1).unsqueeze(2).contiguous()

    def __getitem__(self, idx):
        return self.data[idx] if self.transform is None else self.transform(self.data[idx])

    def __len__(self):
        return len(self.data)

    def _check_exists(self):
        return os.path.exists(os.path.join(self._base_folder, self._filename))

    def download(self):
        """Fetch the file if it is missing."""
        if not self._check_exists():
            download_url(self._URL, self._base_folder, self._filename, self._MD5)
