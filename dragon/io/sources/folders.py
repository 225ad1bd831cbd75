"""Folders of pictures: a folder for each class, as most collections of pictures are."""
import os

from dragon.io.sources.remote import ask_fsspec, is_remote, local_path, open_file
from dragon.io.source import Source

PICTURES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".gif")


class PictureFolder(Source):
    """The pictures of a folder: dicts of "image" (the bytes of its file), "label" and "path".

    Parameters
    ----------
    root : Union[str, os.PathLike]
        The folder. The names of its own folders are the classes; those within them do not count.
    extensions : Sequence[str], optional
        Which files are taken.
    classes : Sequence[str], optional
        The classes in the order of their numbers; all folders, sorted, by default.
    labels : bool, optional, default=True
        Whether folders are classes; otherwise all pictures are taken, wherever they lie, and have no label.

    """

    def __init__(self, root, extensions=PICTURES, classes=None, labels=True):
        self.root = os.fsdecode(root)
        self.extensions = tuple(extension.lower() for extension in extensions)
        files = self._list_remote() if is_remote(self.root) else self._list_local()
        if not labels:
            self.classes, self.samples = [], [(path, None) for path, _ in files]
            return
        there = sorted({parts[0] for _, parts in files if len(parts) > 1})
        self.classes = there if classes is None else list(classes)
        numbers = {name: number for number, name in enumerate(self.classes)}
        self.samples = [(path, numbers[parts[0]]) for path, parts in files if len(parts) > 1 and parts[0] in numbers]
        absent = sorted(set(self.classes) - set(there))
        if absent or not self.classes:
            raise FileNotFoundError(f"PictureFolder: got {self.root!r} without pictures in folders of classes"
                                    f"{f' {absent}' if absent else ''}, expected some, or labels=False")

    def _list_local(self):
        """Return (path, parts of the name below the root) of pictures, in an order that is always the same."""
        root, files = local_path(self.root), []
        if not os.path.isdir(root):
            raise NotADirectoryError(20, os.strerror(20), root)
        for folder, folders, names in os.walk(root, followlinks=True):
            folders.sort()
            inside = os.path.relpath(folder, root).split(os.sep) if folder != root else []
            files += [(os.path.join(folder, name), (*inside, name)) for name in sorted(names) if self._is_picture(name)]
        return sorted(files, key=lambda file: (file[1][0] if len(file[1]) > 1 else "", file[0]))

    def _list_remote(self):
        system, _, paths = ask_fsspec(self.root).get_fs_token_paths(self.root)
        root = paths[0].rstrip("/")
        return [(system.unstrip_protocol(path), tuple(path[len(root):].strip("/").split("/")))
                for path in sorted(system.find(root)) if self._is_picture(path)]

    def _is_picture(self, name):
        return name.lower().endswith(self.extensions)

    def __len__(self):
        return len(self.samples)

    def _read_one(self, index):
        path, label = self.samples[index]
        with open_file(path) as file:
            return {"image": file.read(), "label": label, "path": path}

    def describe(self, index):
        """Return where a sample lies, for messages."""
        return f"sample {self.number(index)} ({self.samples[self.number(index)][0]})"
