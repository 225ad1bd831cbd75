"""Files of whole models (`.keras`) and of their weights (`.weights.h5`), as genuine Keras writes and reads them."""
import contextlib
import datetime
import io
import json
import os
import zipfile

from dragon.core import warnings
from dragon.core import files as whole
from dragon.vm.keras.saving.serialization import ObjectSharingScope, deserialize_keras_object, serialize_keras_object
from dragon.vm.keras.saving.shards import SUFFIX, ShardsReader, ShardsWriter
from dragon.vm.keras.saving.state import Reader, Writer
from dragon.vm.keras.saving.stores import AssetsStore, WeightsStore, open_archive, read_member, read_weights_of

VERSION = "3.15.1"
CONFIG, METADATA, WEIGHTS, ASSETS = "config.json", "metadata.json", "model.weights.h5", "assets"


def describe(model):
    """Return (the model's configuration, what is told of the file) as JSON."""
    with ObjectSharingScope():
        config = serialize_keras_object(model)
    saved = datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")
    return json.dumps(config), json.dumps({"keras_version": VERSION, "date_saved": saved})


def write_archive(model, file):
    """Write a model into a `.keras` archive.

    Parameters
    ----------
    file : Union[str, io.IOBase]
        Where to.

    """
    config, metadata = describe(model)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(METADATA, metadata)
        archive.writestr(CONFIG, config)
        numbers = io.BytesIO()
        weights, assets = WeightsStore(numbers, "w"), AssetsStore(archive, mode="w")
        try:
            Writer(weights, assets).write(model)
        finally:
            weights.close()
            assets.close()
        archive.writestr(WEIGHTS, numbers.getvalue())
    if isinstance(file, io.IOBase):
        file.write(memory.getvalue())
        return
    whole.write(file, memory.getbuffer())


def write_folder(model, folder):
    """Write a model into a folder of the files that an archive has."""
    config, metadata = describe(model)
    with whole.replacing_folder(folder, {METADATA, CONFIG, WEIGHTS, ASSETS}) as place:
        for name, text in ((METADATA, metadata), (CONFIG, config)):
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text)
        with contextlib.closing(WeightsStore(os.path.join(place, WEIGHTS), "w")) as weights:
            Writer(weights, AssetsStore(folder=os.path.join(place, ASSETS), mode="w")).write(model)


def read_archive(file, custom_objects=None, compile=True, safe_mode=True):
    """Return the model of a `.keras` archive, of a folder of its files, or of a binary stream."""
    if isinstance(file, (str, os.PathLike)) and os.path.isdir(file):
        with open(os.path.join(file, CONFIG), "rb") as source:
            model = build(source.read(), custom_objects, compile, safe_mode)
        _fill(model, WeightsStore(os.path.join(file, WEIGHTS), "r"),
              AssetsStore(folder=os.path.join(file, ASSETS)))
        return model
    with open_archive(file) as archive:
        if CONFIG not in archive.namelist():
            raise ValueError(f"Expected a file '{CONFIG}' in the archive. Received files: {archive.namelist()[:20]}")
        model = build(read_member(archive, CONFIG), custom_objects, compile, safe_mode)
        _fill(model, read_weights_of(archive), AssetsStore(archive))
    return model


def build(text, custom_objects, compile, safe_mode):
    """Return the model of a configuration as JSON."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The file's '{CONFIG}' is no JSON ({error}). Received: {text[:200]!r}") from error
    if not compile and isinstance(config, dict):
        config["compile_config"] = None
    with ObjectSharingScope():
        return deserialize_keras_object(config, custom_objects, safe_mode=safe_mode)


def _fill(model, weights, assets):
    try:
        reader = Reader(weights, assets)
        reader.read(model)
        reader.tell()
    finally:
        weights.close()
        assets.close()


def write_weights(model, filepath, max_shard_size=None, objects_to_skip=None):
    """Write a model's weights into a `.weights.h5` file, or into several and a table of them."""
    path, skip = filepath, objects_to_skip or ()
    if not model.built:
        raise ValueError("You are saving a model that has not yet been built. Try building the model first by calling "
                         f"it on some data or by using `build()`. Received: model={model}")
    if max_shard_size is not None:
        if str(path).endswith(".weights.h5"):
            told, path = path, str(path).removesuffix(".weights.h5") + SUFFIX
            warnings.warn("Saving sharded weights requires `*.json` as the extension. The original path: "
                          f"{told} will be renamed to {path}.")
        if not str(path).endswith(SUFFIX):
            raise ValueError("The filename must end in `.weights.json` when `max_shard_size` is specified. "
                             f"Received: filepath={path}")
        with ShardsWriter(str(path), max_shard_size) as shards:
            Writer(shards, skip=skip).write(model)
        return
    if not str(path).endswith(".weights.h5"):
        raise ValueError(f"The filename must end in `.weights.h5`. Received: filepath={path}")
    with whole.replacing(path) as place, contextlib.closing(WeightsStore(place, "w")) as weights:
        Writer(weights, skip=skip).write(model)


def read_weights(model, filepath, skip_mismatch=False, objects_to_skip=None):
    """Read a model's weights from a `.weights.h5` file or a `.keras` archive."""
    path, skip = filepath, objects_to_skip or ()
    if not model.built:
        raise ValueError("You are loading weights into a model that has not yet been built. Try building the model "
                         f"first by calling it on some data or by using `build()`. Received: model={model}")
    if str(path).endswith(".keras"):
        with open_archive(path) as archive:
            weights = read_weights_of(archive)
    else:
        weights = ShardsReader(str(path)) if str(path).endswith(SUFFIX) else WeightsStore(path, "r")
    try:
        reader = Reader(weights, skip_mismatch=skip_mismatch, skip=skip)
        reader.read(model)
        reader.tell()
    finally:
        weights.close()


def warn_unbuilt(model):
    """Warn about a model whose file will have no weights."""
    if not model.built:
        warnings.warn("You are saving a model that has not yet been built. It might not contain any weights yet. "
                      "Consider building the model first by calling it on some data.")
