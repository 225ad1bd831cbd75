"""Where files keep numbers and assets: groups of an HDF5 file, folders beside it. What a file says is checked first."""
import io
import math
import os
import shutil
import struct
import tempfile
import zipfile
import zlib

from dragon.core.distribution import install_words
from dragon.core import files
from dragon.core.files import check_sizes, may_hold
from dragon.vm.keras.saving.heaps import check_heaps


def import_h5py():
    """Return the h5py module, or say how to get it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError("Files of weights are HDF5: saving and loading them needs the h5py package, "
                          f"`{install_words('keras')}`.") from error
    return h5py


def find_group(parent, path):
    """Return the group of a path within a file; links that lead elsewhere are refused."""
    h5py = import_h5py()
    for part in path.split("/"):
        if not part or part not in parent:
            raise KeyError(path)
        kind = parent.get(part, getclass=True, getlink=True)
        if kind in (h5py.ExternalLink, h5py.SoftLink):
            raise ValueError(f"Not allowed: H5 file with a link. Received: {kind.__name__} at '{path}'")
        parent = parent[part]
        if not isinstance(parent, h5py.Group):
            raise ValueError(f"Invalid H5 file, expected a Group at '{path}'. Received: {type(parent).__name__}")
    return parent


def read_dataset(group, path):
    """Return the array of a path within a group; what lies outside the file, or claims far too much, is refused."""
    import numpy
    h5py = import_h5py()
    folder, _, name = path.rpartition("/")
    group = find_group(group, folder) if folder else group
    if name not in group:
        raise KeyError(path)
    kind = group.get(name, getclass=True, getlink=True)
    if kind in (h5py.ExternalLink, h5py.SoftLink):
        raise ValueError(f"Not allowed: H5 file with a link. Received: {kind.__name__} at '{path}'")
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"Invalid H5 file, expected a Dataset at '{path}'. Received: {type(dataset).__name__}")
    if dataset.external or dataset.is_virtual:
        raise ValueError("Not allowed: H5 dataset whose numbers lie outside the file, external or virtual. Received: "
                         f"'{path}'")
    claimed, stored = math.prod(dataset.shape) * dataset.dtype.itemsize, dataset.id.get_storage_size()
    if not may_hold(claimed, min(stored, dataset.file.id.get_filesize())):
        raise ValueError(f"Not allowed: H5 dataset '{path}' claims {claimed} bytes where {stored} are stored.")
    try:
        array = numpy.asarray(dataset[()])
    except (OSError, RuntimeError) as error:
        raise ValueError(f"The H5 dataset '{path}' is damaged ({error}).") from error
    if dataset.attrs.get("dtype") == "bfloat16" or array.dtype == "V2":
        array = from_bfloat16(array)
    return array


def from_bfloat16(array):
    """Return an array of 16 bits a number as float32, whose upper halves they are."""
    import numpy
    return (numpy.asarray(array, order="C").view("uint16").astype("uint32") << 16).view("float32")


def as_array(value):
    """Return (array, whether its 16-bit numbers are bfloat16) of a variable or an array."""
    import numpy

    from dragon import _C
    if isinstance(value, _C.Tensor):
        from dragon.vm.keras.core.convert import convert_to_tensor
        from dragon.vm.shared.tensors.tensor import ops
        if _C.Tensor.dtype.__get__(value).name == "bfloat16":
            return ops.view_dtype(convert_to_tensor(value), "int16").numpy().view("V2"), True
        return numpy.asarray(value.numpy()), False
    return numpy.asarray(value), False


class Entry:
    """The numbered arrays of one object: a mapping over a group of a file that is made when the first is stored."""

    def __init__(self, file, path, group=None, name=None):
        self._file, self._path, self._group = file, path, group
        if name is not None:
            self._make().attrs["name"] = name

    def _make(self):
        if self._group is None:
            self._group = self._file.create_group(f"{self._path}/vars" if self._path else "vars")
        return self._group

    def __setitem__(self, key, value):
        array, is_bfloat16 = as_array(value)
        dataset = self._make().create_dataset(str(key), data=array)
        if is_bfloat16:
            dataset.attrs["dtype"] = "bfloat16"

    def __getitem__(self, key):
        if self._group is None:
            raise KeyError(key)
        return read_dataset(self._group, str(key))

    def keys(self):
        """Return the names of the arrays."""
        return [] if self._group is None else list(self._group.keys())

    def __len__(self):
        return len(self.keys())

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, key):
        return self._group is not None and str(key) in self._group


class WeightsStore:
    """An HDF5 file of weights: each object has a group by its path.

    Parameters
    ----------
    target : Union[str, io.IOBase]
        The file, or one in memory.

    """

    def __init__(self, target, mode):
        h5py = import_h5py()
        try:
            if mode == "r":
                check_heaps(target)
            self.file = h5py.File(target, mode)
        except OSError as error:
            if mode == "r" and isinstance(target, (str, os.PathLike)) and not os.path.exists(target):
                raise FileNotFoundError(f"There is no file of weights. Received: filepath={target}") from error
            raise ValueError(f"The file is no readable HDF5 file ({error}). Received: filepath={target}") from error

    def make(self, path, name=None):
        """Return an empty mapping for an object's arrays."""
        return Entry(self.file, path, name=name)

    def get(self, path):
        """Return the mapping of an object's arrays; an empty one if the file has none."""
        for place in (path, path.replace("layers", "_layer_checkpoint_dependencies")):
            whole = f"{place}/vars" if place else "vars"
            if whole in self.file:
                return Entry(self.file, place, find_group(self.file, whole))
        return Entry(self.file, path)

    def has_path(self, path):
        """Return whether the file knows a path."""
        return path in self.file

    def close(self):
        """Finish the file."""
        self.file.close()


