"""PatchCamelyon: small parts of scans of tissue, with a tumour in the middle or without one."""
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.datasets._listed import folder_of
from dragon.vm.torchvision.datasets.utils import download_file_from_google_drive, extract_archive, verify_str_arg
from dragon.vm.torchvision.datasets.vision import VisionDataset


class PCAM(VisionDataset):
    """Images of 96 by 96 pixels, 1 with a tumour and 0 without; reading them needs h5py.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `pcam`.
    split : str, optional, default="train"
        "train", "val" or "test".
    transform, target_transform, download : optional
        As for `ImageFolder`.

    """

    _FILES = {split: {what: (f"camelyonpatch_level_2_split_{name}_{letter}.h5", *found)
                      for (what, letter), found in zip((("images", "x"), ("targets", "y")), both)}
              for split, name, both in (
        ("train", "train", (("1Ka0XfEMiwgCYPdTI-vv6eUElOBnKFKQ2", "1571f514728f59376b705fc836ff4b63"),
                            ("1269yhu3pZDP8UYFQs-NYs3FPwuK-nGSG", "35c2d7259d906cfc8143347bb8e05be7"))),
        ("test", "test", (("1qV65ZqZvWzuIVthK8eVDhIwrbnsJdbg_", "d8c2d60d490dbd479f8199bdfa0cf6ec"),
                          ("17BHrSrwWKjYsOgTMmoqrIjDy6Fa2o_gP", "60a7035772fbdb7f34eb86d4420cf66a"))),
        ("val", "valid", (("1hgshYGWK8V-eGRy8LToWJJgDU_rXWVJ3", "d5b63470df7cfa627aeec8b9dc0c066e"),
                          ("1bH8ZRbhSVAhScTS0p9-ZzGnX91cHT3uO", "2b85f58b927af9964a4c15b8f7e8f179"))))}

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        try:
            import h5py
        except ImportError as error:
            raise RuntimeError("PCAM: found no h5py, which reads its files; install it with `pip install "
                               "h5py`") from error
        self.h5py = h5py
        self._split = verify_str_arg(split, "split", ("train", "test", "val"))
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._base_folder = folder_of(root, "pcam")
        if download:
            self._download()
        if not self._check_exists():
            raise RuntimeError("Dataset not found. You can use download=True to download it")

    def _open(self, what):
        return self.h5py.File(self._base_folder / self._FILES[self._split][what][0], "r")

    def __len__(self):
        with self._open("images") as file:
            return file["x"].shape[0]

    def __getitem__(self, idx):
        with self._open("images") as file:
            image = Image.fromarray(file["x"][idx]).convert("RGB")
        with self._open("targets") as file:
            target = int(file["y"][idx, 0, 0, 0])
        return self._transformed(image, target)

    def _check_exists(self):
        return all((self._base_folder / name).exists() for name, _, _ in self._FILES[self._split].values())

    def _download(self):
        if self._check_exists():
            return
        for name, number, md5 in self._FILES[self._split].values():
            download_file_from_google_drive(number, str(self._base_folder), f"{name}.gz", md5)
            extract_archive(self._base_folder / f"{name}.gz")
