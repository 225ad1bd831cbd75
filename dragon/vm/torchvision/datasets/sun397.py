"""Photographs of scenes."""
from dragon.vm.torchvision.datasets._listed import folder_of, folders_there, ListedImages
from dragon.vm.torchvision.datasets.folder import default_loader


class SUN397(ListedImages):
    """Photographs of 397 kinds of scenes.

    Parameters
    ----------
    root : Union[str, Path]
        The folder that holds `SUN397`.
    transform, target_transform, download, loader : optional
        As for `ImageFolder`.

    """

    _archives = (("http://vision.princeton.edu/projects/2010/SUN/SUN397.tar.gz", "8ca2778205c41d23104230ba66911c7a"),)

    def __init__(self, root, transform=None, target_transform=None, download=False, loader=default_loader):
        self._folder = folder_of(root, "SUN397")
        super().__init__(root, transform, target_transform, download, loader)

    def _there(self):
        return folders_there(self._folder)

    def _list(self):
        with open(self._folder / "ClassName.txt", encoding="utf-8") as file:
            self._name_classes(line[3:].strip() for line in file)  # a line is like "/a/abbey"
        paths = list(self._folder.rglob("sun_*.jpg"))
        return paths, [self.class_to_idx["/".join(path.relative_to(self._folder).parts[1:-1])] for path in paths]
