"""Classes as scripts, beside PyTorch: dataclasses, classes that name themselves, instances as attributes; slices."""
import io

import pytest

PROGRAM = """
from dataclasses import InitVar, dataclass, field
from typing import Any, Dict, List, Optional, Tuple, Union
import NAME as torch
from NAME import Tensor, nn

@torch.jit.script
@dataclass(order=True)
class Point:
    x: float
    y: float = 2.0
    power: InitVar[int] = 2
    norm: Optional[Tensor] = None
    def __post_init__(self, power: int):
        self.norm = torch.tensor(self.x ** power + self.y ** power)

@torch.jit.script
@dataclass
class Named:
    name: str
    size: int
    def __eq__(self, other: "Named") -> bool:
        return self.name == other.name

@torch.jit.script
class Stack:
    def __init__(self, items: List[int]):
        self.items = items
    def grown(self, item: int) -> "Stack":
        return Stack(self.items + [item])
    def __delitem__(self, place: int):
        self.items.pop(place)
    def __lt__(self, other: "Stack") -> bool:
        return len(self.items) < len(other.items)

class Plain:
    def __init__(self, a: int):
        self.a = a
    def doubled(self) -> int:
        return self.a * 2

class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = Plain(4)
    def forward(self, x: Tensor):
        self.plain.a += 1
        return x * self.plain.doubled()

@torch.jit.interface
class OneTwo:
    def one(self, x: Tensor) -> Tensor:
        pass

@torch.jit.script
class Same:
    def __init__(self):
        pass
    def one(self, x: Tensor) -> Tensor:
        return x

@torch.jit.script
class More:
    def __init__(self):
        pass
    def one(self, x: Tensor) -> Tensor:
        return x + 1

@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass

class Twice(nn.Module):
    def forward(self, x: Tensor):
        return x * 2

class Thrice(nn.Module):
    def forward(self, x: Tensor):
        return x * 3

class Whole(nn.Module):
    def forward(self, x: int):
        return x

class Swapped(nn.Module):
    layer: Layer
    def __init__(self):
        super().__init__()
        self.layer, self.fixed = Twice(), Twice()
    def forward(self, x: Tensor):
        return self.layer.forward(x) + self.fixed(x)

class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0
        self.linear = nn.Linear(1, 1)
    def forward(self, x: Tensor):
        return self.linear(x)
    @torch.jit.ignore
    def state_dict(self, *args, **kwargs):
        return {"own": torch.ones(1)}
    @torch.jit.export
    def _save_to_state_dict(self, destination: Dict[str, Tensor], prefix: str, keep_vars: bool):
        self.seen += 1

class Instead(nn.Module):
    def __prepare_scriptable__(self):
        return Twice()
    def forward(self, *x):
        return x

class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Instead()
    def forward(self, x: Tensor):
        return self.part(x)

@torch.jit.script
class Made:
    def __init__(self, size: int):
        self.size = size
    @classmethod
    def larger(cls, size: int, by: int = 1) -> "Made":
        return cls(size + by)
    def twice(self) -> "Made":
        return self.larger(self.size, by=self.size)

def made(n: int):
    one = Made(n)
    return one.larger(n).size, one.larger(n, 5).twice().size

def anything(n: int) -> Any:
    if n > 2:
        return torch.ones(n)
    elif n == 2:
        return 7
    return "none"

def unwrapped(n: Optional[int] = None) -> int:
    return torch.jit._unwrap_optional(n) + 1

def kinds(a: int, b: List[int], c: Dict[str, Tensor], d: Optional[float], e: Tuple[int, str], f: Any,
          g: Union[int, str], h: torch.device, i: List[Optional[Tensor]], j: complex, k: Tensor):
    return b

@torch.jit.ignore
def wrong(x: Tensor) -> Tuple[int, int]:
    return 3

def calls_wrong(x: Tensor):
    return wrong(x)

def points(a: float, b: float):
    one, other = Point(a), Point(b, 1.5, 3)
    first, second = one.norm, other.norm
    assert first is not None and second is not None
    return (one == other, one < other, one <= other, one > other, one >= other, float(first), float(second),
            Point(a, a) == Point(a, a))

def names(n: int):
    return Named("a", n) == Named("a", n + 1), Named("a", n) == Named("b", n)

def stacks(n: int):
    stack = Stack([1, 2])
    for i in range(n):
        stack = stack.grown(i)
    del stack[0]
    return stack.items, stack < Stack([5])

def interfaces(n: int):
    row: List[OneTwo] = [Same(), More()]
    x = torch.ones(1) * n
    for each in row:
        x = each.one(x)
    return float(x)

class Fitted(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(1)

    def fit(self, x: Tensor) -> "Fitted":
        self.mean = x.mean(0, keepdim=True)
        return self

    def forward(self, x: Tensor):
        return x - self.fit(x).mean

def slices(n: int):
    row, text = [1, 2, 3, 4, 5, 6], "abcdef"
    part = slice(1, n)
    all_ = slice(None, None, 2)
    last = slice(3)
    x = torch.arange(12).reshape(3, 4)
    y = x.clone()
    y[part] = 7
    pair = (1, "b", 2.0)
    return row[part], row[all_], row[last], row[slice(n, None)], text[part], x[all_, slice(1, 3)], x[..., part], y, \\
        pair[slice(1, 3)]
"""
CALLS = {"made": [(3,), (4,)], "anything": [(1,), (2,), (3,)], "unwrapped": [(2,)],
         "points": [(1.0, 2.0), (2.0, 1.0), (2.0, 2.0)], "names": [(1,)], "stacks": [(0,), (3,)],
         "interfaces": [(2,)], "slices": [(1,), (3,)]}