class AssetsStore:
    """A folder of assets: each object has one by its path.

    Parameters
    ----------
    archive : zipfile.ZipFile, optional
        The archive that the folder is in.
    folder : str, optional
        A folder on the disk instead.
    mode : str
        "r" or "w".

    """

    def __init__(self, archive=None, folder=None, mode="r"):
        self.archive, self.mode = archive, mode
        self.temporary = tempfile.mkdtemp() if archive is not None else None
        self.root = os.path.join(self.temporary, "assets") if archive is not None else folder
        if archive is not None and mode == "r":
            for entry in archive.infolist():
                if entry.filename.startswith("assets/"):
                    self._extract(entry)

    def _extract(self, entry):
        path = self._inside(entry.filename[len("assets/"):])
        if entry.is_dir():
            os.makedirs(path, exist_ok=True)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with self.archive.open(entry) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)

    def _inside(self, path):
        """Return the place of a path below the root; one that leads out of it is refused."""
        root = os.path.realpath(self.root)
        whole = os.path.realpath(os.path.join(root, path.replace("\\", "/")))
        if whole != root and not whole.startswith(root + os.sep):
            raise ValueError(f"Invalid asset path, it leads out of the folder of assets. Received: {path!r}")
        return whole

    def make(self, path):
        """Return a folder for an object's assets."""
        folder = self._inside(path)
        os.makedirs(folder, exist_ok=True)
        return folder

    def get(self, path):
        """Return the folder of an object's assets, or None."""
        folder = self._inside(path)
        return folder if os.path.isdir(folder) else None

    def has_path(self, path):
        """Return whether there are assets below a path."""
        return os.path.exists(self._inside(path))

    def close(self):
        """Put what was written into the archive, and clean up."""
        if self.temporary is None:
            return
        try:
            if self.mode == "w" and os.path.isdir(self.root):
                for folder, _, names in sorted(os.walk(self.root)):
                    for name in sorted(names):
                        path = os.path.join(folder, name)
                        self.archive.write(path, "assets/" + os.path.relpath(path, self.root).replace(os.sep, "/"))
        finally:
            shutil.rmtree(self.temporary, ignore_errors=True)


def open_archive(file):
    """Return a zip archive for reading, or raise a ValueError that says what it is instead."""
    try:
        archive = zipfile.ZipFile(file, "r")
    except (zipfile.BadZipFile, NotImplementedError, struct.error, UnicodeDecodeError, OverflowError,
            EOFError) as error:
        raise ValueError(f"The file is no `.keras` archive ({error}). Received: filepath={file}") from error
    place = archive.fp.tell()
    check_sizes(archive, archive.fp.seek(0, os.SEEK_END), ValueError, "load_model")
    archive.fp.seek(place)
    return archive


def read_member(archive, name):
    """Return the bytes of an archive's member, or raise a ValueError that says what is wrong with it."""
    try:
        return files.read_member(archive, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, struct.error, zlib.error,
            OverflowError) as error:
        raise ValueError(f"The archive's '{name}' is damaged ({error}).") from error


def read_weights_of(archive):
    """Return the store of an archive's weights."""
    if "model.weights.h5" not in archive.namelist():
        raise ValueError("Expected a file 'model.weights.h5' in the archive. Received files: "
                         f"{archive.namelist()[:20]}")
    return WeightsStore(io.BytesIO(read_member(archive, "model.weights.h5")), "r")
