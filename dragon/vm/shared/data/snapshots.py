"""`Dataset.snapshot`: elements are written when they are first made, and read in later iterations and programs."""
import os
import uuid

from dragon.vm.shared.data.dataset import OneEach
from dragon.vm.shared.data.fingerprints import fingerprint
from dragon.vm.shared.data.probing import result_spec
from dragon.vm.shared.data.saving import SPEC_FILE, Saved, written
from dragon.vm.shared.files.records import COMPRESSIONS
from dragon.vm.shared.tensors.dtypes import int64

QUICK = ("AUTO", "SNAPPY")  # what costs next to no time: nothing here; no other program reads the files


class Snapshot(OneEach):
    """Elements that are kept in a folder.

    The folder has one for each way in which its elements are made, so that a pipeline that has changed writes anew. A
    dataset of which it cannot be told what it is made of, as with functions of unknown objects, has its own.
    """

    def __init__(self, source, path, compression="AUTO", reader_func=None, shard_func=None):
        super().__init__(source)
        if compression not in (*COMPRESSIONS, *QUICK, None):
            raise ValueError(f"Dataset.snapshot: got compression={compression!r}, expected 'AUTO', 'SNAPPY', 'GZIP', "
                             "'ZLIB' or None")
        self._compression = "" if compression in QUICK else compression or ""
        self._shard, self._reader = shard_func, reader_func
        if shard_func is not None:
            self._check_shard()
        number = fingerprint(source)
        name = uuid.uuid4().hex if number is None else f"{number:016x}"
        self._path = os.path.join(os.fsdecode(path.numpy() if hasattr(path, "numpy") else path), name)

    def _check_shard(self):
        spec = result_spec(self._shard, self._sources[0])
        if getattr(spec, "dtype", None) is not int64 and getattr(getattr(spec, "dtype", None), "name", "") != "int32":
            raise TypeError("Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its return "
                            f"type is {spec}.")

    def _iterate(self):
        source = self._sources[0]
        if os.path.exists(os.path.join(self._path, SPEC_FILE)):
            return Saved(self._path, source.element_spec, None, self._reader)._open()
        return written(source._open(), self._path, source.element_spec, self._compression, self._shard)
