"""Writers of the faces of Keras and TensorFlow."""
import os

import numpy

from contents import SIZE, same


def model(number):
    """Return a model whose weights are all a number."""
    from dragon.vm import keras
    made = keras.Sequential([keras.layers.Input((200,)), keras.layers.Dense(SIZE // 200, use_bias=False)])
    made.set_weights([numpy.full((200, SIZE // 200), number)])
    return made


def archive(path, number):
    """Write a `.keras` or `.h5` file."""
    model(number).save(path)


def folder(path, number):
    """Write a folder."""
    model(number).save(path, zipped=False)


def read_model(path):
    """Read with `load_model`."""
    from dragon.vm import keras
    return same(keras.models.load_model(path, compile=False).get_weights()[0])


def weights(path, number):
    """Write a `.weights.h5` file."""
    model(number).save_weights(path)


def read_weights(path):
    """Read with `load_weights`."""
    made = model(0)
    made.load_weights(path)
    return same(made.get_weights()[0])


def edited(path, number):
    """Write with `KerasFileEditor`."""
    from dragon.vm import keras
    source = os.path.join(os.path.dirname(path), "..", f"source{os.getpid()}.weights.h5")
    weights(source, number)
    keras.saving.KerasFileEditor(source).save(path)


def _halves(number):
    from dragon.vm import keras
    made = keras.Sequential([keras.layers.Input((100,)), keras.layers.Dense(SIZE // 200, use_bias=False),
                             keras.layers.Dense(100, use_bias=False)])
    made.set_weights([numpy.full((100, SIZE // 200), number), numpy.full((SIZE // 200, 100), number)])
    return made


def shards(path, number):
    """Write weights into several files."""
    _halves(number).save_weights(path, max_shard_size=SIZE * 2.2 / 2 ** 30)


def read_shards(path):
    """Read weights of several files; those that the table does not name count as left."""
    made = _halves(0)
    made.load_weights(path)
    return same(numpy.concatenate([one.ravel() for one in made.get_weights()]))


def vocabulary(path, number):
    """Write the vocabulary of a layer."""
    from dragon.vm import keras
    layer = keras.layers.StringLookup()
    layer.adapt([f"{number}-{place}" for place in range(200)])
    os.makedirs(path, exist_ok=True)
    layer.save_assets(path)


def read_vocabulary(path):
    """Read a vocabulary."""
    with open(os.path.join(path, "vocabulary.txt"), encoding="utf-8") as file:
        words = file.read().splitlines()[1:]
    if len(words) != 200:
        raise AssertionError(f"got {len(words)} words")
    return same([int(word.split("-")[0]) for word in words] * (SIZE // 200))


def picture(path, number):
    """Write with `save_img`."""
    from dragon.vm import keras
    keras.utils.save_img(path, numpy.full((SIZE // 200, 200, 3), number % 200, "uint8"), scale=False)


def augmented(path, number):
    """Write the pictures that a generator makes."""
    from dragon.vm.keras.legacy.preprocessing.image.iterators import Iterator
    writer = Iterator.__new__(Iterator)
    writer.save_to_dir, writer.save_prefix, writer.save_format, writer.data_format = path, "a", "png", "channels_last"
    os.makedirs(path, exist_ok=True)
    numpy.random.seed(0)
    pixels = numpy.full((SIZE // 200, 200, 3), (number % 200, 0, 255), "float32")  # nothing is left to be stretched
    writer._save([pixels], [0], 1)


def drawn(path, number):
    """Write with `plot_model`."""
    from dragon.vm.keras.utils import plotting

    class Picture:
        """A drawing."""

        width, height = 200, 50
        boxes = lines = staticmethod(lambda: ())
        svg = staticmethod(lambda: " ".join([str(number)] * SIZE))
    plotting._save(Picture(), path, 96)
    if not path.endswith(".svg"):
        return
    plotting._save(Picture(), f"{path[:-3]}png", 96)


def read_words(path):
    """Read numbers in a text."""
    with open(path, encoding="utf-8") as file:
        return same([int(word) for word in file.read().split()])


def copied(path, number):
    """Write with Keras's `file_utils.copy`."""
    from dragon.vm.keras.utils import file_system
    source = _source(path, number)
    file_system.copy(source, path)


def fetched(path, number):
    """Write with `keras.utils.get_file`, from a file that is here."""
    import contextlib
    import io

    from dragon.vm import keras
    with contextlib.redirect_stdout(io.StringIO()):
        keras.utils.get_file(os.path.basename(path), f"file://{_source(path, number)}", force_download=True,
                             cache_dir=os.path.dirname(path), cache_subdir=".")


def backup(path, number):
    """Write with `BackupAndRestore`, the last one and the one before."""
    from dragon.vm import keras
    callback = keras.callbacks.BackupAndRestore(path, double_checkpoint=True)
    callback.set_model(model(number))
    callback._current_epoch = number
    callback._save_model()


def read_backup(path):
    """Read as `BackupAndRestore` does."""
    import json

    from dragon.vm import keras
    made = model(0)
    callback = keras.callbacks.BackupAndRestore(path, double_checkpoint=True)
    callback.set_model(made)
    callback._restore()
    found = same(made.get_weights()[0])
    with open(callback._training_metadata_path, encoding="utf-8") as file:
        if json.load(file)["epoch"] != found:
            raise AssertionError("got the weights of one epoch and the number of another")
    return found


def exported(path, number):
    """Write with `model.export`, for ONNX."""
    model(number).export(path, format="onnx", verbose=False)


def read_exported(path):
    """Read with the onnx package."""
    import onnx
    found = onnx.load(path)
    onnx.checker.check_model(found)
    return same(onnx.numpy_helper.to_array(max(found.graph.initializer, key=lambda one: one.ByteSize())))


def served(path, number):
    """Write with `tf.saved_model.save`; the number stands in the graph, too, and in a file of its own."""
    from dragon.vm import tensorflow as tf
    made = tf.Module()
    made.v = tf.Variable(numpy.full(SIZE, number, "float32"))
    made.f = tf.function(lambda: tf.constant(float(number)), input_signature=())
    made.table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        _source(path, number, "words"), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER), -1)
    tf.saved_model.save(made, path)


def read_served(path):
    """Read with `tf.saved_model.load`."""
    from dragon.vm import tensorflow as tf
    made = tf.saved_model.load(path)
    name, = os.listdir(os.path.join(path, "assets"))
    found = same(made.v.numpy())
    with open(os.path.join(path, "assets", name), encoding="utf-8") as file:
        others = int(made.f().numpy()), int(file.readline())
    if set(others) != {found}:
        raise AssertionError(f"got the numbers of {found} and the graph and the files of {others}")
    return found


def graph(path, number):
    """Write with `tf.io.write_graph`."""
    from dragon.vm import tensorflow as tf
    function = tf.function(lambda: tf.constant([[float(number)] * 200] * (SIZE // 200)))
    tf.io.write_graph(function.get_concrete_function().graph.as_graph_def(), os.path.dirname(path),
                      os.path.basename(path), as_text=False)


def read_graph(path):
    """Read a graph's numbers."""
    with open(path, "rb") as file:
        data = file.read()
    return next(number for number in range(99, -1, -1) if numpy.full(SIZE, number, "float32").tobytes() in data)


def checkpoint(path, number):
    """Write a checkpoint of TensorFlow."""
    from dragon.vm import tensorflow as tf
    tf.train.Checkpoint(v=tf.Variable(numpy.full(SIZE, number, "float32"))).write(path)


def counted(path, number):
    """Write with a `CheckpointManager`, which names the last one."""
    from dragon.vm import tensorflow as tf
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(numpy.full(SIZE, number, "float32"))),
                                         path, max_to_keep=2)
    manager.save()


def read_checkpoint(path):
    """Read a checkpoint of TensorFlow."""
    from dragon.vm import tensorflow as tf
    path = tf.train.latest_checkpoint(path) if os.path.isdir(path) else path
    return same(tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE"))


def dataset(path, number):
    """Write with `tf.data.Dataset.save`."""
    from dragon.vm import tensorflow as tf
    tf.data.Dataset.from_tensors(numpy.full(SIZE, number, "float32")).repeat(3).save(path)


def read_dataset(path):
    """Read with `tf.data.Dataset.load`."""
    from dragon.vm import tensorflow as tf
    first, second, third = (same(one.numpy()) for one in tf.data.Dataset.load(path))
    if not first == second == third:
        raise AssertionError("got elements of several contents")
    return first


def elements(path, number):
    """Write the file of `tf.data.Dataset.cache`; it is made once, so an old one goes first."""
    from dragon.vm import tensorflow as tf
    from dragon.vm.shared.data.saving import write_elements
    for _ in write_elements(iter(tf.data.Dataset.from_tensors(numpy.full(SIZE, number, "float32"))), path):
        pass


def read_elements(path):
    """Read the file of `tf.data.Dataset.cache`."""
    from dragon.vm import tensorflow as tf
    from dragon.vm.shared.data.saving import read_elements
    found, = read_elements(path, tf.TensorSpec([SIZE], "float32"))
    return same(found.numpy())


def raw(path, number):
    """Write with `tf.io.write_file`."""
    from dragon.vm import tensorflow as tf
    tf.io.write_file(path, numpy.full(SIZE, number, "float32").tobytes())


def copied_by_gfile(path, number):
    """Write with `tf.io.gfile.copy`."""
    from dragon.vm import tensorflow as tf
    tf.io.gfile.copy(_source(path, number), path, overwrite=True)


def read_raw(path):
    """Read with `tf.io.read_file`."""
    from dragon.vm import tensorflow as tf
    return same(numpy.frombuffer(tf.io.read_file(path).numpy(), "float32"))


def _source(path, number, kind="numbers"):
    """Write numbers into a file elsewhere; return its name."""
    source = os.path.join(os.path.dirname(path), "..", f"{os.path.basename(path)}.source{os.getpid()}")
    if kind == "words":
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"{number}\nother\n")
    else:
        numpy.full(SIZE, number, "float32").tofile(source)
    return os.path.abspath(source)


WRITERS = {
    "keras": ("a.keras", archive, read_model), "keras, folder": ("a", folder, read_model),
    "keras, h5": ("a.h5", archive, read_model), "keras, weights": ("a.weights.h5", weights, read_weights),
    "keras, weights in several files": ("a.weights.json", shards, read_shards),
    "keras.saving.KerasFileEditor": ("a.weights.h5", edited, read_weights),
    "keras StringLookup": ("a", vocabulary, read_vocabulary),
    "keras.utils.save_img": ("a.png", picture, "picture"),
    "keras ImageDataGenerator": ("a", augmented, "pictures"),
    "keras.utils.plot_model": ("a.svg", drawn, read_words),
    "keras.utils.get_file": ("a.bin", fetched, read_raw), "keras file_utils.copy": ("a.bin", copied, read_raw),
    "keras.callbacks.BackupAndRestore": ("a", backup, read_backup),
    "keras export, onnx": ("a.onnx", exported, read_exported),
    "tf.saved_model.save": ("a", served, read_served), "tf.io.write_graph": ("a.pb", graph, read_graph),
    "tf.train.Checkpoint": ("a", checkpoint, read_checkpoint),
    "tf.train.CheckpointManager": ("a", counted, read_checkpoint),
    "tf.data.Dataset.save": ("a", dataset, read_dataset), "tf.data.Dataset.cache": ("a", elements, read_elements),
    "tf.io.write_file": ("a", raw, read_raw), "tf.io.gfile.copy": ("a", copied_by_gfile, read_raw),
}
