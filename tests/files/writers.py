"""Everything that writes a whole file or folder: how a numbered content is written, and which number is read back."""
import json
import os

import numpy

SIZE = 40000  # numbers in each content: long enough in the writing for a process to die meanwhile


def same(numbers):
    """Return the number that all of many are; raise if they are not."""
    numbers = numpy.asarray(numbers)
    if numbers.size != SIZE or not (numbers == numbers.flat[0]).all():
        raise AssertionError(f"got a mixture of contents: {numpy.unique(numbers)[:5]}, {numbers.size} numbers")
    return int(numbers.flat[0])


def torch_tensor(number):
    """Return a tensor that holds a number many times."""
    from dragon.vm import torch
    return torch.full((SIZE,), float(number))


def torch_archive(path, number):
    """Write with `torch.save`."""
    from dragon.vm import torch
    torch.save({"a": torch_tensor(number)}, path)


def torch_old(path, number):
    """Write with `torch.save`, in the older format."""
    from dragon.vm import torch
    torch.save({"a": torch_tensor(number)}, path, _use_new_zipfile_serialization=False)


def read_torch(path):
    """Read with `torch.load`."""
    from dragon.vm import torch
    return same(torch.load(path)["a"].numpy())


def torch_module(number):
    """Return a module that adds a number's tensor."""
    from dragon.vm import torch

    class Adds(torch.nn.Module):
        """Adds a constant."""

        def __init__(self):
            super().__init__()
            self.register_buffer("constant", torch_tensor(number))

        def forward(self, x):
            """Return the sum."""
            return x + self.constant
    return Adds().eval()


def jit(path, number):
    """Write with `torch.jit.save`; the same as `Graph.save`."""
    from dragon.vm import torch
    torch.jit.save(torch.jit.trace(torch_module(number), torch.zeros(SIZE)), path)


def read_jit(path):
    """Read with `torch.jit.load`."""
    from dragon.vm import torch
    return same(torch.jit.load(path)(torch.zeros(SIZE)).numpy())


def onnx(path, number, external=False):
    """Write with `torch.onnx.export`'s program."""
    from dragon.vm import torch
    if onnx.program is None:  # exporting takes longer than writing
        onnx.program = torch.onnx.export(torch_module(number), (torch.zeros(SIZE),))
    numbers = max(onnx.program.model_proto.graph.initializer, key=lambda one: one.ByteSize())
    numbers.raw_data = numpy.full(SIZE, number, "float32").tobytes()
    onnx.program.save(path, external_data=external)


onnx.program = None


def onnx_external(path, number):
    """Write with `torch.onnx.export`'s program, numbers beside the model."""
    onnx(path, number, external=True)


def read_onnx(path):
    """Read with the onnx package."""
    import onnx as package
    model = package.load(path)
    package.checker.check_model(model)
    return same(package.numpy_helper.to_array(max(model.graph.initializer, key=lambda one: one.ByteSize())))


def keras_model(number):
    """Return a model whose weights are all a number."""
    from dragon.vm import keras
    model = keras.Sequential([keras.layers.Input((200,)), keras.layers.Dense(SIZE // 200, use_bias=False)])
    model.set_weights([numpy.full((200, SIZE // 200), number)])
    return model


def keras_archive(path, number):
    """Write a `.keras` or `.h5` file."""
    keras_model(number).save(path)


def keras_folder(path, number):
    """Write a folder."""
    keras_model(number).save(path, zipped=False)


def read_keras(path):
    """Read with `load_model`."""
    from dragon.vm import keras
    return same(keras.models.load_model(path, compile=False).get_weights()[0])


def keras_weights(path, number):
    """Write a `.weights.h5` file."""
    keras_model(number).save_weights(path)


def read_keras_weights(path):
    """Read with `load_weights`."""
    model = keras_model(0)
    model.load_weights(path)
    return same(model.get_weights()[0])


def checkpoint(path, number):
    """Write a checkpoint of TensorFlow."""
    from dragon.vm import tensorflow as tf
    tf.train.Checkpoint(v=tf.Variable(numpy.full(SIZE, number, "float32"))).write(path)


def read_checkpoint(path):
    """Read a checkpoint of TensorFlow."""
    from dragon.vm import tensorflow as tf
    variable = tf.Variable(numpy.zeros(SIZE, "float32"))
    tf.train.Checkpoint(v=variable).read(path).assert_consumed()
    return same(variable.numpy())


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


def raw(path, number):
    """Write with `tf.io.write_file`."""
    from dragon.vm import tensorflow as tf
    tf.io.write_file(path, numpy.full(SIZE, number, "float32").tobytes())


def copied(path, number):
    """Write with `tf.io.gfile.copy`."""
    from dragon.vm import tensorflow as tf
    source = f"{path}.source"
    raw(source, number)
    tf.io.gfile.copy(source, path, overwrite=True)


def read_raw(path):
    """Read with `tf.io.read_file`."""
    from dragon.vm import tensorflow as tf
    return same(numpy.frombuffer(tf.io.read_file(path).numpy(), "float32"))


def trace(path, number):
    """Write a profile."""
    from dragon.core.profile import Profile
    profile = Profile.__new__(Profile)
    profile.chrome_trace = lambda: {"numbers": [number] * SIZE}
    profile.save_chrome_trace(path)


def read_trace(path):
    """Read a profile."""
    with open(path, encoding="utf-8") as file:
        return same(json.load(file)["numbers"])


def picture(path, number):
    """Write a picture with torchvision."""
    from dragon.vm import torch
    from dragon.vm.torchvision.utils import save_image
    save_image(torch.full((3, SIZE // 200, 200), number % 200 / 255), path)


def read_picture(path):
    """Read a picture with torchvision."""
    from dragon.vm.torchvision.io import read_image
    return same(read_image(path)[0].numpy())


# name -> (the file's name, how it is written, how it is read)
WRITERS = {
    "torch.save": ("a.pt", torch_archive, read_torch),
    "torch.save, older": ("a.pt", torch_old, read_torch),
    "torch.jit.save": ("a.dragon", jit, read_jit),
    "torch.onnx.export": ("a.onnx", onnx, read_onnx),
    "torch.onnx.export, beside": ("a.onnx", onnx_external, read_onnx),
    "keras": ("a.keras", keras_archive, read_keras),
    "keras, folder": ("a", keras_folder, read_keras),
    "keras, h5": ("a.h5", keras_archive, read_keras),
    "keras, weights": ("a.weights.h5", keras_weights, read_keras_weights),
    "tf.train.Checkpoint": ("a", checkpoint, read_checkpoint),
    "tf.data.Dataset.save": ("a", dataset, read_dataset),
    "tf.io.write_file": ("a", raw, read_raw),
    "tf.io.gfile.copy": ("a", copied, read_raw),
    "profile": ("a.json", trace, read_trace),
    "torchvision": ("a.png", picture, read_picture),
}


def leftovers(folder):
    """Return the names in a folder that a writer should have taken away."""
    return sorted(name for _, folders, files in os.walk(folder) for name in folders + files
                  if name.endswith((".part", ".new", ".tmp")) or "-of-00002" in name)
