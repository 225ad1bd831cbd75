"""For which sizes a model holds: the program is probed, what it decides by sizes is told, and numbers are proven.

Held beside genuine PyTorch: its results at many sizes, and its refusal of sizes that a program does not allow.
"""
import random
import time
import warnings

import numpy
import pytest

pytest.importorskip("onnxruntime")
genuine = pytest.importorskip("torch")

from harness import exported  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.onnx.model import SIZES, make_model  # noqa: E402
from dragon.onnx.samples import Sampler  # noqa: E402
from dragon.onnx.size import Size  # noqa: E402
from dragon.onnx.source import Call, Program, Value  # noqa: E402
from dragon.onnx.writer import LARGEST, SMALLEST  # noqa: E402
from dragon.vm import torch  # noqa: E402

AXES = {"x": {0: "batch", 1: "n"}}


def samples(*shape):
    """Return numbers that differ from place to place."""
    return (numpy.arange(numpy.prod(shape), dtype="float32").reshape(shape) * 37 % 101) / 101


def make(function, *shape, axes=None):
    """Return the model of a function of a tensor, exported at a shape."""
    return onnx.export(function, torch.tensor(samples(*shape)), input_names=["x"], dynamic_axes=axes or AXES)


def told(model):
    """Return what a model says of its sizes."""
    return next((item.value for item in model.metadata_props if item.key == SIZES), "")


def holds(model, shape):
    """Return whether a model says that it holds for a shape."""
    for text in filter(None, told(model).split("; ")):
        if text.startswith(("where ", "not for all")):  # of sizes together: it is held to all of them here
            continue
        name, bounds = text.split(": ")
        size = shape[list(AXES["x"].values()).index(name)]
        span, _, rest = bounds.partition(", multiples of ")
        low, _, high = span.replace(" and more", " to ").partition(" to ")
        multiple, _, offset = rest.partition(" and ")
        inside = size >= int(low) and (size <= int(high) if high else " " in span or size == int(low))
        if not inside or rest and size % int(multiple) != int(offset or 0):
            return False
    return True


