"""Writers of the torch face."""
import os
import re

import numpy

from contents import SIZE, same


def tensor(number):
    """Return a tensor that holds a number many times."""
    from dragon.vm import torch
    return torch.full((SIZE,), float(number))


def module(number):
    """Return a module that adds a number's tensor."""
    from dragon.vm import torch

    class Adds(torch.nn.Module):
        """Adds a constant."""

        def __init__(self):
            super().__init__()
            self.register_buffer("constant", tensor(number))

        def forward(self, x):
            """Return the sum."""
            return x + self.constant
    return Adds().eval()


def archive(path, number):
    """Write with `torch.save`."""
    from dragon.vm import torch
    torch.save({"a": tensor(number)}, path)


def older(path, number):
    """Write with `torch.save`, in the older format."""
    from dragon.vm import torch
    torch.save({"a": tensor(number)}, path, _use_new_zipfile_serialization=False)


def read_archive(path):
    """Read with `torch.load`."""
    from dragon.vm import torch
    return same(torch.load(path)["a"].numpy())


def jit(path, number):
    """Write with `torch.jit.save`; the same as `Graph.save`."""
    from dragon.vm import torch
    torch.jit.save(torch.jit.trace(module(number), torch.zeros(SIZE)), path)


def read_jit(path):
    """Read with `torch.jit.load`."""
    from dragon.vm import torch
    return same(torch.jit.load(path)(torch.zeros(SIZE)).numpy())


_kept = {}


def exported(path, number):
    """Write with `torch.export.save`."""
    from dragon.vm import torch
    if "program" not in _kept:  # exporting takes longer than writing
        _kept["program"] = torch.export.export(module(number), (torch.zeros(SIZE),))
    _kept["program"].state_dict["constant"] = tensor(number)
    torch.export.save(_kept["program"], path)


def read_exported(path):
    """Read with `torch.export.load`."""
    from dragon.vm import torch
    return same(torch.export.load(path).module()(torch.zeros(SIZE)).numpy())


def onnx(path, number, external=False):
    """Write with `torch.onnx.export`'s program."""
    from dragon.vm import torch
    if "onnx" not in _kept:
        _kept["onnx"] = torch.onnx.export(module(number), (torch.zeros(SIZE),))
    numbers = max(_kept["onnx"].model_proto.graph.initializer, key=lambda one: one.ByteSize())
    numbers.raw_data = numpy.full(SIZE, number, "float32").tobytes()
    _kept["onnx"].save(path, external_data=external)


def onnx_external(path, number):
    """Write with `torch.onnx.export`'s program, numbers beside the model."""
    onnx(path, number, external=True)


def read_onnx(path):
    """Read with the onnx package."""
    import onnx as package
    model = package.load(path)
    package.checker.check_model(model)
    return same(package.numpy_helper.to_array(max(model.graph.initializer, key=lambda one: one.ByteSize())))


def package(path, number):
    """Write with `GraphModule.to_folder`; the number stands in the code, too."""
    from dragon.vm import torch
    graphs = torch.fx.symbolic_trace(module(number))
    graphs.to_folder(path, f"Adds{number}")


def read_package(path):
    """Read what `to_folder` wrote; the code and the numbers must be of one time."""
    from dragon.vm import torch
    found = same(torch.load(os.path.join(path, "state_dict.pt"))["constant"].numpy())
    with open(os.path.join(path, "module.py"), encoding="utf-8") as file:
        named = int(re.search(r"class Adds(\d+)", file.read())[1])
    if named != found or not os.path.exists(os.path.join(path, "__init__.py")):
        raise AssertionError(f"got the code of {named} and the numbers of {found}")
    return found


def checkpoint(path, number):
    """Write with `torch.distributed.checkpoint`."""
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.save({"a": tensor(number), "b": tensor(number)}, checkpoint_id=path, no_dist=True)


def read_checkpoint(path):
    """Read with `torch.distributed.checkpoint`."""
    from dragon.vm.torch.distributed import checkpoint as dcp
    state = {"a": tensor(-1), "b": tensor(-1)}
    dcp.load(state, checkpoint_id=path, no_dist=True)
    return _one(state)


def hugging(path, number):
    """Write with `HuggingFaceStorageWriter`."""
    from dragon.vm.torch.distributed import checkpoint as dcp
    dcp.save({"a": tensor(number), "b": tensor(number)}, storage_writer=dcp.HuggingFaceStorageWriter(path),
             no_dist=True)


def read_hugging(path):
    """Read with `HuggingFaceStorageReader`."""
    from dragon.vm.torch.distributed import checkpoint as dcp
    state = {"a": tensor(-1), "b": tensor(-1)}
    dcp.load(state, storage_reader=dcp.HuggingFaceStorageReader(path), no_dist=True)
    return _one(state)


def _one(state):
    found = {same(value.numpy()) for value in state.values()}
    if len(found) != 1:
        raise AssertionError(f"got tensors of several contents: {found}")
    return found.pop()


def points(path, number):
    """Write with `SummaryWriter.add_embedding`: points, labels and pictures."""
    from dragon.vm import torch
    from dragon.vm.torch.utils.tensorboard import projector
    os.makedirs(path, exist_ok=True)
    projector.write_points(path, tensor(number)[:, None])
    projector.write_labels(path, [str(number)] * 4, None)
    projector.write_pictures(path, torch.full((4, 3, 2, 2), number % 100 / 100))


