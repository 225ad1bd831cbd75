"""Readers of the guests' exported programs, checkpoints in folders, and pictures: an honest file of each."""
import io
import os
import shutil
import zipfile

import numpy


def _exported(folder):
    from dragon.vm import torch
    file = io.BytesIO()
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()
    torch.export.save(torch.export.export(net, (torch.ones(2, 3),)), file)
    return file.getvalue()


def _read_exported(data, folder, chance):
    from dragon.vm import torch
    torch.export.load(io.BytesIO(data))


def _exported_words(folder):
    with zipfile.ZipFile(io.BytesIO(_exported(folder))) as archive:
        return archive.read("archive/models/model.json")


def _read_exported_words(data, folder, chance):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_exported(folder) if not _kept else _kept[0])) as honest, zipfile.ZipFile(
            file, "w") as archive:
        if not _kept:
            honest.fp.seek(0)
            _kept.append(honest.fp.read())
        for name in honest.namelist():
            archive.writestr(name, data if name.endswith("models/model.json") else honest.read(name))
    _read_exported(file.getvalue(), folder, chance)


_kept = []


def _scripted(folder):
    from dragon.vm import torch
    file = io.BytesIO()
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()
    torch.jit.save(torch.jit.script(net), file)
    return file.getvalue()


def _read_scripted(data, folder, chance):
    from dragon.vm import torch
    torch.jit.load(io.BytesIO(data))


def _state():
    from dragon.vm import torch
    return {"a": torch.arange(6.).reshape(2, 3), "b": torch.ones(2, dtype=torch.int64)}


def _in_folder(save, load, ending):
    """Return (make, read) of a file in a checkpoint's folder."""
    def find(folder):
        place = os.path.join(folder, f"checkpoint{ending}")
        if not os.path.exists(place):
            save(place)
        return place, next(os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(ending))

    def make(folder):
        """Return the honest file, which is kept aside: who comes after a child that has ended finds a damaged one."""
        path = find(folder)[1]
        kept = os.path.join(folder, f"honest{ending}")
        if not os.path.exists(kept):
            shutil.copyfile(path, kept)
        with open(kept, "rb") as file:
            return file.read()

    def read(data, folder, chance):
        place, path = find(folder)
        with open(path, "wb") as file:
            file.write(data)
        load(place)
    return make, read


def _save_checkpoint(path):
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.save(_state(), checkpoint_id=path, no_dist=True)


def _load_checkpoint(path):
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.load(_state(), checkpoint_id=path, no_dist=True)


def _save_hugging(path):
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.save(_state(), storage_writer=dcp.HuggingFaceStorageWriter(path), no_dist=True)


def _load_hugging(path):
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.load(_state(), storage_reader=dcp.HuggingFaceStorageReader(path), no_dist=True)


def _save_program(path):
    from dragon.vm import tensorflow as tf
    made = tf.Module()
    made.v = tf.Variable(numpy.arange(6, dtype="float32"))
    made.f = tf.function(lambda x: x * made.v + 1.0, input_signature=[tf.TensorSpec([6], "float32")])
    tf.saved_model.save(made, path)


def _load_program(path):
    from dragon.vm import tensorflow as tf
    tf.saved_model.load(path).f(numpy.zeros(6, "float32"))


def _picture(kind):
    def make(folder):
        from PIL import Image
        file = io.BytesIO()
        Image.fromarray(numpy.arange(27 * 3, dtype="uint8").reshape(9, 9)).save(file, kind)
        return file.getvalue()

    def read(data, folder, chance):
        from dragon.vm import tensorflow as tf
        from dragon.vm import torch
        from dragon.vm.torchvision.io import decode_image
        if chance.randrange(2):
            decode_image(torch.frombuffer(bytearray(data or b"\0"), dtype=torch.uint8))
        else:
            try:
                tf.io.decode_image(data)
            except tf.errors.OpError as error:
                raise ValueError(str(error)) from error
    return make, read


def list_readers(torch_errors, tensorflow_errors):
    """Return the rows of `readers.READERS`."""
    def refused():
        from dragon.vm.torch.distributed.checkpoint.api import CheckpointException
        return *torch_errors, KeyError, OSError, CheckpointException

    def violated():
        from dragon.vm.torch.core.exporting.verifier import SpecViolationError
        return *torch_errors, KeyError, SpecViolationError
    return {
        "torch.export.load": ((_exported, _read_exported, violated), 4),
        "torch.export.load, words": ((_exported_words, _read_exported_words, violated), 6),
        "torch.jit.load": ((_scripted, _read_scripted, (*torch_errors, SyntaxError)), 6),
        "torch.distributed.checkpoint": ((*_in_folder(_save_checkpoint, _load_checkpoint, ".metadata"), refused), 3),
        "safetensors": ((*_in_folder(_save_hugging, _load_hugging, ".safetensors"), refused), 4),
        "tf.saved_model.load": ((*_in_folder(_save_program, _load_program, ".pb"), tensorflow_errors), 4),
        "picture, PNG": ((*_picture("PNG"), (*torch_errors, OSError)), 3),
        "picture, JPEG": ((*_picture("JPEG"), (*torch_errors, OSError)), 2),
    }
