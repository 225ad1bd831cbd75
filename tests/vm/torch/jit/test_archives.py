"""Archives of scripts, both ways: Dragon saves and PyTorch loads, PyTorch saves and Dragon loads."""
import io
import pickle
import zipfile
from harness.subresults import each
from typing import Dict, List, Optional, Tuple

import numpy
import pytest

import dragon.vm.torch as dt

torch = pytest.importorskip("torch")
NAMES = ["net", "control", "indexing", "recurrent"]
FORMS = ["script", "trace"]


def programs(torch):
    """Return {name: (module, arguments)} of small modules that say what scripts can say."""
    nn, F, Tensor = torch.nn, torch.nn.functional, torch.Tensor

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2))
            self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

        def forward(self, x: Tensor) -> Tensor:
            x = F.adaptive_avg_pool2d(self.layers(x), (1, 1)).flatten(1)
            for number, part in enumerate(self.parts):
                x = part(x) + number
            return F.log_softmax(x, dim=1)

    class Control(nn.Module):
        def __init__(self):
            super().__init__()
            self.names: Dict[str, int] = {"a": 2, "b": 3}
            self.scale = nn.Parameter(torch.ones(2) * 2)

        def forward(self, x: Tensor, n: int, mask: Optional[Tensor] = None) -> Tuple[Tensor, List[int]]:
            seen: List[int] = []
            for i in range(1, n, 2):
                if i == 5:
                    break
                if i == 3:
                    continue
                seen.append(i)
                x = x * self.scale + i
            while bool(x.sum() < 50):
                x = x * 2
                if len(seen) > 100:
                    return x, seen
            if mask is not None and mask.dim() == 2:
                x = x.masked_fill(mask, 0.0)
            for key, value in self.names.items():
                if key == "a" or value > 10:
                    seen.append(value)
            return x, [item * 2 for item in seen]

    class Indexing(nn.Module):
        def forward(self, x: Tensor) -> Dict[str, Tensor]:
            y = x.clone()
            y[0, 1:] = 5.0
            y[..., -1] += 1
            return {"first": y[0], "last": y[:, -1, None], "where": x[x > 0], "shape": torch.tensor(x.shape)}

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
            self.gru = nn.GRU(8, 4)

        def forward(self, x: Tensor):
            y, (h, _) = self.lstm(x)
            z, _ = self.gru(y)
            return z, h

    return {"net": (Net(), (torch.randn(2, 3, 6, 6),)), "control": (Control(), (torch.ones(3, 2), 9)),
            "indexing": (Indexing(), (torch.randn(2, 3),)), "recurrent": (Recurrent(), (torch.randn(2, 5, 3),))}


def leaves(value):
    """Return the leaves of a result as arrays."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [numpy.array(value.detach().numpy() if hasattr(value, "detach") else value)]


def carry(source, target, arguments):
    """Return arguments of one framework as the other's."""
    return tuple(target.tensor(part.numpy()) if isinstance(part, source.Tensor) else part for part in arguments)