@pytest.fixture(scope="module")
def programs(both_rooms):
    """Return {"here" or "there": the program as a module}."""
    return both_rooms("classes", PROGRAM)


def plain(found):
    """Return a result without tensors."""
    if isinstance(found, (tuple, list)):
        return [plain(part) for part in found]
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_classes(programs, name):
    for args in CALLS[name]:
        expected = plain(programs["there"].torch.jit.script(getattr(programs["there"], name))(*args))
        torch = programs["here"].torch
        scripted = torch.jit.script(getattr(programs["here"], name))
        buffer = io.BytesIO(scripted.save_to_buffer())
        assert plain(scripted(*args)) == plain(torch.jit.load(buffer)(*args)) == expected


@pytest.mark.parametrize("name", CALLS)
def test_pytorch_loads_them(programs, name):
    scripted = programs["here"].torch.jit.script(getattr(programs["here"], name))
    torch = programs["there"].torch
    again = torch.jit.load(io.BytesIO(scripted.save_to_buffer()))
    for args in CALLS[name]:
        assert plain(again(*args)) == plain(scripted(*args))


def test_a_module_holds_an_instance(programs):
    found = {}
    for side, room in programs.items():
        scripted, x = room.torch.jit.script(room.Holder()), room.torch.ones(1)
        found[side] = [scripted(x).item(), scripted(x).item()]
    assert found["here"] == found["there"] == [10, 12]


def test_factories_of_defaults_are_refused(programs):
    for room in programs.values():
        class Rows:
            x: list = room.field(default_factory=list)
        with pytest.raises(NotImplementedError, match="Default factory"):
            room.torch.jit.script(room.dataclass(Rows))


def test_parts_are_exchanged_for_what_fits_alone(programs):
    for room in programs.values():
        jit, x = room.torch.jit, room.torch.ones(1)
        scripted = jit.script(room.Swapped())
        scripted.layer = jit.script(room.Thrice())
        assert scripted(x).item() == 5
        scripted.fixed = jit.script(room.Twice())
        for name, part, words in (("layer", jit.script(room.Whole()), "is not compatible with interface"),
                                  ("fixed", jit.script(room.Thrice()), "Expected a value of type .*Twice.* for field"),
                                  ("layer", room.Twice(), "non-scripted module")):
            with pytest.raises(RuntimeError, match=words):
                setattr(scripted, name, part)
        assert scripted(x).item() == 5


def test_interfaces_inherit_nothing(programs):
    for room in programs.values():
        with pytest.raises(RuntimeError, match="does not support inheritance yet"):
            room.torch.jit.interface(type("Inner", (room.Layer,), {}))


def test_a_class_has_its_own_of_a_modules_methods(programs):
    for room in programs.values():
        scripted = room.torch.jit.script(room.Kept())
        assert list(scripted.state_dict()) == ["own"] and scripted.seen == 0
        scripted._save_to_state_dict({}, "", False)
        assert scripted.seen == 1


def test_modules_say_what_is_scripted_in_their_place(programs):
    for room in programs.values():
        around, x = room.Around(), room.torch.ones(1)
        assert room.torch.jit.script(around)(x).item() == room.torch.jit.script(room.Instead())(x).item() == 2


def test_classes_may_be_ignored(programs):
    for room in programs.values():
        class Left:
            pass
        assert room.torch.jit.ignore(Left) is Left


def told(kind):
    """Return what a type says of itself and of its parts."""
    parts = [(name, repr(getattr(kind, name)())) for name in ("getElementType", "getKeyType", "getValueType")
             if hasattr(kind, name)]
    return repr(kind), kind.annotation_str, kind.kind(), repr(kind.containedTypes()), parts


def test_types_tell_themselves(programs):
    found = {side: room.torch.jit.script(room.kinds).schema.arguments for side, room in programs.items()}
    for mine, theirs in zip(found["here"], found["there"], strict=True):
        assert told(mine.type) == told(theirs.type)
    number, row = (found["here"][place].type for place in (0, 1))
    anything = found["here"][5].type
    assert row.isSubtypeOf(anything) and not anything.isSubtypeOf(row) and number.isSubtypeOf(number)


def test_modules_of_one_structure_share_a_type(programs):
    for room in programs.values():
        one, other = room.torch.jit.script(room.Twice()), room.torch.jit.script(room.Twice())
        assert one._c._type() == other._c._type() != room.torch.jit.script(room.Thrice())._c._type()


def test_functions_left_to_python_are_held_to_their_annotation(programs):
    with pytest.raises(RuntimeError, match=r"wrong: got a result of type 'int', expected 'Tuple\[int, int\]'"):
        programs["here"].torch.jit.script(programs["here"].calls_wrong)(programs["here"].torch.ones(1))
    with pytest.raises(RuntimeError):
        programs["there"].torch.jit.script(programs["there"].calls_wrong)(programs["there"].torch.ones(1))


def test_a_module_s_methods_may_return_it(programs):
    for room in programs.values():
        scripted = room.torch.jit.script(room.Fitted())
        assert scripted(room.torch.tensor([1., 3.])).tolist() == [-1, 1] and scripted.mean.tolist() == [2]
    with pytest.raises(RuntimeError, match="Fitted"):
        programs["here"].torch.jit.script(type("Other", (programs["here"].Fitted,), {})())
