"""Warnings name the user's line: all of them are told by `dragon.core.warnings`, which finds it."""
import ast

import pytest

from house.imports import list_calls, list_modules, list_nodes

from harness import interpreter


def test_every_warning_is_told_by_one_home():
    astray = []
    for name, path in list_modules().items():
        if name == "dragon.core.warnings":
            continue
        plain = any(isinstance(node, ast.Import) and any(alias.name == "warnings" for alias in node.names)
                    for node in list_nodes(path))
        calls = [node for called, node in list_calls(path) if called in ("warnings.warn", "warnings.warn_explicit")]
        astray += [f"{name}:{call.lineno}" for call in calls if plain or any(
            word.arg in ("stacklevel", "skip_file_prefixes") for word in call.keywords) or len(call.args) > 2]
    assert not astray


LINES = {  # a line of the user's, which deep inside of Dragon leads to a warning
    "torch": """import torch
torch.nn.functional.softmax(torch.ones(2, 2))
torch.nn.Softmax()(torch.ones(2, 2))
torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(3))
torch.nn.MSELoss(size_average=True)
torch.nn.LSTM(2, 2, dropout=0.5)
torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1), 1).step()
torch.utils.checkpoint.checkpoint(lambda x: x, torch.ones(1), use_reentrant=True)
torch.nn.functional.upsample(torch.ones(1, 1, 2, 2), scale_factor=2)
torch.nn.init.kaiming_uniform_(torch.empty(0, 2))
""",
    "keras": """import keras
keras.layers.Dense(3, input_shape=(2,))
""",
}
PROGRAM = """
import sys, warnings
import dragon.vm
dragon.vm.install()
seen = set()
def show(message, category, filename, lineno, *rest):
    print(filename, lineno, category.__name__, str(message)[:60])
warnings.showwarning = show
warnings.simplefilter("always")
with open(sys.argv[1]) as file:
    source = file.read()
exec(compile(source, sys.argv[1], "exec"), {"__name__": "__main__"})
"""


@pytest.mark.parametrize("guest", LINES)
def test_the_line_named_is_the_users(guest, tmp_path):
    path = tmp_path / "users.py"
    body = LINES[guest].splitlines()
    path.write_text(body[0] + "\n" + "\n".join(f"try:\n    {line}\nexcept RuntimeError:\n    pass"
                                               for line in body[1:]) + "\n")
    done = interpreter.run(["-c", PROGRAM, str(path)], tmp_path, preload="import numpy, dragon.vm")
    assert done.returncode == 0, done.stderr
    said = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert {name for name, _, _ in said} == {str(path)}, done.stdout
    # One line in four of what was written is the user's call, the third of each group.
    told = {int(line) for _, line, _ in said}
    assert {3 + 4 * place for place in range(len(body) - 1)} == told, done.stdout
