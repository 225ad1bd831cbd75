"""`dragon verify` finds the line and the tensor where a broken Dragon parts, and nothing where it does not."""
import json
import os
import sys
import time
import types

import pytest

import dragon
from dragon.command import answer, compare, outcome, verify
from dragon.command.tracing import source

pytest.importorskip("torch")

PROGRAM = """
import time
import torch
import breaker
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h)

started = time.time()
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(32, 8)
y = torch.randint(3, (32,))
for step in range(10):
    optimizer.zero_grad()
    out = net(x)
    loss = nn.functional.cross_entropy(
        out,
        y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
print("took", time.time() - started)
"""
# As many lines without an optimizer: where the sides part before it, PyTorch need not import what optimizers need.
PLAIN = PROGRAM.replace("optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)", "rate = 1e-2").replace(
    "    optimizer.zero_grad()", "    net.zero_grad").replace("    optimizer.step()", "    rate = rate / 2")
# What breaks Dragon alone: it lies outside of the program's folder, so that nobody looks at its lines.
BREAKER = """
import torch
if "dragon" in torch.__file__:
{}
"""
BREAKS = {
    "nothing": ("    pass", None, 0, ""),
    "relu": ("    plain = torch.relu\n    torch.relu = lambda x: plain(x) * 1.001", "h", 14, "`x` ("),
    "shape": ("    plain = torch.relu\n    torch.relu = lambda x: plain(x)[:5]", "h", 14, "shape: float32[32, 16]"),
    "dtype": ("    plain = torch.relu\n    torch.relu = lambda x: plain(x).double()", "h", 14, "float64[32, 16]"),
    "loss": ("    plain = torch.nn.functional.cross_entropy\n"
             "    torch.nn.functional.cross_entropy = lambda *a: plain(*a) + 1e-3", "loss", 25,
             "first computed from `out` ("),
    "optimizer": ("    plain = torch.optim.Adam.step\n"
                  "    def step(self):\n        plain(self)\n        with torch.no_grad():\n"
                  "            self.param_groups[0]['params'][1][3] += 1e-2\n"
                  "    torch.optim.Adam.step = step", "net.first.bias", 29, "at [3]"),
    "absent": ("    del torch.relu", None, 14, "the dragon side raises"),
    "raises": ("    def bad(x):\n        raise ValueError('no such luck')\n    torch.relu = bad", None, 14,
               "no such luck"),
}


@pytest.fixture
def program(tmp_path):
    """Return a function that writes the program and what breaks Dragon."""
    def write(breaks, text=PROGRAM):
        (tmp_path / "breaks").mkdir()
        (tmp_path / "breaks" / "breaker.py").write_text(BREAKER.format(breaks))
        (tmp_path / "program").mkdir()
        (tmp_path / "program" / "train.py").write_text(text)
        return tmp_path / "program", [tmp_path / "breaks"]
    return write


@pytest.mark.long("PyTorch and Dragon start in processes of their own, which import them")
@pytest.mark.parametrize("name", [name if name in ("nothing", "loss") else pytest.param(name, marks=pytest.mark.slow)
                                  for name in BREAKS])
def test_a_broken_dragon_is_found(execute, program, name):
    breaks, tensor, line, said = BREAKS[name]
    folder, path = program(breaks, PROGRAM if name in ("nothing", "loss", "optimizer") else PLAIN)
    done = execute("verify", "train.py", cwd=folder, path=path, status=1 if line else 0)
    if not line:
        assert done.stdout.startswith("equal on ") and "printed: " in done.stdout
        assert "note: the program sets no seed: both sides started from 0" in done.stdout
    else:
        assert done.stdout.startswith(f"part at train.py:{line}, {f'`{tensor}`' if tensor else ''}"), done.stdout
        assert said in done.stdout
    assert "genuine " in done.stdout and "peak" in done.stdout and not done.stderr


@pytest.mark.slow
@pytest.mark.long("PyTorch and Dragon start in processes of their own, which import them")
def test_json(execute, program):
    folder, path = program(BREAKS["loss"][0], PLAIN)
    told = json.loads(execute("verify", "--json", "train.py", cwd=folder, path=path, status=1).stdout)
    assert told["verdict"] == "parts" and told["part"]["name"] == "loss" and told["part"]["line"] == 25
    assert told["part"]["difference"] == pytest.approx(1e-3, rel=0.1) and told["sides"]["genuine"]["seconds"] > 0


