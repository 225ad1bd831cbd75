"""Street View House Numbers from its MATLAB files."""
import os

from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets.utils import check_integrity, download_url, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class SVHN(VisionDataset):
    """Small images of digits on houses; reading them needs SciPy.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds the files.
    split : str, optional, default="train"
        "train", "test" or "extra".

    """

    split_list = {name: [f"http://ufldl.stanford.edu/housenumbers/{name}_32x32.mat", f"{name}_32x32.mat", md5]
                  for name, md5 in (("train", "e26dedcc434d2e4c54c9b2d4a06d8373"),
                                    ("test", "eb5a983be6a315427106f1b164d9cef3"),
                                    ("extra", "a93ce644f1a588dc4d68dda5feec44a7"))}

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", tuple(self.split_list))
        self.url, self.filename, self.file_md5 = self.split_list[split]
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        try:
            from scipy.io import loadmat
        except ImportError as error:
            raise ImportError("SVHN: found no SciPy, which reads MATLAB's files; install it with `pip install scipy`",
                              name="scipy") from error
        loaded = loadmat(os.path.join(self.root, self.filename))
        # The files call the digit 0 class 10.
        self.labels = loaded["y"].astype("int64").squeeze() % 10
        self.data = loaded["X"].transpose((3, 2, 0, 1))

    def __getitem__(self, index):
        return self._transformed(Image.fromarray(self.data[index].transpose((1, 2, 0))), int(self.labels[index]))

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return check_integrity(os.path.join(self.root, self.filename), self.file_md5)

    def download(self):
        """Fetch the file if it is missing."""
        download_url(self.url, self.root, self.filename, self.file_md5)

    def extra_repr(self):
        return f"Split: {self.split}"
