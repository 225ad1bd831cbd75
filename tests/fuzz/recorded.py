"""Right calls of the module's functions and methods, as the package's own code makes them while small programs run."""
import functools
import io
import pathlib
import sys
import tempfile
import types

import numpy

from dragon import _C

EACH = 4  # calls of a name that are kept


class Recorder:
    """Stands in front of functions and methods while programs run, and keeps the arguments of some calls."""

    def __init__(self):
        self.calls, self.replaced = {}, []

    def watch(self, owner, field, name, found):
        """Keep the calls of a function."""
        @functools.wraps(found)
        def call(*args, **kwargs):
            known = self.calls.setdefault(name, [])
            if len(known) < EACH:
                known.append((list(args), dict(kwargs)))
            return found(*args, **kwargs)
        setattr(owner, field, call)
        self.replaced.append((owner, field, found))

    def __enter__(self):
        for name, value in sorted(vars(_C).items()):
            if isinstance(value, types.BuiltinFunctionType):
                self.watch(_C, name, name, value)
            elif isinstance(value, type) and type(value).__name__ == "pybind11_type":
                for field, method in sorted(vars(value).items()):
                    if type(method).__name__ == "instancemethod" and not field.startswith("__"):
                        self.watch(value, field, f"{name}.{field}", method)
        return self

    def __exit__(self, *error):
        for owner, field, found in self.replaced:
            setattr(owner, field, found)


def train():
    """Take gradients, with hooks, saved tensors and a function of its own."""
    from dragon.vm import torch
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda grad: grad)
    y = (x * 2).sum()
    y.register_hook(lambda grad: None)
    y.backward(retain_graph=True)
    torch.autograd.grad(y, [x])
    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        x.add_(1)
    x.detach().numpy()
    torch.utils.checkpoint.checkpoint(torch.relu, x, use_reentrant=False).sum().backward()


def compile_calls():
    """Capture functions, at one size and for all."""
    from dragon.vm import torch

    @torch.compile
    def twice(x):
        return x * 2 + 1

    @torch.compile(dynamic=True)
    def rows(x):
        return x.reshape(x.shape[0], -1).sum(0)
    for size in (2, 3, 4):
        twice(torch.ones(size))
        rows(torch.ones(size, 2))


def batch_calls():
    """Call functions for whole batches, and make programs of them."""
    from dragon.vm import torch
    torch.vmap(lambda x: x * 2)(torch.ones(2, 3))
    torch.func.grad(lambda x: (x * x).sum())(torch.ones(3))

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x) + 1
    torch.export.export(Net(), (torch.ones(2),))


def exchange():
    """Hand tensors to others, and take theirs."""
    from dragon.vm import torch
    x = torch.from_dlpack(numpy.ones(3, "float32"))
    numpy.from_dlpack(x)
    torch.frombuffer(bytearray(8), dtype=torch.float32)
    torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)).to_dense()
    buffer = io.BytesIO()
    torch.save({"x": x}, buffer)
    buffer.seek(0)
    torch.load(buffer)
    x.share_memory_()
    torch.Generator().manual_seed(3).get_state()


def files():
    """Write and read records."""
    from dragon.io.records import KPLRecord, KPLRecordWriter
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.kpl"
        with KPLRecordWriter(path) as writer:
            for number in range(3):
                writer.write({"x": numpy.arange(4), "n": number})
        found = KPLRecord(path)
        list(found)
        return found[1]


PROGRAMS = (train, compile_calls, batch_calls, exchange, files)


def calls(told=None):
    """Return {name: [(args, kwargs)]}; a program that this build cannot run, or not to its end, adds what it did."""
    with Recorder() as recorder:
        for program in PROGRAMS:
            try:
                program()
            except Exception as error:  # what a program is for is its calls
                print(f"{program.__name__}: {type(error).__name__}: {error}", file=told or sys.stderr)
    return recorder.calls
