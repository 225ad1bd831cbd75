"""Datasets in files: the elements as records, each record the components one after the other."""
import json
import os
import struct

from dragon.core import files
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.data.structure import flatten, pack
from dragon.vm.shared.files.records import TFRecordWriter, check_compression, make_folder, read_records

LENGTH = struct.Struct("<Q")
DATA_FILE, SPEC_FILE = "elements.tfrecord", "dataset_spec.json"


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


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Write a dataset into a folder."""
    for name, value in (("shard_func", shard_func), ("checkpoint_args", checkpoint_args)):
        if value is not None:
            raise NotImplementedError(f"Dataset.save: {name} is not supported. Received: {value!r}")
    kind = check_compression(compression, "save")
    path = os.fspath(path)
    description = json.dumps({"element_spec": describe(dataset.element_spec), "compression": kind})
    make_folder(path)
    with files.replacing_folder(path, {DATA_FILE, SPEC_FILE}) as place:
        with TFRecordWriter(os.path.join(place, DATA_FILE), kind) as writer:
            for element in dataset._iterate():
                writer.write(pack_element(element))
        with open(os.path.join(place, SPEC_FILE), "w", encoding="utf-8") as file:
            file.write(description)


class Saved(Dataset):
    """The elements that `save` wrote."""

    def __init__(self, path, element_spec=None, compression=None, reader_func=None, wait=False):
        super().__init__()
        for name, value in (("reader_func", reader_func), ("wait", wait)):
            if value:
                raise NotImplementedError(f"Dataset.load: {name} is not supported. Received: {value!r}")
        path = os.fspath(path)
        try:
            with open(os.path.join(path, SPEC_FILE), encoding="utf-8") as file:
                description = json.load(file)
        except FileNotFoundError:
            raise errors.NotFoundError(None, None, f"Dataset.load: {path} holds no dataset that `save` wrote; folders "
                                       "written by TensorFlow itself are not read") from None
        except (ValueError, RecursionError) as error:
            raise errors.DataLossError(None, None, f"Dataset.load: {path}: {error}") from None
        self._path = os.path.join(path, DATA_FILE)
        try:
            wanted = description["compression"] if compression is None else compression
            self._compression = check_compression(wanted, "load")
            self._spec = (restore(description["element_spec"]) if element_spec is None else element_spec,)
        except errors.OpError:
            raise
        except (KeyError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise errors.DataLossError(None, None, f"Dataset.load: {path} holds a damaged description: "
                                       f"{type(error).__name__}: {error}") from None

    def _iterate(self):
        return read_elements(self._path, self.element_spec, self._compression)
