"""Who reads the files of `bombs.py`, and which errors may come; each is read in this process's children.

    python bomb_readers.py ["torch.load, zip" ...]
"""
import io
import json
import os
import pickle
import resource
import signal
import struct
import sys
import tempfile
import traceback
import warnings
import zipfile

import bombs

ROOM = 2 << 30  # bytes of addresses above what there was
MOST_MEMORY = 240 << 20  # of bytes that are used: less than a bomb holds
SECONDS = 60
DEEP = bombs.DEEP


def _in_memory(place, *names):
    """Return a reader of bytes: a function of a guest's module, given a file in memory."""
    def read(data):
        import importlib
        return getattr(importlib.import_module(f"dragon.vm.{place}"), names[0])(io.BytesIO(data), **dict(names[1:]))
    return read


def _at(name, read):
    """Return a reader of bytes that lie in a file."""
    def through(data):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)
        return read(name)
    return through


def _samples(ending):
    def read(path):
        from dragon.io.formats import open_samples
        for _ in open_samples(path):
            pass
    return _at("a" + ending, read)


def _tf(call):
    def read(data):
        from dragon.vm import tensorflow as tf
        return call(tf, data)
    return read


def _records(kind, *options):
    return _at("a", _tf(lambda tf, path: list(getattr(tf.data, kind)(path, *options))))


def _decode_image(data):
    from dragon.vm import torch
    from dragon.vm.torchvision.io import decode_image
    return decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8))


def _decode(data):
    from dragon.io.pictures import decode
    return decode(data)


def _dali(place, name):
    def read(data):
        import importlib

        import numpy
        call = getattr(importlib.import_module(f"dragon.vm.dali.core.{place}"), name)
        return call(numpy.frombuffer(data, "uint8") if name == "decode_numpy" else data)
    return read


def _hugging(path):
    from dragon.vm import torch
    from dragon.vm.torch.distributed import checkpoint as dcp
    return dcp.load({"a": torch.ones(2)}, no_dist=True,
                    storage_reader=dcp.HuggingFaceStorageReader(os.path.dirname(path)))


def _weights(path):
    from dragon.vm import keras
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)]).load_weights(path)


def _model(path):
    from dragon.vm import keras
    return keras.saving.load_model(path)


def _script():
    """Return the archive of a script."""
    from dragon.vm import torch
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), file)
    return file.getvalue()


def _longer(part, end=b""):
    """Return the archive of a script whose last expression is nested, or goes on and on."""
    return bombs.changed(_script(), ".py", lambda code: code.rstrip() + part * DEEP + end * DEEP + b"\n")


def _pickled(data):
    return bombs.archive({"archive/data.pkl": data})


def _of_keras(config):
    return bombs.archive({"config.json": config, "metadata.json": b"{}"})


LOAD, JIT = _in_memory("torch", "load"), _in_memory("torch.jit", "load")
EXPORT, KERAS = _in_memory("torch.export", "load"), _in_memory("keras.saving", "load_model")
TORCH = pickle.UnpicklingError, RuntimeError
DEEP_LAYERS = b'{"module": "keras", "class_name": "Sequential", "config": {"layers": ['


def _op_error():
    from dragon.vm import tensorflow as tf
    return tf.errors.OpError


def _checkpoint_error():
    from dragon.vm.torch.distributed.checkpoint.api import CheckpointException
    return CheckpointException


