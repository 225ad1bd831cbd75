"""Files of models that ask for code, or claim to hold more than they can: errors, and nothing else happens."""
import io
import json
import os
import zipfile

import numpy
import pytest

from dragon.vm import keras
from harness import interpreter


def archive(config, compression=zipfile.ZIP_STORED, **members):
    """Return a `.keras` archive with a configuration written by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as target:
        target.writestr("config.json", json.dumps(config))
        for name, data in members.items():
            target.writestr(name.replace("__", "."), data)
    file.seek(0)
    return file


def layer(kind, **config):
    """Return a layer as data."""
    return {"module": "keras.layers", "class_name": kind, "config": config, "registered_name": None}


def function(module, name):
    """Return a function as data."""
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


def sequential(*layers):
    """Return a model of layers as data."""
    return {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {
        "name": "s", "layers": [layer("InputLayer", batch_shape=[None, 3], dtype="float32", name="i"), *layers]}}


HARMFUL = [("keras.utils", "get_file"), ("keras.config", "enable_unsafe_deserialization"),
           ("keras.saving", "load_model"), ("keras.models", "load_model"), ("keras.utils", "save_img"),
           ("keras.datasets.mnist", "load_data"),
           ("keras.src.utils.downloads", "get_file"), ("keras.layers", "deserialize"), ("keras", "utils"),
           ("keras.callbacks", "RemoteMonitor"), ("keras.src.saving.code", "load_function")]


@pytest.mark.parametrize("module, name", HARMFUL)
def test_functions_that_reach_out(module, name):
    allowed = keras.config.is_unsafe_deserialization_enabled() if hasattr(
        keras.config, "is_unsafe_deserialization_enabled") else None
    lam = layer("Lambda", name="l", function=function(module, name), arguments={})
    compiled = {**sequential(), "compile_config": {"optimizer": "sgd", "loss": function(module, name)}}
    named = sequential({"module": module, "class_name": name, "config": {}, "registered_name": None})
    for config in (sequential(lam), compiled, named):
        with pytest.raises((ValueError, TypeError)):
            keras.saving.load_model(archive(config, model__weights__h5=b""), safe_mode=True)
    if allowed is not None:
        assert keras.config.is_unsafe_deserialization_enabled() == allowed


def test_functions_that_compute(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(keras.ops.tanh), keras.layers.Dense(2)])
    model.compile("sgd", keras.losses.huber, metrics=[keras.metrics.binary_accuracy])
    model.save(tmp_path / "a.keras")
    found = keras.saving.load_model(tmp_path / "a.keras")
    numpy.testing.assert_array_equal(found(numpy.ones((1, 3))).numpy(), model(numpy.ones((1, 3))).numpy())


def test_archives_that_claim_too_much(tmp_path):
    big = b"\0" * (1 << 28)
    for members in ({"config__old": big}, {"model__weights__h5": big}, {"assets/a": big}):
        file = archive(sequential(), zipfile.ZIP_DEFLATED, **members)
        assert len(file.getvalue()) < 1 << 20
        with pytest.raises(ValueError, match="claims to hold"):
            keras.saving.load_model(file)
    path = tmp_path / "a.keras"
    path.write_bytes(archive(sequential(), model__weights__h5=b"no h5").getvalue())
    with pytest.raises(ValueError, match="no readable HDF5"):
        keras.saving.load_model(path)


@pytest.mark.parametrize("name", ["model.weights.h5", "model.h5"])
def test_datasets_that_claim_too_much(name, tmp_path):
    h5py = pytest.importorskip("h5py")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    path = tmp_path / name
    (model.save_weights if "weights" in name else model.save)(path)
    with h5py.File(path, "r+") as file:
        places = []
        file.visititems(lambda place, item: places.append(place) if isinstance(item, h5py.Dataset) else None)
        for place in places:
            del file[place]
            file.create_dataset(place, (1 << 14, 1 << 14), "float64", compression="gzip", chunks=(1 << 10, 1 << 10))
    assert os.path.getsize(path) < 1 << 20
    with pytest.raises(ValueError, match="claims"):
        model.load_weights(path)


@pytest.mark.parametrize("name", ["a.h5", "a.weights.h5", "a.keras"])
def test_heaps_that_turn_in_circles(tmp_path, name):
    """HDF5's library walks for ever over an object that has no size."""
    pytest.importorskip("h5py")
    path = tmp_path / name
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.save_weights(path) if "weights" in name else model.save(path)
    data, read = bytearray(path.read_bytes()), (model.load_weights if "weights" in name else keras.models.load_model)
    read(path)
    heap = data.find(b"GCOL\x01\0\0\0")
    assert heap >= 0
    size = int.from_bytes(data[heap + 8:heap + 16], "little")
    for length in (bytes(8), b"\xf0" + b"\xff" * 7, (size * 2).to_bytes(8, "little")):
        data[heap + 16:heap + 32] = b"\0" * 8 + length
        path.write_bytes(data)
        with pytest.raises((ValueError, zipfile.BadZipFile), match="heap|CRC"):
            read(path)


def test_unknown_names_import_no_other_keras():
    """It takes seconds, and gigabytes with what it computes with."""
    code = """
import sys
from dragon.vm import keras
for module in ("keras.layers", "keras.layerz", "keras", "keras.src.layers.core.densf", "keras..a"):
    try:
        keras.saving.deserialize_keras_object({"module": module, "class_name": "Densf", "config": {}})
    except ValueError as error:
        assert "no such layer" in str(error), error
    else:
        raise AssertionError("it was found")
assert "keras" not in sys.modules
"""
    done = interpreter.run(["-c", code], "/", timeout=100, preload="from dragon.vm import keras")
    assert done.returncode == 0, done.stderr[-1000:]
