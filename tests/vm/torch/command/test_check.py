"""`dragon check` finds what a program uses that Dragon lacks, and nothing else, without running the program."""
import json

import pytest

from dragon.command import check, coverage
from harness import interpreter

# A line of a program: what is said to be missing in it, as "name" or "name(keyword)"; "?" before what is guarded.
LINES = {
    "import torch": [],
    "import torch.nn as nn, torch.nn.functional as F": [],
    "from torch import nn, Tensor, float32 as f32": [],
    "import torch.no_such_module": ["torch.no_such_module"],
    "from torch.nn import Linear, NoSuchLayer": ["torch.nn.NoSuchLayer"],
    "import torch\ntorch.zeros(2)": [],
    "import torch\ntorch.no_such_function(2)": ["torch.no_such_function"],
    "import torch as t\nt.nn.functional.no_such(1)": ["torch.nn.functional.no_such"],
    "import torch\nF = torch.nn.functional\nF.no_such(1)": ["torch.nn.functional.no_such"],
    "import torch\ntorch.Tensor.no_such_method": ["torch.Tensor.no_such_method"],
    "import torch\ntorch.float32.anything": [],
    "import torch\ntorch.add(1, 2, alpha=3, out=None)": [],
    "import torch\ntorch.add(1, 2, beta=3)": ["torch.add(beta)"],
    "import torch\ntorch.sum(1, dim=0, keepdim=True, axis=0, bogus=1)": ["torch.sum(bogus)"],
    "from torch.nn import Linear\nLinear(1, 2, bias=False, biass=True)": ["torch.nn.Linear(biass)"],
    "import torch\ntorch.ones(2).sum(dim=0).no_such_method()": ["torch.Tensor.no_such_method"],
    "import torch\nx = torch.ones(2) + 1\nx.no_such_method()": ["torch.Tensor.no_such_method"],
    "import torch\nx = torch.ones(2)\nx.sum(bogus=1)": ["torch.Tensor.sum(bogus)"],
    "import torch\nx = torch.ones(2)\nx = []\nx.append(1)": [],
    "def f(x):\n    return x.anything().at_all": [],
    "import torch\ntry:\n    torch.no_such\nexcept AttributeError:\n    pass": ["?torch.no_such"],
    "try:\n    from torch import no_such\nexcept ImportError:\n    no_such = None": ["?torch.no_such"],
    "import torch\nif hasattr(torch, 'no_such'):\n    torch.no_such()": ["?torch.no_such", "?torch.no_such"],
    "import torch\ngetattr(torch, 'no_such', None)": ["?torch.no_such"],
    "import torch\ngetattr(torch, 'no_such')": ["torch.no_such"],
    "import numpy\nnumpy.no_such(no=1)": [],
    "from . import torch\ntorch.no_such()": [],
}


@pytest.mark.parametrize("source", LINES)
def test_lines(source, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(source)
    report = check.check([str(path)])
    found = [("?" if entry["guarded"] else "") + entry["name"] + (f"({entry['keyword']})" if entry["keyword"] else "")
             for entry in report["missing"]]
    assert found == LINES[source]
    assert (report["share"] == 1.0) == all(entry["kind"] == "possible method" for entry in report["missing"])


def test_nearest_names():
    assert coverage.nearest_name("torch.nn.Conv2dd") == "torch.nn.Conv2d"
    assert coverage.nearest_name("torch.qqqqqqqqq") is None


def test_methods_of_what_may_be_a_tensor(tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text("def f(x):\n    return x.relu().some_day()\n")
    assert not check.check([str(path)])["missing"]
    monkeypatch.setattr(coverage, "tensor_names", lambda: {"relu", "some_day"})
    found = check.check([str(path)])["missing"]
    assert [(entry["name"], entry["kind"], entry["line"]) for entry in found] == [
        ("torch.Tensor.some_day", "possible method", 2)]
    (tmp_path / "own.py").write_text("class A:\n    def some_day(self):\n        pass\n")
    assert not check.check([str(path), str(tmp_path / "own.py")])["missing"]


def test_the_list_of_names_is_theirs():
    torch = pytest.importorskip("torch")
    assert coverage.tensor_names() == {name for name in dir(torch.Tensor) if not name.startswith("_")}


def test_command(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import torch\ntorch.no_such(1)\n")
    (tmp_path / "package" / "broken.py").write_text("a = = 1\n")
    (tmp_path / "fine.py").write_text("import torch\ntorch.ones(2)\nraise SystemExit('was run')\n")
    for words, status, said in (
            (["fine.py"], 0, "1 files, 2 uses of 2 names: 100.0% covered"),
            (["package"], 1, "__init__.py:2:1: Dragon lacks torch.no_such"),
            (["json"], 0, "covered"), (["no_such_package"], 2, "expected a script, a folder or a package"),
            ([], 2, "got nothing"), (["--bad"], 2, "got --bad")):
        result = interpreter.run(["-m", "dragon", "check", *words], tmp_path, preload="import dragon.command")
        assert result.returncode == status and said in result.stdout + result.stderr, result
    result = interpreter.run(["-m", "dragon", "check", "--json", "package"], tmp_path,
                             preload="import dragon.command")
    report = json.loads(result.stdout)
    assert report["missing"][0]["line"] == 2 and report["unreadable"] and report["share"] < 1
