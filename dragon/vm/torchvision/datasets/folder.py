"""Images in folders, one for each class."""
import os

from dragon.core.files import read_whole
from dragon.vm.torchvision._postponed import open_picture
from dragon.vm.torchvision.datasets.vision import VisionDataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename, extensions):
    """Return whether a name ends with one of the extensions."""
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename):
    """Return whether a name is that of an image."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """Return the folders in a folder, sorted, and their numbers."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: index for index, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """Return (path, number of the class) for each file below the folders of classes."""
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    wanted = is_valid_file or (lambda path: has_file_allowed_extension(path, extensions))
    found, empty = [], []
    for name in sorted(class_to_idx):
        paths = [os.path.join(folder, file)
                 for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True))
                 for file in sorted(files)]
        paths = [path for path in paths if wanted(path)]
        found += [(path, class_to_idx[name]) for path in paths]
        empty += [] if paths else [name]
    if empty and not allow_empty:
        message = f"Found no valid file for the classes {', '.join(empty)}. "
        if extensions is not None:
            listed = extensions if isinstance(extensions, str) else ", ".join(extensions)
            message += f"Supported extensions are: {listed}"
        raise FileNotFoundError(message)
    return found


class DatasetFolder(VisionDataset):
    """Files in folders, one for each class.

    Parameters
    ----------
    root : Union[str, Path]
        The folder of folders.
    loader : Callable
        Reads a file.
    extensions : Tuple[str, ...], optional
        Which files count.
    transform, target_transform : Callable, optional
        Applied to what is read, and to the class.
    is_valid_file : Callable, optional
        Says which files count, instead of extensions.
    allow_empty : bool, optional, default=False
        Whether a class may have no files.

    """

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None,
                 allow_empty=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(self.root, class_to_idx=self.class_to_idx, extensions=extensions,
                                         is_valid_file=is_valid_file, allow_empty=allow_empty)
        self.loader, self.extensions = loader, extensions
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        """Return (path, number of the class) for each file."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions=extensions, is_valid_file=is_valid_file,
                            allow_empty=allow_empty)

    def find_classes(self, directory):
        """Return the classes and their numbers."""
        return find_classes(directory)

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


def pil_loader(path):
    """Return a file's image in red, green and blue."""
    return open_picture(read_whole(path))


default_loader = pil_loader


class ImageFolder(DatasetFolder):
    """Images in folders, one for each class; see `DatasetFolder`."""

    def __init__(self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None,
                 allow_empty=False):
        super().__init__(root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform=transform,
                         target_transform=target_transform, is_valid_file=is_valid_file, allow_empty=allow_empty)
        self.imgs = self.samples