@pytest.mark.parametrize("function, size", [
    (lambda torch, x: x[:, :50], 8), (lambda torch, x: x[:, :50], 70), (lambda torch, x: x[:, -30:], 8),
    (lambda torch, x: x[:, 3:-2], 9), (lambda torch, x: x[:, :x.shape[1] // 2] + x[:, -(x.shape[1] // 2):], 8),
    (lambda torch, x: x[:, 1::3], 8), (lambda torch, x: x[:, x.shape[1] // 3:], 8),
    (lambda torch, x: torch.nn.functional.pad(x, (0, -x.shape[1] % 7)).reshape(x.shape[0], -1, 7), 8),
    (lambda torch, x: torch.nn.functional.max_pool1d(x[:, None], 3, 2).reshape(x.shape[0], -1), 12),
    (lambda torch, x: torch.nn.functional.max_pool1d(x[:, None], 3, 2, 1).flatten().reshape(-1, x.shape[0]), 12),
    (lambda torch, x: torch.nn.functional.avg_pool1d(x[:, None], 3, 2, 1, True), 12),
    (lambda torch, x: torch.nn.functional.avg_pool1d(x[:, None], 3, 2, 1, True, False), 12),
    (lambda torch, x: torch.nn.functional.max_pool1d(x[:, None], 3, 3, 1, 1, True), 12),
    (lambda torch, x: torch.cat([x, x[:, :10]], 1).sum(1) / x.shape[1], 5),
    (lambda torch, x: x[:, :, None].expand(-1, -1, 3).reshape(x.shape[0], 3 * x.shape[1]), 5),
], ids=["head", "head from beyond", "tail", "inner", "halves", "steps", "last third", "padded", "pooled", "joined",
        "means of whole windows", "means of what is there", "greatest of whole windows", "joined heads", "copied"])
def test_numbers_hold_at_every_size(function, size):
    model = make(lambda x: function(torch, x), 2, size)
    for shape in ((1, 30), (2, 8), (3, 11), (2, 29), (2, 31), (2, 49), (3, 50), (1, 51), (2, 60), (2, 200), (1, 1000)):
        wanted = function(genuine, genuine.from_numpy(samples(*shape)))
        found = exported.run(model, [torch.tensor(samples(*shape))])[0]
        numpy.testing.assert_allclose(found, wanted.numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize("function, size, says", [
    (lambda x: x * 2 if x.shape[1] > 20 else x, 8, "n: 1 to 20"),
    (lambda x: x * 2 if x.shape[1] > 20 else x, 30, "n: 21 and more"),
    (lambda x: x[:, :min(x.shape[1], 50)] + 1, 8, "n: 1 to 50"),
    (lambda x: x if x.shape[1] > 1000 else -x, 8, "n: 1 to 1000"),
    (lambda x: x if x.shape[1] % 8 else -x, 16, "n: 8 and more, multiples of 8"),
    (lambda x: -x if x.shape[1] % 8 == 3 else x, 11, "n: 3 and more, multiples of 8 and 3")])
def test_what_a_decision_leaves_is_told(function, size, says):
    with pytest.warns(UserWarning, match=r"the model holds for n: .*no longer holds at .*test_onnx_bounds.py"):
        model = make(function, 2, size)
    assert told(model) == says


def test_models_for_all_sizes_tell_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not make(lambda x: x.softmax(-1) @ x.T, 2, 8).metadata_props
        assert told(make(lambda x: x.reshape(x.shape[0], -1, 4), 2, 8)) == "n: 4 and more, multiples of 4"


class Decides(torch.nn.Module):
    """Goes another way for sizes from 50 on."""

    def forward(self, x):
        return x * 2 if x.shape[1] >= 50 else x


def test_sizes_that_are_asked_for_are_checked():
    """As genuine PyTorch says in its words: constraints are violated, and where."""
    class Genuine(genuine.nn.Module):
        forward = Decides.forward
    for low, high in ((2, 40), (2, 100), (3, None)):
        theirs, mine = (library.export.Dim("n", min=low, max=high) for library in (genuine, torch))
        arguments = genuine.from_numpy(samples(2, 8)), torch.tensor(samples(2, 8))
        try:
            genuine.export.export(Genuine(), arguments[:1], dynamic_shapes=({1: theirs},), strict=True)
            refused = False
        except Exception as error:
            refused = "onstraint" in str(error)
        if refused:
            with pytest.raises(torch.onnx.OnnxExporterError, match=r"Constraints violated \(n\).*test_onnx_bounds.py"):
                torch.onnx.export(Decides(), arguments[1:], dynamic_shapes=({1: mine},))
        else:
            with pytest.warns(UserWarning, match="n: 1 to 49"):
                torch.onnx.export(Decides(), arguments[1:], dynamic_shapes=({1: mine},))
        assert refused == (high != 40)


@pytest.mark.parametrize("start, stop, step", [(0, 50, 1), (-30, LARGEST, 1), (SMALLEST, -2, 2), (3, -3, 1),
                                               (LARGEST, SMALLEST, -1), (-2, 1, -2), (None, None, 1)])
def test_slices_as_the_program_wrote_them(start, stop, step):
    """Bounds that nobody has clamped are those of ONNX, which counts and clamps as Python does."""
    for op, arguments in (("subview", {"items": [3, 1, 4, start, stop, step]}),
                          ("slice", {"axis": 1, "start": start, "stop": stop, "step": step})):
        x, y = Value("x", "float32", (2, Size((8, 60)))), Value("y", "float32", (2, Size((8, 50))))
        program = Program("slice", [x], [y], [], [Call(op, {"x": x, **arguments}, [y])], symbols={"n": (8, 60)})
        model = make_model(program, ["x"], ["y"])
        for size in (1, 8, 60):
            array = samples(2, size)
            numpy.testing.assert_array_equal(exported.run(model, [torch.tensor(array)])[0], array[:, start:stop:step])


# --- programs that grow by chance

def cut(draw):
    """Return the text of a slice of the second axis."""
    start, stop = draw.choice(["", "1", "-30", "n // 3", "n // 2", "40"]), draw.choice(["", "-1", "50", "n - 1", "33"])
    return f"x[:, {start}:{stop}:{draw.choice([1, 1, 1, 2, 3])}]"


POOLS = "2, 2", "3, 2", "3, 1, 1", "3, 3, 1"
STEPS = [
    cut, lambda draw: f"x[:, :min(n, {draw.choice([3, 20, 45])})]",
    lambda draw: f"x[:, :max(n - {draw.choice([3, 9])}, 1)]",
    lambda draw: f"torch.nn.functional.pad(x, ({draw.choice([0, 1, 2])}, -n % {draw.choice([2, 3, 4, 8])}))",
    lambda draw: "torch.cat([x, x.flip(1)[:, :n // 2]], 1)",
    lambda draw: "x.reshape(x.shape[0] * n).reshape(x.shape[0], -1)",
    lambda draw: f"x.repeat(1, {draw.choice([2, 3])})[:, :2 * n - 1]",
    lambda draw: f"torch.nn.functional.max_pool1d(x[:, None], {draw.choice(POOLS)})[:, 0]",
    lambda draw: "torch.nn.functional.avg_pool1d(x[:, None], 2, 2, 0, True)[:, 0]",
    lambda draw: f"x + torch.arange(n) % {draw.choice([3, 7])}",
    lambda draw: f"(x * 2 if n > {draw.choice([5, 20, 64])} else x - 1)",
    lambda draw: f"(x * 3 if n % {draw.choice([2, 3])} == 0 else x + 1)",
    lambda draw: "x[:, :, None].expand(-1, -1, 2).transpose(1, 2).reshape(x.shape[0], -1)",
    lambda draw: "x / n", lambda draw: "torch.nn.functional.pad(x, (n // 4, 0))",
]


def grow(seed):
    """Return the source of a program over `torch` and x."""
    draw = random.Random(seed)
    lines = [f"    n = x.shape[1]\n    x = {draw.choice(STEPS)(draw)}" for _ in range(draw.randint(1, 4))]
    return "def program(torch, x):\n" + "\n".join(lines) + "\n    return x\n"


def check(seed):
    """Return what differs at a size for which the model says it holds; None, or "refused" by name."""
    source, space = grow(seed), {}
    exec(source, space)
    program, draw = space["program"], random.Random(seed)
    try:
        model = make(lambda x: program(torch, x), draw.choice([2, 3]), draw.choice([6, 8, 9, 12, 30, 64]))
    except onnx.ExportError:
        return "refused"
    except Exception as error:  # programs may be wrong at the size that they are exported at
        return None if type(error).__name__.startswith("Invalid") else f"{type(error).__name__}: {error}\n{source}"
    for size in (2, 3, 5, 7, 8, 13, 24, 33, 50, 65, 128, 1000):
        shape = draw.choice([1, 2, 5]), size
        try:
            wanted = program(genuine, genuine.from_numpy(samples(*shape))).numpy()
        except Exception:
            continue  # the program takes no such size
        if not holds(model, shape):
            continue
        try:
            found = exported.run(model, [torch.tensor(samples(*shape))])[0]
        except Exception as error:
            return f"{shape} {told(model)}: {error}\n{source}"
        if found.shape != wanted.shape or not numpy.allclose(found, wanted, 1e-4, 1e-4):
            return f"{shape} {told(model)}: {found.shape}, expected {wanted.shape}\n{source}"
    return None


@pytest.mark.parametrize("group", [pytest.param(group, marks=[] if group < 1 else [pytest.mark.slow])
                                   for group in range(10)])
def test_programs_hold_where_they_say(group):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [check(seed) for seed in range(group * 25, (group + 1) * 25)]
    assert found.count("refused") < 15
    assert not [text for text in found if text not in (None, "refused")]


def test_a_slow_machine_makes_the_same_model(monkeypatch):
    def export():
        return onnx.export(lambda x, y: x[:, :y.shape[0] // 2] @ y[:x.shape[1] // 3].sum(0, keepdim=True).expand(
            min(x.shape[1], y.shape[0] // 2), -1), (torch.rand(2, 30), torch.rand(80, 3)),
            dynamic_axes={"x": {0: "b", 1: "n"}, "y": {0: "m"}}).SerializeToString()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, ask = export(), Sampler.refusal_of_procedure
        monkeypatch.setattr(Sampler, "refusal_of_procedure", lambda *given: time.sleep(0.005) or ask(*given))
        assert export() == first


def test_parameters_are_not_read_at_each_size(monkeypatch):
    def refuse(tensor):
        raise AssertionError(f"numbers of {tuple(tensor.shape)} are compared")
    monkeypatch.setattr("dragon.onnx.source.array_of", refuse)
    model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 3)).bfloat16().eval()
    made = onnx.export(model, (torch.ones(4, 20).bfloat16(),), dynamic_axes={"input": {0: "batch"}})
    assert len(made.graph.initializer) >= 4
