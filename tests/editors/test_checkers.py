"""What editors and type checkers make of the stubs: completions, signatures, and the programs of `examples`."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import dragon
from dragon.command import parser, stubs, table

ROOT = pathlib.Path(dragon.__file__).resolve().parents[1]
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "torch"
# Programs that do not mean what they say: a sum begins with the number 0, a tensor takes the name of a list.
OTHER_FIRST = {"actor_critic.py", "maml.py", "seq2seq_attention.py"}
PROGRAM = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, (3, 3), padding="same")
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x))).flatten(1)


model = Net().to("cpu")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss = model(torch.randn(2, 1, 4, 4)).pow(2).mean()
loss.backward()
optimizer.step()
values, indices = torch.sort(torch.randn(3), descending=True)
reveal_type(torch.zeros(2, 3))
reveal_type(1 - torch.ones(3) @ torch.ones(3, 2))
reveal_type(values)
reveal_type(torch.sort(values))
reveal_type(torch.randn(2).max(0).indices)
reveal_type(values.shape)
reveal_type(values.reshape(3, 1).reshape((1, 3)))
reveal_type(torch.float32)
reveal_type(nn.Linear(2, 3).weight.data)
reveal_type(model.parameters())
reveal_type(torch.split(values, 2))
reveal_type(values.numel())
reveal_type(Net().to("cpu"))
"""
REVEALED = ["Tensor", "Tensor", "Tensor", "sort", "Tensor", "Size", "Tensor", "dtype", "Tensor | Any",
            "Iterator[Parameter]", "tuple[Tensor, ...]", "int", "Net"]
MISTAKES = """
import torch

torch.nn.Conv2d(1)
torch.randn(3).no_such_method()
torch.relu("text")
torch.nn.Convolution
torch.sort(torch.ones(3), dim="first")
"""


@pytest.fixture(scope="module")
def typings(tmp_path_factory):
    """Return a folder with the stubs of programs in it."""
    folder = tmp_path_factory.mktemp("programs")
    # As a checker finds the package from anywhere: behind a link, not among the environment's genuine frameworks.
    (folder / "package").mkdir()
    (folder / "package" / "dragon").symlink_to(ROOT / "dragon")
    words = [str(folder / "typings")]
    assert stubs.main(parser.make(table.find("stubs"), stubs).parse_args(words)) == 0
    return folder


def find_mypy(folder, *words):
    """Return the lines that mypy says of files."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(folder / "typings"), str(folder / "package")])}
    done = subprocess.run([sys.executable, "-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports",
                           "--disable-error-code", "var-annotated", "--disable-error-code", "import-untyped", *words],
                          cwd=folder, capture_output=True, text=True, env=environment, timeout=800)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout.splitlines()


def of_programs(lines):
    """Return the errors of programs: stubs of others have their own."""
    return [line for line in lines if ": error:" in line and not line.startswith((os.sep, "typings", "package", ".."))]


def shorten(kind):
    """Return a kind as mypy says it, without modules and brackets of its own."""
    return re.sub(r"[\w.]+\.(\w+)", r"\1", kind).replace("builtins.", "")


@pytest.mark.long("mypy reads the stubs of all frameworks, which it has not seen before")
@pytest.mark.slow
def test_mypy_sees_what_calls_give(typings):
    (typings / "program.py").write_text(PROGRAM)
    lines = find_mypy(typings, "program.py")
    assert not of_programs(lines)
    found = [re.search(r'Revealed type is "(.*)"', line)[1] for line in lines if "Revealed" in line]
    found = [shorten(kind) for kind in found]
    wanted = [kind.replace("sort", "tuple[Tensor, Tensor, fallback=sort]") for kind in REVEALED]
    assert found == wanted


@pytest.mark.slow
def test_mypy_finds_mistakes(typings):
    (typings / "mistakes.py").write_text(MISTAKES)
    lines = of_programs(find_mypy(typings, "mistakes.py"))
    assert [int(line.split(":")[1]) for line in lines] == [4, 5, 6, 7, 8], lines


@pytest.mark.slow
def test_mypy_agrees_with_the_examples(typings):
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, typings)
    lines = of_programs(find_mypy(typings, *sorted(path.name for path in EXAMPLES.glob("*.py"))))
    assert {line.split(":")[0] for line in lines} <= OTHER_FIRST, lines
    assert all(re.search(r"\"(int|float|list\[Any\])\"", line) for line in lines), lines


@pytest.mark.slow
def test_pyright_agrees_with_the_examples(typings):
    """pyright finds `typings` by itself; what it says of scikit-learn's data is not meant."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed: pip install pyright[nodejs]")
    folder = typings / "examples"
    folder.mkdir()
    shutil.copytree(typings / "typings", folder / "typings")
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    (folder / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{typings}/package"], "exclude": ["typings"]}}')
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable], cwd=folder, text=True,
                          capture_output=True, timeout=800)
    lines = [line for line in done.stdout.splitlines() if " - error:" in line and "reportRedeclaration" not in line]
    lines = [line for line in lines if not re.search(r'"(images|target|data)" for class "tuple', line)]
    assert "informations" in done.stdout, done.stderr
    assert {pathlib.Path(line.strip().split(":")[0]).name for line in lines} <= OTHER_FIRST, lines


@pytest.mark.long("jedi reads the stubs of whole packages")
def test_jedi_completes_and_tells_signatures(typings):
    jedi = pytest.importorskip("jedi", reason="jedi is not installed")
    # Without genuine packages, which jedi would prefer to stubs that lie elsewhere.
    plain = [path for path in sys.path if "site-packages" not in path]
    project = jedi.Project(typings, sys_path=[str(typings / "typings"), str(typings / "package"), *plain])

    def ask(code):
        return jedi.Script(code, project=project)
    convolutions = {item.name for item in ask("import torch\ntorch.nn.Conv").complete()}
    assert {"Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"} <= convolutions
    names = {item.name for item in ask("import torch\ntorch.").complete()}
    assert {"add", "cummax", "float32", "nn", "no_grad", "randn", "Tensor", "vmap"} <= names
    assert len([name for name in names if not name.startswith("_")]) > 700
    methods = {item.name for item in ask("import torch\ntorch.zeros(3).").complete()}
    assert {"view", "backward", "relu", "sum", "add_", "shape"} <= methods
    signature, = ask("import torch\ntorch.nn.Conv2d(").get_signatures()
    words = [parameter.name for parameter in signature.params]
    assert words[:4] == ["in_channels", "out_channels", "kernel_size", "stride"]
    signature, = ask("import torch\ntorch.cumsum(").get_signatures()
    assert signature.to_string().startswith("cumsum(input: Tensor, dim: _int, *, dtype:")
    assert "Running sums along a dim" in ask("import torch\ntorch.cumsum(").get_signatures()[0].docstring()


def test_jedi_takes_folders_called_stubs_before_an_installed_package(typings, tmp_path):
    jedi = pytest.importorskip("jedi", reason="jedi is not installed")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("def cumsum(genuine):\n    pass\n", encoding="utf-8")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "torch-stubs").symlink_to(typings / "typings" / "torch")
    plain = [path for path in sys.path if "site-packages" not in path]

    def first_word(stubs):
        project = jedi.Project(tmp_path, sys_path=[str(tmp_path), str(stubs), str(typings / "package"), *plain])
        signature, = jedi.Script("import torch\ntorch.cumsum(", project=project).get_signatures()
        return signature.params[0].name
    assert (first_word(typings / "typings"), first_word(tmp_path / "links")) == ("genuine", "input")
