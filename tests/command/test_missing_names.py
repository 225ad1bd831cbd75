"""The tool that counts what other people's programs lack counts files and folders, and leaves out what is no gap."""
import json
import subprocess
import sys

import pytest

from harness.tools import ROOT, load

tool = load("tools/missing_names.py")
# Programs of two folders.
FILES = {
    "one/a.py": "import torch\ntorch.no_such(1)\ntorch.no_such(2)\ntorch.distributed.rpc.init_rpc(1)\n",
    "one/b.py": "import torch\ntorch.no_such(1)\ntry:\n    torch.no_guard\nexcept AttributeError:\n    pass\n",
    "one/test_b.py": "import torch\ntorch.no_test(1)\n",
    "one/tests/c.py": "import torch\ntorch.no_test(1)\n",
    "one/torn.py": "a = = 1\n",
    "two/d.py": "import tensorflow.compat.v2 as tf\nimport torch\ntorch.no_such(1)\ntf.no_such(1)\ntorch._no_such(1)\n",
    "two/e.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "import keras\nkeras.no_module.name()"}]}),
}


@pytest.fixture
def folders(tmp_path):
    """The two folders."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [tmp_path / "one", tmp_path / "two"]


def test_files_and_folders_are_counted(folders):
    counts, files, uses = tool.count(folders)
    assert files == 4 and uses > 10
    assert {name: tuple(entry) for name, entry in counts.items()} == {
        "torch.no_such": (3, 2, False), "torch.distributed.rpc.init_rpc": (1, 1, True),
        "tensorflow.no_such": (1, 1, False),
        "torch._no_such": (1, 1, False), "keras.no_module": (1, 1, False)}
    assert [name for name, _ in tool.order(counts, "torch")] == [
        "torch.no_such", "torch.distributed.rpc.init_rpc"]


def test_what_the_genuine_framework_lacks_is_left_out(folders, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho noise; echo 'answer {\"torch.no_such\": false, \"keras.no_module\": null}'\n")
    python.chmod(0o755)
    counts, *_ = tool.count(folders, [python])
    assert "torch.no_such" not in counts and "keras.no_module" in counts


def test_the_genuine_framework_is_asked(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("def add(x, out=None): pass\ndef free(**words): pass\nvalue = 3\n")
    (tmp_path / "torch" / "nn.py").write_text("")
    names = ["torch.add", "torch.add(out=)", "torch.add(bogus=)", "torch.free(any=)", "torch.nn", "torch.gone",
             "torch.value.real", "absent_framework.name"]
    done = subprocess.run([sys.executable, "-c", tool.QUESTION], input=json.dumps(names), capture_output=True,
                          cwd=tmp_path, text=True, env={"PYTHONPATH": str(tmp_path)})
    assert list(json.loads(done.stdout.removeprefix("answer ")).values()) == [
        True, True, False, True, True, False, True, None]
    with pytest.raises(SystemExit, match="expected a Python that answers"):
        tool.ask_genuine(["/bin/false"], names)


def test_the_page(folders):
    page = tool.write_page(tool.count(folders)[0], 2, 4, 20, 1)
    assert "read 4 Python files and notebooks of 2 public repositories: 20 uses" in page
    assert "## PyTorch\n\n2 names, of which 1 are shown.\n\n| name |" in page
    assert "| `torch.no_such` | 3 | 2 | missing |" in page and "_no_such" not in page
    assert "## torchvision\n\nNone.\n" in page


def test_parents_are_only_the_way():
    assert tool.drop_parents({"a.b", "a.b.c", "a.bc"}) == {"a.b.c", "a.bc"}


PAGE = """# Names

## PyTorch

70 names, of which 4 are shown.

| name | files | repositories | |
|---|---|---|---|
| `torch.no_such` | 8 | 2 | raises |
| `torch.add` | 7 | 2 | missing |
| `torch.nn.Linear(bias=)` | 7 | 2 | missing |
| `torch.nn.Linear(bogus=)` | 6 | 2 | missing |

## Keras

None.
"""


def test_names_that_are_there_by_now_are_struck_out():
    again = tool.ask_again(PAGE)
    assert "70 names, of which 4 are shown, without 2 that are there by now." in again
    assert tool.ROW.findall(again) == [("| `torch.no_such` | 8 | 2 |", "torch.no_such"),
                                       ("| `torch.nn.Linear(bogus=)` | 6 | 2 |", "torch.nn.Linear(bogus=)")]
    assert "`torch.no_such` | 8 | 2 | missing |" in again and tool.ask_again(again) == again
    later = again.replace("torch.no_such", "torch.sub")
    assert "4 are shown, without 3 that are there by now." in tool.ask_again(later)


def test_the_pages_names_are_missing_still():
    page = (ROOT / "docs/coverage/programs.md").read_text(encoding="utf-8")
    assert page == tool.ask_again(page), "python tools/missing_names.py --again --page docs/coverage/programs.md"
