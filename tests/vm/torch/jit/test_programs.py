"""Small programs as scripts: what they give, beside PyTorch, and again out of an archive."""
import enum
import io
import warnings
from harness.subresults import each
from typing import List, Union

import pytest

import dragon.vm.torch as dt
from dragon.vm.torch.core.aten.table import function_of, namesake

torch = pytest.importorskip("torch")
TAKES_X = {
    "conversions": "x.long(), x.float(), x.double(), x.int().to(x.dtype), x.half().float()",
    "norms": "torch.norm(x, 1), torch.norm(x, 2.0, dim=0), torch.norm(x), x.norm()",
    "switches": "torch.unique(x, return_inverse=True), torch.unique(x), torch.unique(x, return_counts=True)[1]",
    "places": "F.max_pool1d(x[None], 2, return_indices=True), F.max_pool1d(x[None], 2)",
    "makers": "torch.arange(2, 6, dtype=torch.float64), torch.full([2], 3, dtype=torch.int32), torch.zeros(2, 3), "
              "x.new_zeros([2], dtype=torch.int64)",
    "parts": "torch.split(x, [1, 2]), torch.split(x, 2), torch.chunk(x, 2)",
    "classes": "F.one_hot(x.long(), 5), F.normalize(x, dim=0)",
    "losses": "F.l1_loss(x, x * 2, size_average=False), F.huber_loss(x, x * 3), F.kl_div(x, x, reduction='sum')",
    "texts": "'a' in 'cat', 'dog' in 'cat', 'x' not in 'cat'",
    "results by name": "x.max(dim=0).values, x.sort().indices, torch.topk(x, 2).values, "
                       "torch.linalg.slogdet(torch.diag(x)).logabsdet, torch.max(x, 0)[1], x.aminmax().min",
    "powers": "2.0 ** 3, 2 ** 0.5, (-8.0) ** 2.0, x ** 2",
    "sizes": "F.interpolate(x[None, None], scale_factor=2.0), F.interpolate(x[None, None], size=5, mode='area')"}
WITH_BODIES = {
    "elements": "y = x.clone()\n    y[torch.tensor([0, 1])] = 1.5\n    y[y > 3] = 0.0\n    return y",
    "warnings": "if x.dim() > 5:\n        warnings.warn('many axes')\n    return x",
    "emptiness": "a: List[int] = []\n    b = {1: 2}\n    n = 0\n    if a:\n        n += 1\n    if b:\n        n += 2\n"
                 "    return n, bool(a), bool(b), not a",
    "tuples as lists": "size: Optional[List[int]] = None\n    if x.dim() == 1:\n        size = 3, 1\n"
                       "    assert size is not None\n    return x.reshape(size)",
    "results of one of two": "m = torch.sort(x)\n    if x.dim() == 1:\n        m = torch.topk(x, 2)\n"
                             "    return m.values, m.indices",
    "dictionaries": "d = dict({'a': 1}, b=2)\n    return d['a'], d['b'], len(d)",
    "lists": "a: List[float] = x.tolist()\n    return a, sum(a)",
    "attributes": "if hasattr(x, 'shape') if False else True:\n        x = x + 1\n    return x"}


def leaves(found):
    """Return the leaves of a result as lists."""
    if isinstance(found, (list, tuple)):
        return [leaf for part in found for leaf in leaves(part)]
    return [found.tolist() if hasattr(found, "tolist") else found]


def run(room, text, *arguments):
    """Return what a program gives, and gives out of an archive."""
    torch, F = room, room.nn.functional  # noqa: F841: what the text names
    function = room.jit.CompilationUnit(text).f
    buffer = io.BytesIO()
    room.jit.save(function, buffer)
    return leaves(function(*arguments)), leaves(room.jit.load(io.BytesIO(buffer.getvalue()))(*arguments))


@pytest.mark.filterwarnings("ignore")
@each("name", [*TAKES_X, *WITH_BODIES])
def test_programs_give_what_pytorch_gives(name):
    body = WITH_BODIES.get(name) or f"return {TAKES_X[name]}"
    text = f"def f(x: Tensor):\n    {body}\n"
    found, again = run(dt, text, dt.tensor([1.0, 2.0, 4.0]))
    expected, _ = run(torch, text, torch.tensor([1.0, 2.0, 4.0]))
    assert found == again
    assert leaves(found) == pytest.approx(leaves(expected), rel=1e-5)


class Color(enum.Enum):
    """Members that are walked through."""

    RED = 1
    BLUE = 2


def test_enumerations_and_texts_see_what_stands_around():
    @dt.jit.script
    def values() -> List[int]:
        return [color.value for color in Color]
    assert values() == [1, 2]
    assert dt.jit.CompilationUnit("def f() -> int:\n    return Color.BLUE.value").f() == 2
    with pytest.raises(RuntimeError, match="Color2"):
        dt.jit.CompilationUnit("def f() -> int:\n    return Color2.BLUE.value")


def test_unions_take_none():
    text = """
    def f(x: Optional[Union[int, str]]) -> str:
        if isinstance(x, int):
            return "number"
        if x is None:
            return "nothing"
        return x
    """
    function = dt.jit.CompilationUnit(text).f
    assert [function(value) for value in (1, None, "text")] == ["number", "nothing", "text"]


