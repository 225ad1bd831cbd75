"""`dragon check` gives an honest verdict: read, with what reading cannot see, and from a bounded run."""
import json
import signal
import subprocess
import sys
import time

import pytest

from dragon.command import check, trial
from dragon.core import config

LOOP = """
import torch
import helper
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
try:
    torch.sofmax
except AttributeError:
    pass
@torch.compile
def step(x):
    loss = net(x).sum()
    if loss.item() > 1e9:
        print("big")
    loss.backward()
for place in range(100000000):
    optimizer.zero_grad()
    step(torch.ones(3, 4))
    optimizer.step()
"""
VERDICTS = {
    "import torch\ntorch.ones(2)\n": ("runs", "everything that it names is there"),
    "import torch\n\ntorch.sofmax(1)\n": ("fails", "program.py:3: `torch.sofmax` is not there; the nearest is "),
    "import torch\ntorch.add(1, 2, alpa=3)\n": ("fails", "`torch.add(alpa=)` is not there; the nearest is alpha"),
    "import torch\n@torch.compile\ndef f(x):\n    return x.sum().item()\n":
        ("runs slower", "program.py:4: .item() looks"),
    "import torch, random\ndef f(x):\n    return x * random.random()\ng = torch.compile(f)\n":
        ("runs slower", "random.random draws outside"),
    "import tensorflow as tf\n@tf.function\ndef f(x):\n    return x.numpy()\n": ("runs slower", "f may run as plain"),
    "a = = 1\n": ("fails", "program.py:1: invalid syntax"),
    "import helper\n": ("fails", "helper.py:2: `torch.no_such` is not there"),
    "from . import helper\n": ("fails", "helper.py:2"),
}
DEVICES = {
    "import torch\nx = torch.ones(2).cuda()\n": ".cuda()",
    "import torch\nx = torch.ones(2, device='cuda:0')\n": "ones('cuda:0')",
    "import torch\nd = torch.device('cuda')\n": "device('cuda')",
    "import torch\nif torch.cuda.is_available():\n    x = torch.ones(2).cuda()\n": None,
    "import torch\nd = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n": None,
    "import torch\ndef f():\n    if not torch.cuda.is_available():\n        return 0\n"
    "    x = torch.device('cuda')\n": None,
    "import torch\nx = torch.ones(2).to('cpu')\ntorch.cuda.is_available()\n": None,
}


def read(folder, text):
    """Return the report on a program and what it imports from beside it."""
    (folder / "program.py").write_text(text)
    (folder / "helper.py").write_text("import torch\ntorch.no_such\n")
    return check.judge_whole(check.check(check.find_files(str(folder / "program.py"))))


@pytest.mark.parametrize("text", VERDICTS)
def test_verdicts(text, tmp_path):
    report = read(tmp_path, text)
    assert (report["verdict"], VERDICTS[text][1] in report["reason"]) == (VERDICTS[text][0], True), report


MAIN = "import torch\nif __name__ == '__main__':\n    torch.no_such(1)\n"


