"""Everything that reads files: an honest file of each kind, how it is read, and the errors that may come."""
import collections
import io
import os
import pickle
import random
import zipfile

import guest_readers
import sample_readers

TORCH = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, NotImplementedError, TypeError, AttributeError)
PLAIN = (ValueError, TypeError, RuntimeError, NotImplementedError)
H5 = (*PLAIN, KeyError, OSError)  # OSError is what h5py itself says of damaged parts
TOKENS = b"RboiQP.(tqrcN}]l0123ue\x81\x85\x86\x87\x8a\x93\x8e\x96"
EDGES = (b"\0" * 8, b"\xff" * 8, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 9 + b"\x01", b"\x7f\xff\xff\xff")


def mutate(source, chance):
    """Return bytes with a few changed, dropped, doubled, cut, or replaced by numbers at the edge."""
    data = bytearray(source)
    for _ in range(chance.randint(1, 6)):
        if not data:
            break
        place, kind = chance.randrange(len(data)), chance.random()
        if kind < 0.5:
            data[place] = chance.choice((0, 255, chance.randrange(256), data[place] ^ 1 << chance.randrange(8)))
        elif kind < 0.6:
            del data[place:place + chance.randint(1, 8)]
        elif kind < 0.7:
            data[place:place] = data[place:place + chance.randint(1, 64)]
        elif kind < 0.75:
            del data[max(place, 1):]
        elif kind < 0.87:
            edge = chance.choice(EDGES)
            data[place:place + len(edge)] = edge
        else:
            data[place] = chance.choice(TOKENS)
    return bytes(data)


def _value():
    import numpy
    from dragon.vm import torch
    return {"x": torch.arange(6.).reshape(2, 3), "p": torch.nn.Parameter(torch.ones(2)), "a": numpy.arange(3.),
            "n": [1, 2.5, "text", None, (True, b"abc"), numpy.float64(2)], "o": collections.OrderedDict(a={1, 2}),
            "m": torch.nn.Linear(2, 2), "d": collections.defaultdict(list, b=[1])}


def _torch(**options):
    def make(_):
        from dragon.vm import torch
        file = io.BytesIO()
        torch.save(_value(), file, **options)
        return file.getvalue()

    def read(data, folder, chance):
        from dragon.vm import torch
        torch.load(io.BytesIO(data), weights_only=bool(chance.randrange(2)))
    return make, read, TORCH


def _pickle():
    whole, _, errors = _torch()

    def make(folder):
        with zipfile.ZipFile(io.BytesIO(whole(folder))) as archive:
            return archive.read("archive/data.pkl")

    def read(data, folder, chance):
        from dragon.vm import torch
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("archive/data.pkl", data)
            for key in range(5):
                archive.writestr(f"archive/data/{key}", bytes(24))
        file.seek(0)
        torch.load(file, weights_only=bool(chance.randrange(2)))
    return make, read, errors


def _through_file(name, make, read, errors):
    """Return (make, read, errors) of a reader that wants a path."""
    def write_and_read(data, folder, chance):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        read(path, chance)

    def made(folder):
        path = os.path.join(folder, name)
        make(path)
        with open(path, "rb") as file:
            return file.read()
    return made, write_and_read, errors


def _graph(path):
    from dragon.vm import torch
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)).eval()
    torch.jit.save(torch.jit.trace(net, torch.ones(2, 3)), path)


def _read_graph(path, chance):
    import dragon
    dragon.Graph.load(path, map=bool(chance.randrange(2)))


def _model():
    from dragon.vm import keras
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.BatchNormalization()])


def _save_model(path):
    _model().save(path)


def _save_weights(path):
    _model().save_weights(path)


def _read_model(path, chance):
    from dragon.vm import keras
    keras.saving.load_model(path)


_kept = []


def _read_weights(path, chance):
    if not _kept:
        _kept.append(_model())
    _kept[0].load_weights(path)


def _config():
    """Return the configuration of a model alone, damaged within a right archive."""
    def make(folder):
        path = os.path.join(folder, "a.keras")
        _model().save(path)
        with zipfile.ZipFile(path) as archive:
            return archive.read("config.json")

    def read(data, folder, chance):
        from dragon.vm import keras
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("config.json", data)
        file.seek(0)
        keras.saving.load_model(file)
    return make, read, (*PLAIN, KeyError, AttributeError, ImportError, IndexError)


def _tensorflow_errors():
    from dragon.vm import tensorflow as tf
    return tf.errors.OpError, NotImplementedError, ValueError