def test_properties_are_set_and_constants_kept():
    class Holder(dt.nn.Module):
        __constants__ = ["sizes", "nothing"]

        def __init__(self):
            super().__init__()
            self.inner, self.sizes, self.nothing = 2, [5.5, 7.5], None

        @property
        def twice(self) -> int:
            return self.inner * 2

        @twice.setter
        def twice(self, value: int):
            self.inner = value // 2

        def forward(self, x: dt.Tensor):
            self.twice = 10
            return x * self.twice * self.sizes[0]
    holder, buffer = dt.jit.script(Holder()), io.BytesIO()
    assert holder(dt.ones(1)).item() == 55
    dt.jit.save(holder, buffer)
    loaded = torch.jit.load(io.BytesIO(buffer.getvalue()))
    assert loaded(torch.ones(1)).item() == 55 and loaded.sizes == (5.5, 7.5) and loaded.nothing is None


def test_futures_have_types_and_old_names():
    @dt.jit.script
    def twice(x: dt.Tensor) -> dt.Tensor:
        return x * 2

    @dt.jit.script
    def waits(x: dt.Tensor) -> dt.Tensor:
        futures: List[dt.jit.Future[dt.Tensor]] = []
        for _ in range(2):
            futures.append(dt.jit._fork(twice, x))
        return dt.jit._wait(futures[0]) + dt.jit._wait(futures[1])
    assert waits(dt.ones(1)).item() == 4


def test_warnings_are_python_s():
    def warns(x: dt.Tensor) -> dt.Tensor:
        warnings.warn("many axes")
        return x
    with pytest.warns(UserWarning, match="many axes"):
        dt.jit.script(warns)(dt.ones(1))


def test_what_is_missing_raises_where_it_is_reached():
    assert function_of("_upsample_lanczos2d_aa", "default") is None and namesake("_upsample_lanczos2d_aa") is None
    text = ("def f(x: Tensor, smooth: bool):\n    if smooth:\n"
            "        return torch.ops.aten._upsample_lanczos2d_aa(x, [2, 2], False)\n    return x")
    function = dt.jit.CompilationUnit(text).f
    assert function(dt.ones(1), False).item() == 1
    with pytest.raises(NotImplementedError, match="_upsample_lanczos2d_aa"):
        function(dt.ones(1, 1, 3, 3), True)


class Counts:
    """A class with a static method."""

    def __init__(self, n: int):
        self.n = n

    @staticmethod
    def more(n: int) -> int:
        """Return one more."""
        return n + 1


def test_static_methods_are_in_archives():
    @dt.jit.script
    def count(n: int) -> int:
        return Counts(n).n + Counts.more(n)
    buffer = io.BytesIO()
    dt.jit.save(count, buffer)
    for room in (dt, torch):
        assert room.jit.load(io.BytesIO(buffer.getvalue()))(3) == 7


def of_python_types(x: dt.Tensor, y: dt.Tensor):
    """Name Python's classes where it raises."""
    if x.dim() != y.dim():
        raise ValueError(f"got {type(x)} of {x.dim()} axes")
    return x + y


def test_python_s_classes_are_named_where_scripts_raise():
    scripted = dt.jit.script(of_python_types)
    assert scripted(dt.ones(2), dt.ones(2)).tolist() == [2, 2]
    with pytest.raises(dt.jit.Error, match="of 1 axes"):
        scripted(dt.ones(2), dt.ones(2, 2))
    with pytest.raises(RuntimeError, match="Could not export Python function call 'type'"):
        dt.jit.save(scripted, io.BytesIO())


def test_results_by_name_are_not_tuples_without():
    with pytest.raises(RuntimeError, match="Variable 'm' previously had type"):
        dt.jit.CompilationUnit("def f(x: Tensor):\n    m = torch.sort(x)\n    if x.dim() == 1:\n        m = (x, x)\n"
                               "    return m[0]")


class Held:
    """A class beside tensors."""

    def __init__(self, x: dt.Tensor):
        self.x = x


def of_either(x: Union[dt.Tensor, Held], twice: bool):
    """Return what is within, from branches that all leave and have set the argument anew."""
    if isinstance(x, Held):
        return x.x
    elif twice:
        x = x * 2
        return x + 1
    else:
        raise ValueError("neither")


def test_variables_need_not_fit_where_all_branches_leave():
    scripted = dt.jit.script(of_either)
    assert scripted(dt.ones(2), True).tolist() == [3, 3]
    with pytest.raises(dt.jit.Error, match="neither"):
        scripted(dt.ones(2), False)


def test_types_of_modules_can_be_forgotten():
    class Layer(dt.nn.Module):
        def forward(self, x):
            return x + 1
    store = dt.jit._recursive.concrete_type_store.type_store
    one, other = dt.jit.script(Layer()), dt.jit.script(Layer())
    assert one._script_type is other._script_type and len(store[Layer]) == 1
    store.pop(Layer)
    assert dt.jit.script(Layer())._script_type is not one._script_type
