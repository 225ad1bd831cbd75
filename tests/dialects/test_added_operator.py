"""An operator of the engine that PyTorch lacks is whole in PyTorch's terms by one word in the API's rows.

PyTorch has no `cbrt`, and Dragon's engine has. A copy of the package gets the word, and the signature that
`tools/operator_signatures.py` would read off a PyTorch that had it; then every frontend that names operators is asked.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import dragon

PROGRAM = '''
import io
import math
import dragon.vm
dragon.vm.install()
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

x = torch.tensor([[-8.0, 0.5, 27.0], [1.0, -0.125, 64.0]])
want = [[math.cbrt(number) if hasattr(math, "cbrt") else math.copysign(abs(number) ** (1 / 3), number)
         for number in row] for row in x.tolist()]

def check(name, found, wanted=want):
    torch.testing.assert_close(found, torch.tensor(wanted), msg=lambda text: f"{name}: {text}")
    print(name)

def cbrt(x):
    return torch.cbrt(x)

class Module(torch.nn.Module):
    def forward(self, x):
        return torch.cbrt(x)

check("eager", torch.cbrt(x))
check("method", x.cbrt())
check("in place", x.clone().cbrt_())
check("out=", torch.cbrt(x, out=torch.empty(2, 3)))
check("aten", torch.ops.aten.cbrt.default(x))
leaf = x.clone().requires_grad_()
slopes = [[1 / (3 * root * root) for root in row] for row in want]
check("gradient", torch.autograd.grad(torch.cbrt(leaf).sum(), leaf)[0], slopes)
check("vmap", torch.vmap(torch.cbrt)(x))
check("compiled", torch.compile(cbrt)(x))

program = torch.export.export(Module(), (x,), dynamic_shapes=({0: torch.export.Dim("rows")},))
assert "torch.ops.aten.cbrt.default(x)" in program.graph_module.code
check("export", program.module()(x))
file = io.BytesIO()
torch.export.save(program, file)
file.seek(0)
check("saved export", torch.export.load(file).module()(x[:1]), want[:1])
check("decompositions", program.run_decompositions().module()(x))
check("make_fx", make_fx(cbrt)(x)(x))
check("make_fx of gradients", make_fx(torch.func.grad(lambda x: torch.cbrt(x).sum()))(x)(x), slopes)

heard = []
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        heard.append(str(func))
        return func(*args, **(kwargs or {}))
with Mode():
    made = torch.cbrt(x)
assert heard == ["aten.cbrt.default"], heard
check("dispatch", made)
with Mode():
    made = torch.autograd.grad(torch.cbrt(leaf).sum(), leaf)[0]
check("gradient under dispatch", made, slopes)

script = torch.jit.script(cbrt)
assert "torch.cbrt(" in script.code
check("script", script(x))
file = io.BytesIO()
torch.jit.save(torch.jit.script(Module()), file)
file.seek(0)
check("saved script", torch.jit.load(file)(x))
check("trace", torch.jit.trace(cbrt, x)(x))

ragged = torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
check("jagged", torch.cbrt(ragged).unbind()[1], want[1][:2])
check("nested", torch.cbrt(torch.nested.nested_tensor([x[0], x[1, :2]])).unbind()[1], want[1][:2])
check("sparse", torch.cbrt(x.to_sparse()).to_dense())

torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
from torch.distributed.tensor import Shard, distribute_tensor
part = torch.cbrt(distribute_tensor(x, mesh, [Shard(0)]))
assert part.placements == (Shard(0),)
check("distributed", part.full_tensor())
torch.distributed.destroy_process_group()

import numpy
from onnx.reference import ReferenceEvaluator
file = io.BytesIO()
torch.onnx.export(Module(), (x,), file, dynamo=False, input_names=["x"])
file.seek(0)
import onnx
found, = ReferenceEvaluator(onnx.load(file)).run(None, {"x": x.numpy()})
check("ONNX", torch.tensor(found))
'''
FRONTENDS = """eager
method
in place
out=
aten
gradient
vmap
compiled
export
saved export
decompositions
make_fx
make_fx of gradients
dispatch
gradient under dispatch
script
saved script
trace
jagged
nested
sparse
distributed
ONNX
""".splitlines()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package with one word and one signature more."""
    place, source = tmp_path_factory.mktemp("package"), pathlib.Path(dragon.__file__).parent
    made = place / "dragon"
    shutil.copytree(source, made, ignore=shutil.ignore_patterns("__pycache__", "*.so*", "lib"))
    for library in (source / "lib", *source.glob("*.so*")):
        (made / library.name).symlink_to(library)
    rows = made / "vm" / "torch" / "_api" / "math.py"
    word = "torch torch_ Tensor Tensor_: sinh "
    assert rows.read_text().count(word) == 1
    rows.write_text(rows.read_text().replace(word, word + "cbrt "))
    table = made / "dialects" / "aten" / "signatures.txt"
    with table.open("a") as lines:
        lines.write("sen aten::cbrt(Tensor self) -> Tensor\nsen aten::cbrt_(Tensor(a!) self) -> Tensor(a!)\n")
    return place


@pytest.mark.long("the package is copied, and an interpreter imports it without compiled files")
def test_one_word_makes_an_operator_whole(package):
    environment, program = dict(os.environ, PYTHONPATH=str(package)), package / "program.py"
    program.write_text(PROGRAM)  # scripts are compiled from files
    run = subprocess.run([sys.executable, program], cwd=package, env=environment, capture_output=True, text=True,
                         timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines() == FRONTENDS