# name -> (how the bytes are made, who reads them, the errors that may come; without any, it is read)
BOMBS = {
    "torch.load, zip": (lambda: bombs.zipped("archive/data.pkl"), LOAD, TORCH),
    "torch.load, lying zip": (lambda: bombs.zipped("archive/data.pkl", 100), LOAD, TORCH),
    "torch.load, lying bzip2": (lambda: bombs.lying_zip("archive/data.pkl", zipfile.ZIP_BZIP2), LOAD, TORCH),
    "torch.load, deep tuple": (lambda: _pickled(b"\x80\2" + b"(" * DEEP + b"t" * DEEP + b"."), LOAD, ()),
    "torch.load, memo": (lambda: _pickled(b"\x80\2]r\xff\xff\xff\xff."), LOAD, ()),
    "torch.load, long bytes": (lambda: _pickled(b"\x80\4\x8e" + b"\xff" * 4 + bytes(4) + b"]."), LOAD, TORCH),
    "torch.jit.load, zip": (lambda: bombs.zipped("archive/constants.pkl"), JIT, TORCH),
    "torch.jit.load, deep": (lambda: _longer(b"(", b")"), JIT, (*TORCH, SyntaxError)),
    "torch.jit.load, long": (lambda: _longer(b" + 1"), JIT, (*TORCH, SyntaxError)),
    "torch.export.load, zip": (lambda: bombs.zipped("archive/models/model.json"), EXPORT, RuntimeError),
    "torch.export.load, deep": (lambda: bombs.archive({
        "archive/archive_format": "pt2", "archive/archive_version": "0", "archive/byteorder": "little",
        "archive/models/model.json": bombs.deep_json()}), EXPORT, RuntimeError),
    "safetensors, length": (lambda: struct.pack("<Q", 1 << 40) + b"{}", _at("b/a.safetensors", _hugging),
                            _checkpoint_error),
    "safetensors, deep": (lambda: bombs.safetensors(bombs.deep_json()), _at("b/a.safetensors", _hugging),
                          _checkpoint_error),
    "safetensors, shape": (lambda: bombs.safetensors(json.dumps({"a": {
        "dtype": "F32", "shape": [1 << 40, 2], "data_offsets": [0, 8]}}).encode()), _at("b/a.safetensors", _hugging),
        _checkpoint_error),
    "keras, zip": (lambda: bombs.zipped("config.json"), KERAS, ValueError),
    "keras, lying zip": (lambda: bombs.zipped("config.json", 100), KERAS, ValueError),
    "keras, lying LZMA": (lambda: bombs.lying_zip("config.json", zipfile.ZIP_LZMA), KERAS, ValueError),
    "keras, deep": (lambda: _of_keras(bombs.deep_json()), KERAS, ValueError),
    "keras, deep layers": (lambda: _of_keras(DEEP_LAYERS * 3000 + b"]}}" * 3000), KERAS, ValueError),
    "keras, large layer": (lambda: _of_keras(bombs.sequential(
        ("InputLayer", {"batch_shape": [None, 1 << 20], "name": "i"}),
        ("Dense", {"name": "dense", "units": 1 << 22}))), KERAS, (ValueError, RuntimeError)),
    "keras, h5 weights": (lambda: bombs.h5("made.h5"), _at("a.weights.h5", _weights), ValueError),
    "keras, h5": (lambda: bombs.h5("made.h5", "[" * 60_000), _at("a.h5", _model), ValueError),
    "TFRecord": (lambda: bombs.gzipped(struct.pack("<Q", 1 << 40)), _records("TFRecordDataset", "GZIP"), _op_error),
    "TextLineDataset": (lambda: bombs.gzipped(), _records("TextLineDataset", "GZIP"), _op_error),
    "FixedLengthRecordDataset": (lambda: bytes(64), _records("FixedLengthRecordDataset", 1 << 40), _op_error),
    "tf, decode_compressed": (lambda: bombs.gzipped(), _tf(lambda tf, data: tf.io.decode_compressed(data, "GZIP")),
                              _op_error),
    "tf, PNG": (bombs.png, _tf(lambda tf, data: tf.io.decode_png(data)), _op_error),
    "tf, GIF": (lambda: bombs.gif(4000, 4000, 300), _tf(lambda tf, data: tf.io.decode_gif(data)), _op_error),
    "tf, GIF, any": (lambda: bombs.gif(4000, 4000, 300), _tf(lambda tf, data: tf.io.decode_image(data)), _op_error),
    "tf, BMP": (lambda: bombs.bmp(60000, -1 << 31), _tf(lambda tf, data: tf.io.decode_bmp(data)), _op_error),
    "tf, WAV": (lambda: bombs.wav(64, 65535), _tf(lambda tf, data: tf.audio.decode_wav(data)), ()),
    "tf, tensor": (lambda: bombs.tensor(1 << 49, 1 << 49), _tf(lambda tf, data: tf.io.parse_tensor(data, "float32")),
                   _op_error),
    "tf, deep message": (lambda: bombs.nested(2, 20000), _tf(lambda tf, data: tf.train.Example.FromString(data)), ()),
    "tf, records": (lambda: struct.pack("<QI", 1 << 60, 0) + bytes(20), _at("a", _tf(
        lambda tf, path: list(tf.compat.v1.train.summary_iterator(path)))), _op_error),
    "torchvision, PNG": (bombs.png, _decode_image, RuntimeError),
    "torchvision, PNG text": (lambda: bombs.png(8, 8, MANY_LETTERS), _decode_image, RuntimeError),
    "torchvision, GIF": (lambda: bombs.gif(4000, 4000, 300), _decode_image, RuntimeError),
    "pictures, PNG": (bombs.png, _decode, ValueError), "pictures, BMP": (lambda: bombs.bmp(60000, 60000), _decode,
                                                                         ValueError),
    "DALI, PNG": (bombs.png, _dali("operators.decoding", "decode"), RuntimeError),
    "DALI, PNG text": (lambda: bombs.png(8, 8, MANY_LETTERS), _dali("operators.decoding", "decode"), RuntimeError),
    "DALI, WAV": (lambda: bombs.wav(64, 1, 9), _dali("operators.audio", "read_wave"), RuntimeError),
    "DALI, .npy": (lambda: bombs.npy(1 << 40), _dali("readers.files", "decode_numpy"), RuntimeError),
    "samples, .npy": (lambda: bombs.npy(1 << 40), _samples(".npy"), ValueError),
    "samples, .npy, empty rows": (lambda: bombs.npy(1 << 31, 0), _samples(".npy"), ValueError),
    "samples, .jsonl": (bombs.deep_json, _samples(".jsonl"), ValueError),
    "samples, .jsonl.gz": (lambda: bombs.gzipped(b'{"a": "'), _samples(".jsonl.gz"), ValueError),
    "samples, .csv.gz": (lambda: bombs.gzipped(b"a\n1\n"), _samples(".csv.gz"), ValueError),
    "samples, .csv.gz, quoted": (lambda: bombs.gzipped(b'a\n"'), _samples(".csv.gz"), ValueError),
    "samples, .tgz": (lambda: bombs.gzipped(bombs.tar("a.txt", b"", 1 << 40)[:512]), _samples(".tgz"), ValueError),
    "samples, .tar": (lambda: bombs.tar("a.txt", b"x", 1 << 60), _samples(".tar"), ValueError),
    "samples, .tar, .npy": (lambda: bombs.tar("a.npy", bombs.npy(1 << 40)), _samples(".tar"), ValueError),
    "samples, .tar, .json": (lambda: bombs.tar("a.json", bombs.deep_json()), _samples(".tar"), ValueError),
    "samples, .tfrecord.gz": (lambda: bombs.gzipped(struct.pack("<Q", 1 << 40)), _samples(".tfrecord.gz"), ValueError),
    "samples, .rec": (lambda: struct.pack("<II", 0xced7230a, 0x1fffffff) + bytes(64), _samples(".rec"), ValueError),
}
MANY_LETTERS = 1 << 26


def attempt(name):
    """Read one file in this process, whose memory is bound; return what is wrong, or None."""
    make, read, errors = BOMBS[name]
    data, errors = make(), errors if isinstance(errors, (tuple, type)) else errors()
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))
    signal.alarm(SECONDS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read(data)
    except errors:
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}\n" + traceback.format_exc()[-1500:]
    else:
        if errors:
            return "was read without a word"
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before << 10
    return f"took {more >> 20} MiB" if more > MOST_MEMORY else None


def main():
    """Read the files named on the command line, or all; what is told are faults."""
    warnings.simplefilter("ignore")
    from dragon.vm import dali, keras, tensorflow, torch  # noqa: F401  (once, for all children)
    for name in sys.argv[1:] or BOMBS:
        child = os.fork()
        if not child:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                trouble = attempt(name)
            if trouble:
                print(f"{name}: {trouble}", flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{name}: ended with status {status}", flush=True)


if __name__ == "__main__":
    main()
