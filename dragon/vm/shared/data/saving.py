"""Datasets in files: the elements as records, each record the components one after the other."""
import contextlib
import json
import os
import struct

from dragon.core import files
from dragon.vm.shared import errors
from dragon.vm.shared.data import kinds
from dragon.vm.shared.data.dataset import Dataset, UNKNOWN
from dragon.vm.shared.data.structure import call, flatten, pack
from dragon.vm.shared.files.records import TFRecordWriter, check_compression, make_folder, read_records
from dragon.vm.shared.letters import expect

LENGTH = struct.Struct("<Q")
DATA_FILE, SPEC_FILE = "elements.tfrecord", "dataset_spec.json"
SHARD_FILE = "elements-"  # with the number of the shard, where elements are spread


def pack_element(element):
    """Return an element as bytes: the length and the `TensorProto` of each component."""
    from dragon.vm.shared.files.tensor_proto import serialize
    pieces = [serialize(leaf) for leaf in flatten(element)]
    return b"".join(part for piece in pieces for part in (LENGTH.pack(len(piece)), piece))


def unpack_element(record, structure):
    """Return the element that bytes hold."""
    from dragon.vm.shared.files.tensor_proto import parse
    leaves, place = [], 0
    while place < len(record):
        length, = LENGTH.unpack_from(record, place)
        place += LENGTH.size
        leaves.append(parse(record[place:place + length]))
        place += length
    return pack(structure, leaves)


def write_elements(elements, path):
    """Yield elements, and write them into a file that appears when all are there."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with files.replacing(path) as place, TFRecordWriter(place) as writer:
        for element in elements:
            writer.write(pack_element(element))
            yield element


def read_elements(path, structure, compression=""):
    """Yield the elements that a file holds."""
    return (unpack_element(record, structure) for record in read_records(path, compression))


def describe(spec):
    """Return a structure of specs as JSON's lists and dicts."""
    from dragon.vm.shared.data.specs import TensorSpec
    from dragon.vm.shared.data.structure import is_nested
    if isinstance(spec, dict):
        return {"dict": {key: describe(part) for key, part in spec.items()}}
    if is_nested(spec):
        return {"tuple": [describe(part) for part in spec]}
    if type(spec) is not TensorSpec:
        raise NotImplementedError(f"save: only dense tensors can be saved. Received: a component of {spec}")
    shape = None if spec.shape.rank is None else list(spec.shape)
    return {"shape": shape, "dtype": spec.dtype.name}


def restore(description):
    """Return the structure of specs that `describe` gave."""
    from dragon.vm.shared.data.specs import TensorSpec
    if "dict" in description:
        return {key: restore(part) for key, part in description["dict"].items()}
    if "tuple" in description:
        return tuple(restore(part) for part in description["tuple"])
    return TensorSpec(description["shape"], description["dtype"])


def _shard_of(shard_func, element):
    """Return the number of the file that an element goes into."""
    number = call(shard_func, element)
    shape, dtype = getattr(number, "shape", ()), getattr(number, "dtype", None)
    if tuple(shape) or getattr(dtype, "name", "int64") != "int64" or (dtype is None and type(number) is not int):
        raise errors.InvalidArgumentError(None, None, "`shard_func` must return a scalar int64. "
                                          f"Received: {number!r}")
    return int(number)


def written(elements, path, spec, compression, shard_func=None):
    """Yield elements, and write them into a folder that appears when all are there.

    Parameters
    ----------
    elements : Iterable
        The elements.
    path : str
        The folder.
    spec : Any
        The structure of specs of the elements.
    compression : str
        The kind of compression.
    shard_func : Callable, optional
        Tells of an element the number of the file that it goes into.

    """
    description = {"element_spec": describe(spec), "compression": compression}
    make_folder(path)
    former = {name for name in os.listdir(path) if name.startswith(SHARD_FILE)}
    with files.replacing_folder(path, {DATA_FILE, SPEC_FILE, *former}) as place, contextlib.ExitStack() as opened:
        writers = {}

        def writer_of(shard):
            if shard not in writers:
                name = DATA_FILE if shard is None else f"{SHARD_FILE}{shard}.tfrecord"
                writers[shard] = opened.enter_context(TFRecordWriter(os.path.join(place, name), compression))
            return writers[shard]
        if shard_func is None:
            writer_of(None)
        count = 0
        for count, element in enumerate(elements, 1):
            writer_of(None if shard_func is None else _shard_of(shard_func, element)).write(pack_element(element))
            yield element
        description["count"] = count
        if shard_func is not None:
            description["shards"] = sorted(writers)
        with open(os.path.join(place, SPEC_FILE), "w", encoding="utf-8") as file:
            json.dump(description, file)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Write a dataset into a folder."""
    if checkpoint_args is not None:
        raise NotImplementedError("Dataset.save: checkpoint_args is not supported. "
                                  f"Received: checkpoint_args={checkpoint_args!r}")
    kind = check_compression(compression, "save")
    for _ in written(dataset._open(), os.fspath(path), dataset.element_spec, kind, shard_func):
        pass


class Elements(Dataset):
    """The elements of one file of a folder that `save` wrote."""

    def __init__(self, path, spec, compression):
        super().__init__()
        self._path, self._spec, self._compression = path, (spec,), compression

    def _iterate(self):
        return read_elements(self._path, self.element_spec, self._compression)


def _in_turns(datasets):
    """Return the elements of datasets in turns."""
    return datasets.interleave(lambda one: one, cycle_length=max(int(datasets.cardinality()), 1))


class Saved(Dataset):
    """The elements that `save` wrote."""

    def __init__(self, path, element_spec=None, compression=None, reader_func=None, wait=False):
        super().__init__()
        if wait:
            raise NotImplementedError("Dataset.load: got wait=True, expected a folder that is there: nobody else "
                                      "writes it")
        path = os.fspath(path)
        try:
            with open(os.path.join(path, SPEC_FILE), encoding="utf-8") as file:
                description = json.load(file)
        except FileNotFoundError:
            raise errors.NotFoundError(None, None, f"Dataset.load: {path} holds no dataset that `save` wrote; folders "
                                       "written by TensorFlow itself are not read") from None
        except (ValueError, RecursionError) as error:
            raise errors.DataLossError(None, None, f"Dataset.load: {path}: {error}") from None
        try:
            wanted = description["compression"] if compression is None else compression
            kind = check_compression(wanted, "load")
            spec = restore(description["element_spec"]) if element_spec is None else element_spec
            names = [DATA_FILE] if "shards" not in description else [
                f"{SHARD_FILE}{int(shard)}.tfrecord" for shard in description["shards"]]
        except errors.OpError:
            raise
        except (KeyError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise errors.DataLossError(None, None, f"Dataset.load: {path} holds a damaged description: "
                                       f"{type(error).__name__}: {error}") from None
        self._spec, self._size = (spec,), description.get("count", UNKNOWN) if reader_func is None else UNKNOWN
        parts = [Elements(os.path.join(path, name), spec, kind) for name in names]
        if reader_func is None and len(parts) == 1:
            self._sources = (parts[0],)
            return
        read = (reader_func or _in_turns)(kinds.Listed(parts, kinds.DatasetSpec(spec)))
        self._sources = (expect(read, Dataset, "Dataset.load", "reader_func's result"),)

    def _iterate(self):
        return self._sources[0]._open()

    def _count(self):
        return self._size
