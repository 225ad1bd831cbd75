"""What `torch.jit.script` compiles, what it refuses and where, and how scripted things behave."""
import enum
import inspect
from typing import Dict, List, NamedTuple, Optional, Tuple

import pytest

import dragon.vm.torch as torch
from dragon.vm.torch import Tensor, nn
from dragon.vm.torch.core.scripting.programs import Program
from dragon.vm.torch.core.scripting import functional_scripts
from dragon.vm.torch.core.scripting.recipes import functional
from dragon.vm.torch.core.scripting.schemas import read_schema
from dragon.dialects.aten.signatures import SCRIPTS, signatures
from dragon.dialects.aten.table import functional_rows
from dragon.vm.torch.core.scripting.scripts import python_scripts
from harness.subresults import each


class Color(enum.Enum):
    """A member is a value of scripts."""

    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    """A named tuple of scripts."""

    first: int
    second: float = 0.5


@torch.jit.script
class Counter:
    """A class of scripts."""

    def __init__(self, start: int):
        self.count = start

    def up(self, by: int = 1) -> int:
        """Return the new count."""
        self.count += by
        return self.count


@torch.jit.interface
class Step:
    """What has a step."""

    def step(self, x: Tensor) -> Tensor:
        """Return something."""


def branches(x: Tensor, n: Optional[int] = None) -> Tuple[Tensor, int]:
    """Return by way of refinements."""
    if n is None:
        return x, -1
    for i in range(n):
        if i > 3:
            return x + i, i
    return x * n, n


def containers(words: List[str], counts: Dict[str, int]) -> Tuple[str, int, List[str]]:
    """Return texts and numbers."""
    total = 0
    for word, count in zip(words, [counts[word] for word in words]):
        total += len(word) * count
    counts["new"] = total
    return f"{len(words)} words".upper(), sum(counts.values()), sorted(words)


def classes(n: int) -> Tuple[int, Pair, bool]:
    """Return from classes, named tuples and enumerations."""
    counter = Counter(n)
    for _ in range(3):
        counter.up()
    counter.up(by=2)
    color = Color.RED
    return counter.count, Pair(counter.count), color == Color.BLUE


def kinds(x: Optional[Tensor], y: List[Tensor]) -> int:
    """Return what isinstance tells."""
    if isinstance(x, Tensor) and not torch.jit.is_scripting():
        return -1
    if torch.jit.isinstance(y, List[Tensor]):
        return len(y)
    return 0


def numbers(a: int, b: float) -> Tuple[float, int, int, float, bool]:
    """Return arithmetic as Python has it."""
    return a / 2, a // 2, -a % 3, b ** 2, 0 < a < 10 and not b > 5


@pytest.mark.parametrize("function, arguments", [
    (branches, (torch.ones(1),)), (branches, (torch.ones(1), 2)), (branches, (torch.ones(1), 9)),
    (containers, (["b", "aa"], {"b": 2, "aa": 1})), (classes, (4,)), (numbers, (7, 1.5))])
def test_functions_do_what_python_does(function, arguments):
    scripted = torch.jit.script(function)
    copies = [dict(part) if isinstance(part, dict) else part for part in arguments]
    assert str(scripted(*copies)) == str(function(*arguments)) and scripted.graph.findNode("prim::Constant")
    assert f"def {function.__name__}" in scripted.code and scripted.schema.name == function.__name__


def test_scripts_know_that_they_are():
    assert torch.jit.script(kinds)(torch.ones(1), [torch.ones(1)] * 2) == 2


def undefined(x):
    return y  # noqa: F821


def one_branch(x):
    if bool(x.sum() > 0):
        a = 1
    return a


def wrong_result(x: Tensor) -> str:
    return x


def two_types(x: Tensor):
    y = 1
    if bool(x.sum() > 0):
        y = "a"
    return y


def tries(x):
    try:
        return x
    except ValueError:
        return x


def any_number(*x):
    return x


def no_path(x: Tensor) -> int:
    if bool(x.sum() > 0):
        return 1


def wrong_argument(x: int):
    return torch.relu(x)


def yields(x):
    yield x


def calls_itself(n: int) -> int:
    return calls_itself(n)


@each("function, said, line", [
    (undefined, "undefined value y", "return y"), (one_branch, "a is not defined in the false branch", "return a"),
    (wrong_result, "annotated as having type str", "return x"), (two_types, "previously had type int", 'y = "a"'),
    (tries, "can't use try", "try:"), (any_number, "variable number of arguments", "*x"),
    (no_path, "does not return along all paths", "def no_path"), (wrong_argument, "aten::relu", "torch.relu(x)"),
    (yields, "Yield", "yield x"), (calls_itself, "recursive", "")])