def test_what_an_imported_file_does_as_a_script_is_left_out(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from . import part\n")
    (tmp_path / "pack" / "part.py").write_text(MAIN)
    (tmp_path / "train.py").write_text("import pack\n")
    for target, verdict in (("train.py", "runs"), ("pack", "runs"), ("pack/part.py", "fails"), ("", "fails")):
        targets = [str(tmp_path / target)]
        paths = check.find_files(targets[0])
        assert check.judge_whole(check.check(paths, check.find_imported(targets, paths)))["verdict"] == verdict, target


@pytest.mark.skipif(config.device_count("cuda") > 0, reason="there is a CUDA device")
@pytest.mark.parametrize("text", DEVICES)
def test_devices(text, tmp_path):
    report = read(tmp_path, text)
    found = [entry["name"] for entry in report["devices"] if not entry["guarded"]]
    assert found == ([DEVICES[text]] if DEVICES[text] else []) and (report["verdict"] == "fails") == bool(found)


@pytest.mark.parametrize("text, said", [
    ("import torch\nwords = open('x').read().split()\nplace = words.index('a')\n", "everything that it names is there"),
    ("import torch\nx = torch.ones(3)\nx.node\n", "there, unless what has `.node` at "),
    ("import torch\ndef f(x):\n    return x.some_day()\n", "there, unless what has `.some_day` at "),
])
def test_methods_of_what_may_be_a_tensor_decide_nothing(tmp_path, monkeypatch, text, said):
    monkeypatch.setattr(check.coverage, "tensor_names", lambda: {"index", "some_day"})
    report = read(tmp_path, text)
    assert report["verdict"] == "runs" and said in report["reason"]


def test_a_file_that_cannot_be_read_decides(tmp_path):
    (tmp_path / "graph.py").write_text("import torch\n@torch.compile\ndef f(x):\n    return x.sum().item()\n")
    (tmp_path / "torn.py").write_text("import torch\n\nx = (\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "bad.py").write_text("a = = 1\n")
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "env" / "bad.py").write_text("a = = 1\n")
    report = check.judge_whole(check.check(check.find_files(str(tmp_path))))
    assert report["files"] == 2 and report["verdict"] == "fails"
    assert report["reason"].endswith("torn.py:3: '(' was never closed")
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0")
    assert "null bytes" in check.check([str(tmp_path / "binary.py")])["unreadable"][0]


def test_a_script_that_is_not_there_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "__init__.py").write_text("raise SystemExit('this was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(check.Mistake, match="got 'absent.py', expected a script, a folder or a package"):
        check.find_files("absent.py")


def test_what_reading_cannot_see(tmp_path):
    report = read(tmp_path, "import torch, timm\nname = input()\nf = getattr(torch, name)\nexec(name)\n"
                            "import importlib\nimportlib.import_module(name)\n")
    reasons = [entry["reason"] for entry in report["unseen"]]
    assert len(reasons) == 4 and any("timm uses a framework" in reason for reason in reasons)
    assert "not seen: " in check.as_text(report) and report["version"] == 2


def test_packages_of_a_program_are_read(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("from .net import Net\n")
    (tmp_path / "parts" / "net.py").write_text("import torch\nclass Net(torch.nn.Modul):\n    pass\n")
    report = read(tmp_path, "from parts import Net\n")
    assert report["files"] == 3 and "net.py:2: `torch.nn.Modul`" in report["reason"]


def test_a_run_of_some_steps(execute, tmp_path):
    (tmp_path / "program.py").write_text(LOOP)
    (tmp_path / "helper.py").write_text("")
    told = json.loads(execute("check", "--json", "--run", "--steps", "12", "program.py", "--epochs", "3").stdout)
    assert told["verdict"] == "runs slower" and "runs as plain Python, not as a graph" in told["reason"]
    run = told["run"]
    assert run["steps"] == 12 and run["ended"] == "after 12 steps" and run["error"] is None
    assert [entry["name"] for entry in run["absent"]] == ["torch.sofmax"] and run["absent"][0]["line"] == 7
    assert run["absent"][0]["nearest"] == "torch.softmax"
    assert {entry["line"] for entry in run["warnings"]} == {18} and run["peak memory"] > 1 << 20


@pytest.mark.long("a program runs in a process of its own until its seconds are over")
def test_a_run_of_some_seconds(execute, tmp_path):
    (tmp_path / "program.py").write_text("import torch\nwhile True:\n"
                                         "    x = torch.ones(300, 300) @ torch.ones(300, 300)\n")
    said = execute("check", "--run", "--timeout", "5", "program.py").stdout
    assert "verdict: runs: no error and no fall-back, as far as it was run (after 5 seconds)" in said
    assert "at program.py:3: x = torch.ones" in said


@pytest.mark.parametrize("text, reason", [
    ("import torch\ntorch.ones(2) @ torch.ones(3)\n", "program.py:2: "),
    ("import torch\ngetattr(torch, 'sof' + 'max_')(1)\n", "program.py:2: AttributeError: "),
    ("import torch, sys\nsys.exit(4)\n", "it ended with status 4"),
    ("import torch, os\nos._exit(5)\n", "status 5"),
])
def test_a_run_that_fails(execute, tmp_path, text, reason):
    (tmp_path / "program.py").write_text(text)
    told = json.loads(execute("check", "--json", "--run", "program.py", status=1).stdout)
    assert told["verdict"] == "fails" and reason in told["reason"], told


def test_a_run_needs_a_script(execute, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "expected a script" in execute("check", "--run", "folder", status=2).stderr


def test_run_stands_before_the_script(execute, tmp_path):
    (tmp_path / "program.py").write_text("import torch\n")
    said = execute("check", "program.py", "--run", status=2).stderr
    assert "got --run behind program.py, expected it before" in said


def test_what_a_program_says_as_it_leaves_is_told(execute, tmp_path):
    (tmp_path / "program.py").write_text("import argparse, torch\nargparse.ArgumentParser().parse_args()\n")
    told = json.loads(execute("check", "--json", "--run", "program.py", "--sise", "3", status=1).stdout)
    assert "it ended with status 2: " in told["reason"] and "unrecognized arguments: --sise 3" in told["reason"]


def test_who_interrupts_does_not_wait(tmp_path):
    (tmp_path / "program.py").write_text("import signal, time\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
                                         "print('ready', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], stdout=subprocess.PIPE,
                               cwd=tmp_path, start_new_session=True)
    process.stdout.readline()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        trial.wait(Interrupted(process), 60)
    assert process.returncode == -signal.SIGKILL and time.monotonic() - before < 50
    process.stdout.close()


class Interrupted:
    """A process; the first wait for it is interrupted."""

    def __init__(self, process):
        self.process, self.pid, self.waits = process, process.pid, 0

    def wait(self, *timeout):
        self.waits += 1
        if self.waits == 1:
            raise KeyboardInterrupt
        return self.process.wait(*timeout)
