"""Readers of a file for each sample: pictures in folders, and arrays of NumPy."""
import fnmatch
import os

import numpy as np

from dragon.io.sources.arrays import load_array
from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.readers.reader import Reader, read_bytes
from dragon.vm.dali.core.schema import operator

FILTERS = tuple("*.jpg *.jpeg *.png *.bmp *.tif *.tiff *.pnm *.ppm *.pgm *.pbm *.jp2 *.webp *.flac *.ogg *.wav".split())


def order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard, pad_last_batch,
             shuffle_after_epoch=False, shuffle_after_epoch_seed=None, mix_files=True):
    """Return the arguments of an order."""
    return dict(locals())


def matches(name, filters, exact_case):
    """Return whether a name is of one of some patterns."""
    if not exact_case:
        name, filters = name.lower(), [one.lower() for one in filters]
    return any(fnmatch.fnmatchcase(name, one) for one in filters)


def walk_folders(root, filters, folders, exact_case):
    """Return (path below the root, label) of the files in each folder, folders and files in order of their names."""
    if not os.path.isdir(root):
        raise RuntimeError(got("readers.file", f"file_root={root!r}, which is no folder", "one with a folder for each "
                               "label"))
    names = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    if folders is not None:
        folders = [folders] if isinstance(folders, str) else folders
        names = [name for name in names if matches(name, folders, exact_case)]
    return [(os.path.join(name, file), label) for label, name in enumerate(names)
            for file in sorted(os.listdir(os.path.join(root, name)))
            if matches(file, filters, exact_case) and os.path.isfile(os.path.join(root, name, file))]


def read_list(path):
    """Return (path, label) of each line of a list; a line without a label has its number."""
    pairs = []
    with open(path, encoding="utf-8") as file:
        for line in filter(None, map(str.strip, file)):
            name, _, label = line.rpartition(" ")
            if not name or not label.lstrip("-").isdigit():
                raise RuntimeError(got("readers.file", f"the line {line!r} in {path}", "a path and a whole number"))
            pairs.append((name.strip(), int(label)))
    return pairs


@operator("readers.file", outputs=2, kind="source")
class FileReader(Reader):
    """Read whole files, and the labels that their folders, a list or the program gives them."""

    def __init__(self, *, file_root=None, files=None, labels=None, file_list=None, file_filters=FILTERS,
                 dir_filters=None, case_sensitive_filter=False, random_shuffle=False, shard_id=0, num_shards=1,
                 initial_fill=1024, stick_to_shard=False, pad_last_batch=False, shuffle_after_epoch=False,
                 shuffle_after_epoch_seed=None, seed=0):
        if (file_root is None) + (files is None) + (file_list is None) == 3:
            raise RuntimeError(got("readers.file", "neither file_root, files nor file_list", "one of them"))
        if files is not None and file_list is not None:
            raise RuntimeError(got("readers.file", "files and file_list", "one of them"))
        if labels is not None and (files is None or len(labels) != len(files)):
            raise RuntimeError(got("readers.file", f"{len(labels)} labels", "files, and a label for each of them"))
        self.root = file_root or ""
        if files is not None:
            self.pairs = list(zip(files, labels if labels is not None else range(len(files))))
        elif file_list is not None:
            self.root = file_root or os.path.dirname(file_list)
            self.pairs = read_list(file_list)
        else:
            filters = [file_filters] if isinstance(file_filters, str) else file_filters
            self.pairs = walk_folders(file_root, filters, dir_filters, case_sensitive_filter)
        if not self.pairs:
            raise RuntimeError(got("readers.file", f"no files in {self.root or 'the lists'}",
                                   f"at least one, of {' '.join(file_filters)}"))
        super().__init__(len(self.pairs), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                   pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed),
                         seed)

    def read(self, number):
        """Return a file's bytes and its label."""
        name, label = self.pairs[number]
        return (read_bytes(os.path.join(self.root, name)), np.array([label], np.int32)), name