def test_refusals_name_the_place(function, said, line):
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(function)
    told = str(caught.value)
    assert said in told and line in told and (not line or "HERE" in told and __file__ in told)


class Block(nn.Module):
    """A module with much of what modules have."""

    sizes: torch.jit.Final[List[int]]

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.sizes = [1, 2]
        self.history = torch.jit.Attribute([], List[int])
        self.note: Optional[str] = None
        self.register_buffer("count", torch.zeros(()))

    @torch.jit.export
    def remember(self, x: int) -> int:
        """Return how many are remembered."""
        self.history.append(x)
        return len(self.history)

    @torch.jit.ignore
    def outside(self, x: Tensor) -> Tensor:
        """Return what Python computes."""
        return x + len("python")

    @torch.jit.unused
    def never(self, x: Tensor) -> Tensor:
        """Return nothing that scripts could."""
        return eval("x")

    @property
    def twice(self) -> int:
        """Return a number."""
        return self.sizes[1] * 2

    def step(self, x: Tensor) -> Tensor:
        """Return the linear part."""
        return self.linear(x)

    def forward(self, x: Tensor) -> Tensor:
        """Return all of it."""
        if self.training:
            self.count += 1
        if x.dim() == 7:
            return self.never(x)
        return self.outside(self.step(x)) * self.twice


def test_modules():
    module = Block()
    scripted, x = torch.jit.script(module), torch.ones(1, 2)
    assert isinstance(scripted, torch.jit.RecursiveScriptModule) and not isinstance(scripted, Block)
    assert scripted.linear.weight is module.linear.weight and torch.equal(scripted(x), module.eval()(x))
    assert scripted.count.item() == 1 and scripted.remember(4) == 1 and scripted.history == [4]
    assert scripted.twice == 4 and "CallMethod" in str(scripted.graph)
    assert "CallMethod" not in str(scripted.inlined_graph) and "self.linear" in scripted.step.code
    scripted.eval()
    assert not scripted.linear.training and scripted.forward.schema.arguments[1].name == "x"
    with pytest.raises(torch.jit.Error, match="unused"):
        scripted(torch.ones(1, 1, 1, 1, 1, 1, 2))
    with pytest.raises(RuntimeError, match="Expected a value of type 'int' for argument 'x'"):
        scripted.remember("4")
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        scripted()
    with pytest.raises(RuntimeError, match="history"):
        scripted.history = 3


def test_interfaces():
    class Holder(nn.Module):
        inner: ModuleStep

        def __init__(self):
            super().__init__()
            self.inner = Block()

        def forward(self, x: Tensor) -> Tensor:
            return self.inner.step(x)
    holder, x = Holder(), torch.ones(1, 2)
    assert torch.equal(torch.jit.script(holder)(x), holder(x))


@torch.jit.interface
class ModuleStep(nn.Module):
    """What modules have a step."""

    def step(self, x: Tensor) -> Tensor:
        """Return something."""


def test_futures_texts_and_switches():
    @torch.jit.script
    def forks(x: Tensor) -> Tensor:
        future = torch.jit.fork(double, x)
        return torch.jit.wait(future)
    assert forks(torch.ones(2)).tolist() == [2, 2]
    unit = torch.jit.CompilationUnit("def f(x: Tensor, n: int) -> Tensor:\n    return x * n\n")
    assert unit.f(torch.ones(1), 3).item() == 3
    with pytest.raises(AttributeError, match="g"):
        unit.g


def double(x: Tensor) -> Tensor:
    """Return twice the number."""
    return x * 2


def test_assertions_and_errors_raise():
    @torch.jit.script
    def strict(x: Tensor) -> Tensor:
        assert x.dim() == 1, "one axis is wanted"
        if x.size(0) > 2:
            raise ValueError("too long: " + str(x.size(0)))
        return x
    with pytest.raises(torch.jit.Error, match="one axis is wanted"):
        strict(torch.ones(1, 1))
    with pytest.raises(torch.jit.Error, match="ValueError: too long: 3"):
        strict(torch.ones(3))


def test_all_recipes_compile():
    for name, function in vars(functional).items():
        if inspect.isfunction(function) and function.__module__ == functional.__name__:
            Program(python_scripts().function(function).ready().graph, name)


def test_rows_of_functions_are_scripts():
    """Those that are not have a script of their own, or arguments that no operator takes."""
    without = set()
    for name in functional_rows():
        function = functional_scripts.script_of(name)
        if function is None:
            without.add(name)
        else:
            Program(python_scripts().function(function).ready().graph, name)
    assert without == {"normalize", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}
    assert all(python_scripts().recipe("functional", name) is not None for name in without)


def test_all_signatures_are_read():
    for name, lines in signatures(SCRIPTS).items():
        for line in lines:
            assert read_schema(line).name == name