def check(found, expected):
    found, expected = leaves(found), leaves(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def written(room, module, arguments, form):
    made = room.jit.script(module) if form == "script" else room.jit.trace(
        module, arguments[:1], check_trace=False, strict=False)
    buffer = io.BytesIO()
    room.jit.save(made, buffer)
    return io.BytesIO(buffer.getvalue())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@each("form", FORMS)
@each("name", NAMES)
@each("direction", ["there", "back"])
def test_both_load_what_the_other_saves(name, form, direction):
    if form == "trace" and name == "control":
        pytest.skip("a trace has no branches")
    here, other = (dt, torch) if direction == "there" else (torch, dt)
    here.manual_seed(0)
    module, arguments = programs(here)[name]
    module.eval()
    loaded = other.jit.load(written(here, module, arguments, form))
    check(loaded(*carry(here, other, arguments)), module(*arguments))
    assert sorted(loaded.state_dict()) == sorted(module.state_dict())
    assert [key for key, _ in loaded.named_parameters()] == [key for key, _ in module.named_parameters()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_loaded_is_trained_on():
    module, arguments = programs(torch)["net"]
    module.train()
    loaded = dt.jit.load(written(torch, module, arguments, "script"))
    before = {key: value.detach().numpy().copy() for key, value in loaded.state_dict().items()}
    optimizer = dt.optim.SGD(loaded.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loaded(*carry(torch, dt, arguments)).sum().backward()
        optimizer.step()
    assert all((before[key] != value.detach().numpy()).any() for key, value in loaded.state_dict().items())
    again = torch.jit.load(written_again(loaded)).eval()
    check(again(*arguments), loaded.eval()(*carry(torch, dt, arguments)))


def written_again(module):
    return io.BytesIO(module.save_to_buffer())


def test_sizes_of_a_trace_stay_open():
    def rows(x):
        n, c = x.shape
        return x.reshape(n * c).view(n, -1).sum(dim=1) + dt.zeros(n)

    traced = dt.jit.trace(rows, dt.ones(2, 3))
    buffer = io.BytesIO()
    dt.jit.save(traced, buffer)
    for room in (dt, torch):
        assert room.jit.load(io.BytesIO(buffer.getvalue()))(room.ones(5, 4)).tolist() == [4] * 5


def test_further_files_and_places():
    module = dt.jit.script(dt.nn.Linear(2, 1))
    buffer = io.BytesIO()
    dt.jit.save(module, buffer, _extra_files={"labels.txt": "cat\ndog", "more": b"\x00"})
    for room in (dt, torch):
        files = {"labels.txt": "", "absent": ""}
        loaded = room.jit.load(io.BytesIO(buffer.getvalue()), map_location="cpu", _extra_files=files)
        assert files["labels.txt"] in (b"cat\ndog", "cat\ndog") and not files["absent"]
        assert loaded.weight.device.type == "cpu"


def test_constants_and_frozen_modules():
    table = dt.tensor([1.0, 2.0])
    module = dt.nn.Sequential(dt.nn.Linear(2, 2), dt.nn.BatchNorm1d(2)).eval()
    frozen = dt.jit.freeze(dt.jit.script(module))
    traced = dt.jit.trace(lambda x: x + table, dt.ones(2))
    x = [[1.0, 2.0]]
    for made, expected in ((frozen, module(dt.tensor(x))), (traced, dt.tensor(x) + table)):
        buffer = io.BytesIO()
        dt.jit.save(made, buffer)
        loaded = torch.jit.load(io.BytesIO(buffer.getvalue()))
        check(loaded(torch.tensor(x)), expected)
        assert not list(loaded.parameters())


def archive(**changes):
    """Return the bytes of an archive with records replaced, or left out where the new content is None."""
    source = zipfile.ZipFile(io.BytesIO(dt.jit.script(dt.nn.Linear(2, 1)).save_to_buffer()))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for info in source.infolist():
            content = source.read(info)
            for ending, other in changes.items():
                if info.filename.endswith(ending.replace("__", "/").replace("_pkl", ".pkl").replace("_py", ".py")):
                    content = other(content) if callable(other) else other
            if content is not None:
                target.writestr(info.filename, content)
    return made.getvalue()


LINEAR = "linear_py"
HOSTILE = {
    "truncated": archive()[:300],
    "no code": archive(**{LINEAR: None}),
    "no syntax": archive(**{LINEAR: b"class Linear(Module:"}),
    "other bytes": archive(**{LINEAR: b"\xff\xfe"}),
    "deep": archive(**{LINEAR: b"x = " + b"(" * 5000}),
    "deep sums": archive(**{LINEAR: lambda code: code.replace(
        b"return ", b"y = " + b"-" * 3000 + b"1\n    return ")}),
    "an import": archive(**{LINEAR: lambda code: code.replace(b"    return", b"    import os\n    return")}),
    "a name of Python's": archive(**{LINEAR: lambda code: code.replace(
        b"    return", b'    z = __import__("os")\n    return')}),
    "an unknown operator": archive(**{LINEAR: lambda code: code.replace(b"torch.linear", b"torch.run_everything")}),
    "an unknown namespace": archive(**{LINEAR: lambda code: code.replace(b"torch.linear", b"ops.mine.everything")}),
    "a class of C++": archive(**{LINEAR: lambda code: code.replace(
        b"training : bool", b"training : __torch__.torch.classes.mine.Thing")}),
    "an unknown constant": archive(**{LINEAR: lambda code: code.replace(b"torch.linear", b"CONSTANTS.c7")}),
    "itself": archive(**{LINEAR: lambda code: code.replace(b"torch.linear(input", b"(self).forward(input")}),
    "another attribute": archive(**{LINEAR: lambda code: code.replace(b"training : bool", b"training : int")}),
    "pickled nonsense": archive(data_pkl=b"\x80\x02}."),
    "a pickled call": archive(data_pkl=b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."),
    "a class that is not there": archive(data_pkl=b"\x80\x02c__torch__.a\nB\n)\x81}b."),
    "a path out": archive(data_pkl=b"\x80\x02c__torch__.../../../etc\nB\n)\x81}b."),
    "constants of another kind": archive(constants_pkl=b"\x80\x02}."),
    "huge tensor": archive(data_pkl=lambda data: data.replace(b"J\x02\x00\x00\x00", b"J\xff\xff\xff\x7f")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_letters(name):
    with pytest.raises(Exception) as caught:
        dt.jit.load(io.BytesIO(HOSTILE[name]))(dt.ones(1, 2))
    assert isinstance(caught.value, (RuntimeError, ValueError, NotImplementedError, pickle.UnpicklingError))
    assert str(caught.value)


def detecting(torch):
    """Return a function that says what detectors say: results with a place to go, tensors that become numbers."""
    def detect(x: torch.Tensor, count: torch.Tensor):
        place = torch.zeros(1)
        norm = torch.nn.functional.normalize(x, out=place)
        total = torch.add(x, 2, alpha=3, out=torch.zeros_like(x))
        whole, part = torch.jit.annotate(int, count), torch.jit.annotate(float, count)
        return norm, place, total, torch.sum(x, [1], out=torch.empty(0)), torch.arange(count) * part, whole
    return detect


def test_results_with_a_place_and_numbers_that_tensors_become():
    arguments = {room: (room.arange(6.0).reshape(2, 3), room.tensor(4)) for room in (torch, dt)}
    expected = detecting(torch)(*arguments[torch])
    for source, target in ((torch, dt), (dt, torch), (dt, dt)):
        found = target.jit.load(written(source, detecting(source), (), "script"))(*arguments[target])
        check(found, expected)


def test_results_that_do_not_fit_their_place_are_refused():
    def wrong(x: dt.Tensor, place: dt.Tensor):
        return dt.sin(x, out=place)
    with pytest.raises(RuntimeError, match="Float|float32"):
        dt.jit.script(wrong)(dt.ones(2), dt.ones(2, dtype=dt.int64))


def test_what_is_not_written_says_so():
    with pytest.raises(NotImplementedError, match="lite_interpreter"):
        dt.jit.script(dt.nn.ReLU())._save_for_lite_interpreter("f")

    class Calls(dt.nn.Module):
        @dt.jit.ignore
        def outside(self, x):
            return x * 2

        def forward(self, x):
            return self.outside(x)
    scripted = dt.jit.script(Calls())
    assert scripted(dt.ones(1)).tolist() == [2]
    with pytest.raises(RuntimeError, match="Could not export Python function call 'outside'"):
        scripted.save(io.BytesIO())
