"""Weights in several files of a size, and a table of which object's are in which: `name.weights.json`."""
import contextlib
import json
import os
import sys

from dragon.core.files import replacing, second_name, write
from dragon.vm.keras.saving.stores import Entry, WeightsStore, as_array, find_group
from dragon.vm.keras.utils.summary import readable_memory_size

SUFFIX = ".weights.json"
GIBIBYTE = 1024 ** 3


def _key(path):
    return f"/{path}/vars" if path else "/vars"


def _files_of(path):
    """Return the names of the files that a table names; none where there is no table."""
    try:
        with open(path, encoding="utf-8") as file:
            named = json.load(file)["weight_map"].values()
        return {name for names in named for name in ([names] if isinstance(names, str) else names)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


class ShardsWriter:
    """Several HDF5 files of weights, none larger than a size unless one weight is.

    Parameters
    ----------
    path : str
        The table's file; the others are beside it.
    max_shard_size : float
        The size, in units of 1024 ** 3 bytes.

    """

    def __init__(self, path, max_shard_size):
        self.path, self.limit = path, float(max_shard_size) * GIBIBYTE
        self.base = os.path.basename(path).removesuffix(SUFFIX)
        self.names, self.places, self.used, self.total = [], {}, 0, 0
        self.in_use = _files_of(path)
        self.done = contextlib.ExitStack()
        self.store = None

    def make(self, path, name=None):
        """Return an empty mapping for an object's arrays."""
        return ShardedEntry(self, path, name)

    def store_for(self, key, size):
        """Return the file that has room for an array, and its name."""
        if size > self.limit:
            raise ValueError(f"The size of {key} is {readable_memory_size(size)} which exceeds the maximum shard size "
                             f"{readable_memory_size(self.limit)}. You can increase the `max_shard_size` parameter to "
                             "accommodate the size.")
        if self.store is None or self.used + size > self.limit:
            self._begin()
        self.used, self.total = self.used + size, self.total + size
        return self.store, self.names[-1]

    def _begin(self):
        if self.store is not None:
            self.store.close()
        name = f"{self.base}_{len(self.names):05}.weights.h5"
        if name in self.in_use:  # whoever reads while this is written finds what the table that is there says
            name = self._spare(name)
        place = self.done.enter_context(replacing(self._beside(name)))
        self.names.append(name)
        self.store, self.used = WeightsStore(place, "w"), 0

    def _beside(self, name):
        return os.path.join(os.path.dirname(self.path), name)

    def _spare(self, name):
        return name.replace(".weights.h5", ".next.weights.h5")

    def _write_table(self, names):
        """Write the table, for files of given names: {the one that was written: the one it is called}."""
        parts = {key: [names.get(name, name) for name in found] for key, found in self.places.items()}
        write(self.path, json.dumps({"metadata": {"total_size": self.total}, "weight_map": {
            key: found[0] if len(found) == 1 else found for key, found in parts.items()}}, indent=4))

    def _put(self):
        """Have the table tell of the new files, give them their usual names, and tell of those."""
        usual = [f"{self.base}_{number:05}.weights.h5" for number in range(len(self.names))]
        self._write_table({})
        for name, goal in zip(self.names, usual):
            if name != goal:
                second_name(self._beside(name), self._beside(goal))
        if self.names != usual:
            self._write_table(dict(zip(self.names, usual)))
        for name in map(self._spare, usual):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._beside(name))

    def __enter__(self):
        self.done.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.store is None and kind is None:
                self._begin()  # genuine Keras opens the first one whatever the table says
            if self.store is not None:
                self.store.close()
        except BaseException:  # the disk is full
            self.done.__exit__(*sys.exc_info())
            raise
        self.done.__exit__(kind, error, trace)
        if kind is None:
            self._put()


class ShardedEntry:
    """The numbered arrays of one object that is written, in one file or in several."""

    def __init__(self, writer, path, name):
        self._writer, self._path, self._name, self._parts = writer, path, name, {}

    def __setitem__(self, key, value):
        store, name = self._writer.store_for(key, as_array(value)[0].nbytes)
        if name not in self._parts:
            self._parts[name] = Entry(store.file, self._path, name=self._name)
            self._writer.places.setdefault(_key(self._path), []).append(name)
        self._parts[name][key] = value


class ShardsReader:
    """What `ShardsWriter` wrote.

    Parameters
    ----------
    path : str
        The table's file.

    """

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            try:
                self.places = json.load(file)["weight_map"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"The file is no table of weights in several files. Received: filepath={path}"
                                 ) from error
        self.folder, self.stores = os.path.dirname(path), {}

    def _open(self, name):
        if not isinstance(name, str) or os.path.basename(name) != name:
            raise ValueError(f"A table of weights names a file that is not beside it. Received: {name!r}")
        if name not in self.stores:
            self.stores[name] = WeightsStore(os.path.join(self.folder, name), "r")
        return self.stores[name].file

    def get(self, path):
        """Return the mapping of an object's arrays; an empty one if there are none."""
        found = {}
        names = self.places.get(_key(path), [])
        for name in [names] if isinstance(names, str) else names:
            file = self._open(name)
            entry = Entry(file, path, find_group(file, _key(path)[1:]))
            found.update({key: entry[key] for key in entry})
        return found

    def has_path(self, path):
        """Return whether any of the files knows a path."""
        return any(key.startswith(f"/{path}/") for key in self.places)

    def close(self):
        """Finish all files."""
        for store in self.stores.values():
            store.close()
