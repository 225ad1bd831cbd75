"""What the first page shows runs under `dragon run`, and what a table of names names exists."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def run(source, cwd, *words):
    """Run a program in a folder of its own and hold it to success."""
    (cwd / "page.py").write_text(source, encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, *words, "page.py"], cwd=cwd, env=environment, capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0, done.stderr


def first_page_blocks():
    """Return the programs of the first page, by what their tab is called."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    return re.findall(r":::\{tab-item\} (\w+)\n<!-- file: [^\n]*\n```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name, source", first_page_blocks(), ids=lambda value: value.split("\n")[0])
def test_programs_of_the_first_page_run(name, source, tmp_path):
    run(source, tmp_path, "-m", "dragon", "run")


def test_the_first_page_shows_every_face():
    assert [name for name, _ in first_page_blocks()] == ["PyTorch", "Keras", "TensorFlow", "Mixed"]


# What the cells of the tables for those who come from elsewhere take for granted.
GIVEN = """
import dragon, dragon.vm
from dragon.vm import keras, tensorflow as tf, torch, torchvision
x = torch.ones(1, 2)
def f(x):
    return x * 2
step, net, lr, n = f, torch.nn.Linear(2, 2), 0.1, 2
weight, params = net.weight, list(net.parameters())
optimizer = torch.optim.SGD(params, lr)
data, pred, label = [1, 2, 3], torch.zeros(1, 2), torch.tensor([1])
loss = torch.ones(1, requires_grad=True).sum()
"""


def cells_here():
    """Return the pieces of code that stand on our side of the tables, none of what is missing."""
    text = (DOCS / "start/coming_from.md").read_text(encoding="utf-8")
    cells = [line.split("|")[2].partition("**")[0] for line in text.splitlines() if line.startswith("| `")]
    return [code for cell in cells for code in re.findall("`([^`]+)`", cell)]


def test_what_stands_beside_a_foreign_name_runs(tmp_path):
    codes = cells_here()
    assert len(codes) > 60
    run("\n".join([GIVEN, *(code for code in codes if code != "dragon run")]), tmp_path)