def _bundle(suffix):
    def make(path):
        import numpy
        from dragon.vm import tensorflow as tf
        tf.train.Checkpoint(v=tf.Variable(numpy.arange(5.)), t=tf.Variable(3)).write(path.removesuffix(suffix))

    def read(path, chance):
        from dragon.vm import tensorflow as tf
        reader = tf.train.load_checkpoint(path.removesuffix(suffix))
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
    return _through_file("a" + suffix, make, read, _tensorflow_errors)


def _records(kind):
    def make(path):
        from dragon.vm import tensorflow as tf
        with tf.io.TFRecordWriter(path, kind) as writer:
            for number in range(4):
                writer.write(bytes([number]) * 20 * number)

    def read(path, chance):
        from dragon.vm import tensorflow as tf
        list(tf.data.TFRecordDataset(path, compression_type=kind))
    return _through_file("a" + kind, make, read, _tensorflow_errors)


def _tensor_proto():
    def make(_):
        from dragon.vm import tensorflow as tf
        return tf.io.serialize_tensor(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy() + b"\x2a\x08" + b"\0\0\x80?" * 2

    def read(data, folder, chance):
        from dragon.vm import tensorflow as tf
        tf.io.parse_tensor(data, tf.float32)
    return make, read, _tensorflow_errors


def _example():
    def make(_):
        from dragon.vm import tensorflow as tf
        feature = {"i": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 300])),
                   "f": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, 2])),
                   "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"abc", b""]))}
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    def read(data, folder, chance):
        from dragon.vm import tensorflow as tf
        spec = {"i": tf.io.VarLenFeature(tf.int64), "f": tf.io.FixedLenFeature([2], tf.float32),
                "b": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)}
        if chance.randrange(2):
            tf.io.parse_single_example(data, spec)
        else:
            tf.io.parse_example([data, data], spec)
        tf.train.Example.FromString(data)
    return make, read, _tensorflow_errors


def _dataset(name):
    def make(folder):
        from dragon.vm import tensorflow as tf
        place = os.path.join(folder, "set")
        tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [b"x", b"y", b"z"]}).save(place)
        with open(os.path.join(place, name), "rb") as file:
            return file.read()

    def read(data, folder, chance):
        from dragon.vm import tensorflow as tf
        with open(os.path.join(folder, "set", name), "wb") as file:
            file.write(data)
        list(tf.data.Dataset.load(os.path.join(folder, "set")))
    return make, read, lambda: (*_tensorflow_errors(), TypeError)


def _state():
    def make(path):
        with open(path, "w") as file:
            file.write('model_checkpoint_path: "a-1"\nall_model_checkpoint_paths: "a-1"\n'
                       'last_preserved_timestamp: 1.5\n')

    def read(path, chance):
        from dragon.vm import tensorflow as tf
        tf.train.get_checkpoint_state(os.path.dirname(path))
    return _through_file("checkpoint", make, read, _tensorflow_errors)


# name -> ((make an honest file, read bytes, errors), how many of a hundred mutations it gets)
READERS = {
    "torch.load": (_torch(), 12),
    "torch.load, older": (_torch(_use_new_zipfile_serialization=False), 12),
    "torch.load, pickle": (_pickle(), 22), "Graph.load": (_through_file("g", _graph, _read_graph, PLAIN), 16),
    "keras": (_through_file("a.keras", _save_model, _read_model, (*PLAIN, KeyError)), 1),
    "keras, config": (_config(), 3),
    "keras, h5": (_through_file("a.h5", _save_model, _read_model, H5), 1),
    "keras, weights": (_through_file("a.weights.h5", _save_weights, _read_weights, H5), 2),
    "checkpoint, index": (_bundle(".index"), 7), "checkpoint, data": (_bundle(".data-00000-of-00001"), 2),
    "checkpoint, state": (_state(), 2), "TFRecord": (_records(""), 3), "TFRecord, GZIP": (_records("GZIP"), 3),
    "parse_tensor": (_tensor_proto(), 6), "parse_example": (_example(), 6),
    "data set, spec": (_dataset("dataset_spec.json"), 1), "data set, elements": (_dataset("elements.tfrecord"), 1),
    **sample_readers.list_readers(_through_file), **guest_readers.list_readers(TORCH, _tensorflow_errors),
}


def seeded(name, seed, index):
    """Return the chance of one mutation."""
    return random.Random(f"{name} {seed} {index}")
