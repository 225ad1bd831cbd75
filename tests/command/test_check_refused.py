"""`dragon check` counts a name as there only if it works, and takes nothing for a tensor's that is not one's."""
import json

import pytest

from dragon.command import check, refusals

REFUSED = {
    "import torch\ntorch.distributed.rpc.init_rpc(1)\n":
        ("torch.distributed.rpc.init_rpc", 2, "Dragon does not have it"),
    "from torch.distributed.optim import DistributedOptimizer as F\n\nF(1)\n":
        ("torch.distributed.optim.DistributedOptimizer", 3, "Dragon does not have it"),
    "import torch\ntorch.ones(2).to_mkldnn()\n": ("torch.Tensor.to_mkldnn", 2, ""),
    "import tensorflow as tf\ntf.distribute.TPUStrategy(None)\n":
        ("tensorflow.distribute.TPUStrategy", 2, "knows a TPU"),
}
FINE = [
    "from torch.distributed.tensor import DTensor\nisinstance(1, DTensor)\n",  # asked about, not made
    "import torch\nif torch.cuda.is_available():\n    torch.cuda.Stream()\n",
    "import torch\nclass Own(torch.utils.data.Dataset):\n    pass\nOwn()\n",  # its methods are there to be overridden
]
NO_TENSORS = [
    "import torch\nwords = []\nwords.index(1)\nwords.values()\n'a'.split()\n",
    "import torch\nx = torch.ones(2)\nfor x in ['a']:\n    x.no_such()\n    x.index('a')\n",
    "import torch\nx = torch.ones(2)\nwith open('a') as x:\n    x.no_such()\n",
    "import torch\nx = torch.ones(2)\nx, y = 'a', 'b'\nx.no_such()\n",
]
HIDDEN = [
    "from keras import layers\ndef f(layers):\n    return layers.no_such()\n",
    "from keras import layers\ng = lambda layers: layers.no_such()\n",
    "from keras import layers\nfor layers in []:\n    layers.no_such()\n",
]


def read(folder, text, name="program.py"):
    """Return the report on a program."""
    (folder / name).write_text(text)
    return check.judge_whole(check.check([str(folder / name)]))


@pytest.mark.parametrize("text", REFUSED)
def test_names_that_raise_are_told_with_their_reason(tmp_path, text):
    name, line, reason = REFUSED[text]
    report = read(tmp_path, text)
    assert [(entry["kind"], entry["name"], entry["line"]) for entry in report["missing"]] == [("refused", name, line)]
    assert reason in report["missing"][0]["reason"] and report["share"] < 1
    assert report["verdict"] == "fails" and f"`{name}` raises: " in report["reason"]
    assert f"{name} raises: " in check.as_text(report)


@pytest.mark.parametrize("text", FINE)
def test_what_is_only_asked_about_is_fine(tmp_path, text):
    report = read(tmp_path, text)
    assert not report["missing"] and report["share"] == 1 and report["verdict"] == "runs"


@pytest.mark.parametrize("text", NO_TENSORS)
def test_methods_of_other_objects_are_no_tensor_s(tmp_path, text):
    report = read(tmp_path, text)
    assert not report["missing"]
    # The import and the call: methods of what nobody knows are neither covered nor missing.
    assert report["uses"] == 1 + ("torch.ones" in text)


@pytest.mark.parametrize("text", HIDDEN)
def test_names_that_something_else_binds_are_the_program_s_own(tmp_path, text):
    assert not read(tmp_path, text)["missing"]


def test_what_a_function_imports_stays_within(tmp_path):
    report = read(tmp_path, "def f():\n    import torch as library\n    library.no_such()\n"
                            "import math as library\nlibrary.no_such()\n")
    assert [entry["line"] for entry in report["missing"]] == [3]


def test_setting_what_is_not_there_does_not_fail(tmp_path):
    report = read(tmp_path, "import torch\ntorch.backends.no_such = True\n")
    assert report["missing"][0]["guarded"] and report["verdict"] == "runs"


def test_sums_of_a_tensor_stay_tensors(tmp_path):
    report = read(tmp_path, "import torch\nx = torch.ones(2)\nx += 1\nx.sum(bogus=1)\n")
    assert [entry["keyword"] for entry in report["missing"]] == ["bogus"]


def test_what_works_is_never_said_to_raise():
    for name in ("torch.ones", "torch.nn.Linear", "torch.utils.data.Dataset", "torch.autograd.Function.forward",
                 "keras.layers.Layer.call", "tensorflow.data.Dataset", "torch.Tensor.relu", "torch.nn.functional.relu",
                 "torch.optim.Optimizer.step", "torch.no_grad", "keras.losses.Loss", "torch.no_such"):
        assert refusals.reason_of(name) is None, name


def cells(*texts, **more):
    """Return a notebook with cells of code behind one of text."""
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Title"}, *(
        {"cell_type": "code", "source": text.splitlines(keepends=True)} for text in texts)], "nbformat": 4, **more})


def test_notebooks_are_read_cell_by_cell(tmp_path):
    text = cells("!pip install torch\n%matplotlib inline\nimport torch", "%%bash\nls (",
                 "files = !ls\nif files:\n    !ls", "%%time\nx = torch.ones(2)\ntorch.no_such(x)", "x?")
    report = read(tmp_path, text, "lesson.ipynb")
    assert not report["unreadable"] and report["files"] == 1
    found = report["missing"][0]
    assert (found["name"], found["cell"], found["line"]) == ("torch.no_such", 5, 3)
    assert "lesson.ipynb:cell 5:3" in report["reason"] and "lesson.ipynb:cell 5:3:1: Dragon" in check.as_text(report)
    assert check.find_files(str(tmp_path)) == [str(tmp_path / "lesson.ipynb")]


def test_notebooks_of_earlier_days_and_torn_ones(tmp_path):
    old = json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": "import torch\ntorch.no_such\n"}]}]})
    assert read(tmp_path, old, "old.ipynb")["missing"][0]["cell"] == 1
    for text in ("", "[]", "{}", '{"cells": [1]}', '{"cells": [{"cell_type": "code", "source": 5}]}', "\x00"):
        assert "got no notebook" in read(tmp_path, text, "torn.ipynb")["unreadable"][0], text
    assert read(tmp_path, cells("def f(:"), "bad.ipynb")["verdict"] == "fails"
    assert read(tmp_path, cells(), "empty.ipynb")["verdict"] == "runs"