@operator("readers.numpy", kind="source")
class NumpyReader(Reader):
    """Read arrays from .npy files, or the same region of each."""

    def __init__(self, *, file_root=None, files=None, file_list=None, file_filter="*.npy", random_shuffle=False,
                 shard_id=0, num_shards=1, initial_fill=1024, stick_to_shard=False, pad_last_batch=False,
                 shuffle_after_epoch=False, shuffle_after_epoch_seed=None, roi_start=None, roi_end=None,
                 roi_shape=None, rel_roi_start=None, rel_roi_end=None, rel_roi_shape=None, roi_axes=(),
                 out_of_bounds_policy="error", fill_value=0.0, seed=0):
        self.root = file_root or ""
        if files is not None:
            self.names = list(files)
        elif file_list is not None:
            with open(file_list, encoding="utf-8") as file:
                self.names = [line.strip() for line in file if line.strip()]
            self.root = file_root or os.path.dirname(file_list)
        elif file_root is not None:
            found = ((os.path.relpath(os.path.join(folder, name), file_root), name)
                     for folder, _, names in os.walk(file_root) for name in names)
            self.names = sorted(path for path, name in found if fnmatch.fnmatchcase(name, file_filter))
        else:
            raise RuntimeError(got("readers.numpy", "neither file_root, files nor file_list", "one of them"))
        if not self.names:
            raise RuntimeError(got("readers.numpy", f"no files in {self.root}", f"at least one, of {file_filter}"))
        self.region = {name: value for name, value in (
            ("start", roi_start), ("end", roi_end), ("shape", roi_shape), ("rel_start", rel_roi_start),
            ("rel_end", rel_roi_end), ("rel_shape", rel_roi_shape)) if value is not None}
        self.axes, self.policy, self.fill = tuple(roi_axes), out_of_bounds_policy, fill_value
        super().__init__(len(self.names), order_of(random_shuffle, shard_id, num_shards, initial_fill, stick_to_shard,
                                                   pad_last_batch, shuffle_after_epoch, shuffle_after_epoch_seed),
                         seed)

    def read(self, number):
        """Return an array, or its region."""
        path = os.path.join(self.root, self.names[number])
        try:
            array = np.load(path, mmap_mode="r" if self.region else None)
        except (ValueError, EOFError, MemoryError, SyntaxError, TypeError, OverflowError) as error:
            raise _broken("readers.numpy", error) from None
        if self.region:
            from dragon.vm.dali.core.operators.regions import cut
            array = np.array(cut(array, *self._bounds(array.shape), self.policy, self.fill, "readers.numpy"))
        return (array,), self.names[number]

    def _bounds(self, shape):
        axes = self.axes or range(len(shape))
        low, high = [0] * len(shape), list(shape)
        for place, axis in enumerate(axes):
            size = shape[axis]
            if (start := self._bound("start", place, size)) is not None:
                low[axis] = start
            if (end := self._bound("end", place, size)) is not None:
                high[axis] = end
            elif (extent := self._bound("shape", place, size)) is not None:
                high[axis] = low[axis] + extent
        return low, high

    def _bound(self, name, place, size):
        if name in self.region:
            return int(np.ravel(self.region[name])[place])
        if "rel_" + name in self.region:
            return int(np.floor(np.ravel(self.region["rel_" + name])[place] * size + 0.5))
        return None


def _broken(who, error):
    return RuntimeError(got(who, f"a file that is no array of numbers ({error})", "a .npy file"))


@operator("io.file.read")
def read_file(path, *, context):
    """Read the file whose path is in the input, a row of bytes."""
    return read_bytes(path.tobytes().decode())


@operator("decoders.numpy")
def decode_numpy(data, *, dtype=None):
    """Read an array from the bytes of a .npy file."""
    try:
        array = load_array(data.tobytes())
    except ValueError as error:
        raise _broken("decoders.numpy", error) from None
    return array if dtype is None else array.astype(to_numpy_type(dtype))