@pytest.mark.slow
def test_lines(execute, program):
    folder, path = program(BREAKS["loss"][0], PLAIN)
    told = json.loads(execute("verify", "--json", "--lines", "12", "train.py", cwd=folder, path=path).stdout)
    assert told["verdict"] == "equal" and "both were ended after 12 lines, as asked" in told["notes"]


@pytest.mark.slow
def test_tolerances_of_the_command_line(execute, program):
    folder, path = program(BREAKS["loss"][0], PLAIN)
    assert execute("verify", "--atol", "0.1", "--rtol", "0.1", "--lines", "40", "train.py", cwd=folder, path=path)


OTHER = {
    "flow": ("import torch, breaker\nx = torch.ones(2)\nif breaker.torch.__file__.count('dragon'):\n    y = x\n"
             "else:\n    y = x + 1\n", "part at train.py:3, after which they go other ways:"),
    "printed": ("import torch, breaker\nprint('hello')\nprint(len(torch.__file__.replace('dragon', '')) > 0, "
                "'dragon' in torch.__file__)\n", "printed line 2:"),
    "status": ("import torch, sys\nsys.exit(3 if 'dragon' in torch.__file__ else 0)\n",
               "part at train.py:2, after which they go other ways|"
               "part: the genuine side ends with status 0, the dragon side with 3|the dragon side raises"),
    "both raise": ("import torch\ntorch.ones(2) @ torch.ones(3)\n", "equal on 3 lines"),
    "caught": ("import torch\ntry:\n    torch.ones(2) @ torch.ones(3)\nexcept RuntimeError:\n    x = torch.ones(3)\n",
               "equal on "),
    "generators": ("import torch\n\ndef batches():\n    for place in range(5):\n        x = torch.randn(3)\n"
                   "        yield x\n\nfor batch in batches():\n    total = batch.sum()\n", "equal on "),
    "in place": ("import torch\nx = torch.zeros(1000)\nfor place in range(300):\n    x[place] += place\n"
                 "    x.mul_(0.9)\n", "equal on "),
    "loader": ("import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
               "data = TensorDataset(torch.arange(20.).view(10, 2), torch.arange(10))\n"
               "for x, y in DataLoader(data, batch_size=4, shuffle=True):\n    z = x.sum() + y.sum()\n", "equal on "),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_other_ways_to_part_and_to_agree(execute, program, name):
    text, said = OTHER[name]
    folder, path = program("    pass", text)
    equal = said.startswith("equal")
    found = execute("verify", "train.py", cwd=folder, path=path, status=0 if equal else 1).stdout
    assert any(words in found for words in said.split("|")), found


@pytest.mark.slow
def test_endless_programs_are_ended(execute, program):
    folder, path = program("    pass", "import torch\nx = torch.zeros(2)\nwhile True:\n    x += 1\n")
    assert "equal on " in execute("verify", "--lines", "500", "train.py", cwd=folder, path=path).stdout


@pytest.mark.slow
def test_without_time_nothing_is_known(execute, tmp_path):
    (tmp_path / "sleeps.py").write_text("import torch\n")
    told = json.loads(execute("verify", "--json", "--timeout", "1", "sleeps.py", status=1,
                              path=[write_slow_start(tmp_path)]).stdout)
    assert told["verdict"] == "unknown" and told["lines"] == 0


def write_slow_start(folder):
    """Return a folder that makes both Pythons slow to start."""
    (folder / "slow").mkdir()
    (folder / "slow" / "sitecustomize.py").write_text("import sys, time\n"
                                                      "if '-c' in sys.orig_argv and 'runpy' in str(sys.orig_argv):\n"
                                                      "    time.sleep(3)\n")
    return folder / "slow"


@pytest.mark.slow
def test_what_had_run_when_the_time_was_over_is_compared(monkeypatch, tmp_path, capsys):
    """Time is over as soon as a program says that it has come so far, whatever else this machine does."""
    (tmp_path / "hangs.py").write_text("import time\nimport torch\nx = torch.ones(3)\ny = x + 1\n"
                                       "open('reached', 'a').write('x')\ntime.sleep(600)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(verify.VARIABLE, raising=False)
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(os.path.dirname(dragon.__file__)))
    clock = types.SimpleNamespace(sleep=time.sleep, monotonic=lambda: 100.0 * sum(
        path.stat().st_size for path in tmp_path.glob("reached")))
    monkeypatch.setattr(verify, "time", clock)
    status = answer(["verify", "--json", "--timeout", "30", "hangs.py"])
    told = json.loads(capsys.readouterr().out)
    assert status == 0 and told["verdict"] == "equal" and told["tensors"] == 2
    assert all(told["sides"][name]["cut"] for name in ("genuine", "dragon"))


def test_colours_of_a_message_are_left_out():
    side = {"seconds": 1.0, "peak memory": None, "error": {"type": "E", "message": "\x1b[1mso\x1b[0m it is\nmore"}}
    assert outcome.tell_side("genuine", side) == "genuine  no figures; ended by E: so it is more"


@pytest.mark.slow
def test_files_of_the_first_run_are_named_where_the_second_parts(execute, tmp_path):
    (tmp_path / "twice.py").write_text("import os\nimport torch\n"
                                       "start = float(os.path.exists('saved'))\n"
                                       "x = torch.full((3,), start)\nopen('saved', 'w').close()\n")
    found = execute("verify", "--rtol", "0", "twice.py", status=1).stdout
    assert found.startswith("part at twice.py:3, `start`") and "the genuine run wrote saved here" in found


@pytest.mark.slow
def test_interrupted(interrupt, tmp_path):
    (tmp_path / "loop.py").write_text("import torch\nopen('there', 'w').close()\nwhile True:\n    pass\n")
    status, _, err = interrupt("verify", "loop.py", when="there")
    assert err == "dragon: interrupted\n" and status == 130


@pytest.mark.parametrize("words, said", [
    (["train.py"], "expected a program that imports one of torch"),
    (["broken.py"], "expected a Python program"),
    (["--python", "nowhere", "torch_.py"], "expected a Python that starts"),
    (["--seed", "x", "torch_.py"], "expected a whole number from 0"),
])
def test_mistakes(execute, tmp_path, words, said):
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "broken.py").write_text("a = = 1\n")
    (tmp_path / "torch_.py").write_text("import torch\n")
    assert said in execute("verify", *words, status=2).stderr