def read_points(path):
    """Read the points; each file is whole, they are not one."""
    return same(numpy.loadtxt(os.path.join(path, "tensors.tsv")))


def stacks(path, number):
    """Write with the profiler's `export_stacks`."""
    from dragon.vm.torch.autograd import profiler_util

    class Event:
        """What happened."""

        stack, self_cpu_time_total = ["f"], number + 1
    profiler_util.EventList([Event()] * SIZE).export_stacks(path, "self_cpu_time_total")


def read_stacks(path):
    """Read the profiler's numbers."""
    with open(path, encoding="utf-8") as file:
        return same([int(line.split()[1]) - 1 for line in file])


def trace(path, number):
    """Write with the profiler's `export_chrome_trace`."""
    from dragon.vm.torch.autograd.profiler_util import write_trace
    write_trace(path, [], {"numbers": [number] * SIZE})


def orders(path, number):
    """Write with a pipeline's `_dump_csv`."""
    from dragon.vm.torch.distributed.pipelining import schedules
    schedule = schedules.PipelineScheduleMulti.__new__(schedules.PipelineScheduleMulti)
    schedule.pipeline_order = {0: [number] * SIZE}
    schedule._dump_csv(path)


def read_orders(path):
    """Read a row of numbers."""
    with open(path, encoding="utf-8") as file:
        return same([int(text) for text in file.read().split(",")])


def error(path, number):
    """Write the error of a process of torchrun's."""
    from dragon.vm.torch.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler
    os.environ["TORCHELASTIC_ERROR_FILE"] = path
    try:
        ErrorHandler().record_exception(ValueError(" ".join([str(number)] * SIZE)))
        if os.path.basename(path) == "b.json":
            ErrorHandler().dump_error_file(path)
    finally:
        del os.environ["TORCHELASTIC_ERROR_FILE"]


def read_error(path):
    """Read the numbers of an error."""
    import json
    with open(path, encoding="utf-8") as file:
        words = json.load(file)["message"]["message"].removeprefix("ValueError: ").split()
    return same([int(word) for word in words])


def picture(path, number):
    """Write a picture with torchvision."""
    from dragon.vm import torch
    from dragon.vm.torchvision.utils import save_image
    save_image(torch.full((3, SIZE // 200, 200), number % 200 / 255), path)


def encoded(path, number):
    """Write a picture with `torchvision.io.write_png`."""
    from dragon.vm import torch
    from dragon.vm.torchvision.io import write_png
    write_png(torch.full((3, SIZE // 200, 200), number % 200, dtype=torch.uint8), path)


def read_picture(path):
    """Read a picture with torchvision."""
    from dragon.vm.torchvision.io import read_image
    return same(read_image(path)[0].numpy())


def fetched(path, number):
    """Fetch a file that is here, with `torch.hub`."""
    from dragon.vm import torch
    torch.hub.download_url_to_file(f"file://{numbers_file(path, number)}", path, progress=False)


def fetched_by_vision(path, number):
    """Fetch a file that is here, with torchvision."""
    from dragon.vm.torchvision.datasets.utils import download_url
    if os.path.exists(path):
        return unpacked(path, number)  # one that is there is not fetched
    return download_url(f"file://{numbers_file(path, number)}", os.path.dirname(path), os.path.basename(path))


def unpacked(path, number):
    """Unpack a packed file with torchvision."""
    import gzip

    from dragon.vm.torchvision.datasets.utils import extract_archive
    packed = os.path.join(os.path.dirname(path), "..", os.path.basename(path) + ".gz")
    with gzip.open(packed, "wb", 1) as file:
        file.write(numpy.full(SIZE, number, "float32").tobytes())
    extract_archive(packed, os.path.dirname(path))


def numbers_file(path, number):
    """Write numbers into a file beside a place's folder; return its name."""
    source = os.path.join(os.path.dirname(path), "..", f"{os.path.basename(path)}.source{os.getpid()}")
    numpy.full(SIZE, number, "float32").tofile(source)
    return os.path.abspath(source)


def read_numbers(path):
    """Read a file of numbers."""
    return same(numpy.fromfile(path, "float32"))


WRITERS = {
    "torch.save": ("a.pt", archive, read_archive),
    "torch.save, older": ("a.pt", older, read_archive),
    "torch.jit.save": ("a.dragon", jit, read_jit),
    "torch.export.save": ("a.pt2", exported, read_exported),
    "torch.onnx.export": ("a.onnx", onnx, read_onnx),
    "torch.onnx.export, beside": ("a.onnx", onnx_external, read_onnx),
    "torch.fx to_folder": ("a", package, read_package),
    "torch.distributed.checkpoint": ("a", checkpoint, read_checkpoint),
    "torch.distributed.checkpoint, Hugging Face": ("a", hugging, read_hugging),
    "torch.utils.tensorboard projector": ("a", points, read_points),
    "torch.profiler stacks": ("a.txt", stacks, read_stacks),
    "torch.profiler trace": ("a.json", trace, "json"),
    "torch pipeline orders": ("a.csv", orders, read_orders),
    "torch elastic errors": ("b.json", error, read_error),
    "torch.hub": ("a.bin", fetched, read_numbers),
    "torchvision": ("a.png", picture, read_picture),
    "torchvision.io": ("a.png", encoded, read_picture),
    "torchvision.datasets download": ("a.bin", fetched_by_vision, read_numbers),
    "torchvision.datasets extract": ("a.bin", unpacked, read_numbers),
}
