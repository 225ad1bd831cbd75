"""The bases of data sets of images."""
import os

from dragon.vm.torch.utils import data
from dragon.vm.torchvision.datasets.utils import check_integrity, download_and_extract_archive


def indented(transform, head):
    """Return the lines a transform prints, behind a head."""
    first, *rest = repr(transform).splitlines()
    return [f"{head}{first}", *(" " * len(head) + line for line in rest)]


class StandardTransform:
    """Transform an image and its target, each by itself.

    Parameters
    ----------
    transform, target_transform : Callable, optional
        Take one of them each.

    """

    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input, target):
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self):
        lines = [self.__class__.__name__]
        if self.transform is not None:
            lines += indented(self.transform, "Transform: ")
        if self.target_transform is not None:
            lines += indented(self.target_transform, "Target transform: ")
        return "\n".join(lines)


class VisionDataset(data.Dataset):
    """A data set of images.

    Parameters
    ----------
    root : Union[str, Path], optional
        Where its files are.
    transforms : Callable, optional
        Takes an image and its target, and returns both.
    transform, target_transform : Callable, optional
        Take one of them each.

    """

    _repr_indent = 4

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        single = transform is not None or target_transform is not None
        if transforms is not None and single:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform, self.target_transform = transform, target_transform
        self.transforms = StandardTransform(transform, target_transform) if single else transforms

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__}: has no __getitem__")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__}: has no __len__")

    def __repr__(self):
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            body.append(repr(self.transforms))
        return "\n".join([f"Dataset {self.__class__.__name__}", *(" " * self._repr_indent + line for line in body)])

    def _format_transform_repr(self, transform, head):
        return indented(transform, head)

    _transformed = StandardTransform.__call__

    def extra_repr(self):
        """Return further lines of what is printed."""
        return ""


class ArchivedDataset(VisionDataset):
    """A data set whose files, `train_list` and `test_list`, come to `base_folder` in one archive from `url`."""

    def __len__(self):
        return len(self.data)

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _check_integrity(self):
        return all(self._is_intact(self._path(name), md5) for name, md5 in self.train_list + self.test_list)

    def _is_intact(self, path, md5):
        return check_integrity(path, md5)

    def download(self):
        """Fetch the files that are missing."""
        if not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)