def test_without_the_genuine_framework(monkeypatch):
    with pytest.raises(verify.Mistake, match="got no genuine torch_absent in .*pip install torch_absent; or name"):
        verify.check_genuine(sys.executable, ["torch_absent"])


@pytest.mark.parametrize("first, second, equal", [
    ("loss 0.1234", "loss 0.1235", True), ("loss 0.12", "loss 0.15", False), ("step 3", "step 4", False),
    ("a 1", "b 1", False), ("nan", "nan", True), ("1.0e-3", "1.0000001e-3", True), ("inf", "1.0", False),
])
def test_printed_lines(first, second, equal):
    assert ("differ" not in outcome.compare_printed([first, second], None)) == equal


def test_times_that_are_printed_are_let_be():
    assert "differ" not in outcome.compare_printed(["epoch 1: 0.52 s", "epoch 1: 9.71 s"], None)
    assert "differ" in outcome.compare_printed(["a\nb", "a"], None)


def test_what_the_clock_says_is_not_compared():
    text = source.Source("x.py", "import time\nt0 = time.time()\ndef f():\n    took = time.time() - t0\n"
                                 "    rate = 3 / took\n    times.append(took)\n    loss = g(3)\n")
    assert text.fleeting == {"t0", "took", "rate", "times"} and not text.sets_seed
    assert source.Source("x.py", "torch.manual_seed(0)").sets_seed


def test_statements_of_several_lines():
    text = source.Source("x.py", "a = f(\n    b,\n    c.d)\nif a:\n    e = a.f\n")
    assert [text.first_line(line) for line in (1, 2, 3, 4, 5)] == [1, 1, 1, 4, 5]
    assert text.read_names(2) == ["f", "b", "c.d", "c"] and text.read_names(4) == ["a"]


def test_tolerances():
    assert compare.tolerances()("float32") == (1.3e-4, 1e-5) and compare.tolerances(0.1)("float64") == (0.1, 1e-7)
    assert compare.tolerances(0.1, 0.2)("int64") == (0.1, 0.2) and compare.tolerances()("int64") == (0.0, 0.0)
