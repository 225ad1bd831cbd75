"""What the pages of coverage tell to use instead of what is missing: it is there, and does what it is named for."""
import os
import re

import pytest

import dragon
from dragon.vm import keras, tensorflow, torch

# A name of code in a line: dotted, or a module that is one word.
NAME = re.compile(r"\b(?:(?:torch|tf|keras|dragon|model|x)\.[\w.]*\w|timeit|matplotlib)")
PROGRAMS = {
    "a world of one": """
torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
try:
    assert torch.distributed.get_world_size() == 1
finally:
    torch.distributed.destroy_process_group()
""",
    "places": """
x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
assert x.nonzero().tolist() == [[0, 1], [1, 0]] and torch.mm(x, x).tolist() == [[6, 0], [0, 6]]
""",
    "padding": """
rows = torch.nn.utils.rnn.pad_sequence([torch.ones(1), torch.ones(3)], batch_first=True)
assert rows.tolist() == [[1, 0, 0], [1, 1, 1]]
""",
    "files": """
model = torch.nn.Linear(2, 1)
traced = torch.jit.trace(model, torch.ones(1, 2))
torch.jit.save(traced, "traced.pt")
torch.onnx.export(model, (torch.ones(1, 2),), "model.onnx", dynamo=False)
assert os.path.getsize("traced.pt") and os.path.getsize("model.onnx") and "linear" in str(dragon.Graph(traced.graph))
""",
    "16 bits": "assert torch.nn.Linear(2, 1, dtype=torch.float16).to(torch.bfloat16).weight.element_size() == 2",
    "gradients": """
class Twice(dragon.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

x = torch.ones(2, requires_grad=True)
Twice.apply(x).sum().backward()
assert x.grad.tolist() == [2, 2]
with pytest.raises(RuntimeError, match="nowhere.so"):
    dragon.load_library("nowhere.so")
assert torch.func.jvp(torch.square, (torch.tensor(3.0),), (torch.tensor(1.0),))[1] == 6
""",
    "times": """
import timeit
assert torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(2)}).timeit(2).mean > 0
with dragon.profile() as profile:
    torch.ones(2).exp()
assert "exp" in str(profile)
""",
    "Keras": """
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.save("x.keras")
model.export("x.onnx", format="onnx", verbose=False)
assert os.path.getsize("x.keras") and os.path.getsize("x.onnx")
assert tf.distribute.get_strategy().num_replicas_in_sync == 1
tf.data.Dataset.range(3).save("rows")
assert list(tf.data.Dataset.load("rows").as_numpy_iterator()) == [0, 1, 2]
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_advised_runs(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(program, {"dragon": dragon, "keras": keras, "tf": tensorflow, "torch": torch, "os": os, "pytest": pytest})


def test_every_advice_is_run():
    from makers.instead import LINES
    # Advice goes as what it stands in for comes, so a bound for how much there is can only fall.
    told = {name for _, text in LINES for name in NAME.findall(text)}
    assert len(told) > 5 and not [name for name in sorted(told) if name not in "".join(PROGRAMS.values())]


def test_every_advice_is_about_something_missing():
    from makers.doors import GUESTS, MISSING, find, genuine_names, is_stand_in
    from makers.instead import LINES
    lacking = [name for guest in GUESTS for name in genuine_names(guest) if find(name) is MISSING or is_stand_in(name)]
    assert not [start for start, _ in LINES if not any(name.startswith(start) for name in lacking)]
