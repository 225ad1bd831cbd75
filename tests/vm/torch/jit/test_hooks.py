"""Hooks of modules that are scripted, beside PyTorch, and in archives both ways."""
import io
from types import ModuleType

import pytest

import dragon.vm.torch as dt

PROGRAM = """
from typing import List, Tuple
import NAME as torch
from NAME import Tensor, nn

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3.0
    def forward(self, x: Tensor, n: int = 2):
        return x * n, n

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.plain = nn.ReLU()
    def forward(self, x: Tensor):
        y, n = self.inner(x + 1, 4)
        z, m = self.inner.forward(x)
        return self.plain(y) + z, n + m

def twice(self, input: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
    return input[0] * self.scale, input[1] + 1

def look(self, input: Tuple[Tensor, int]) -> None:
    assert input[1] == 5, "twice runs first"

def less(self, input: Tuple[Tensor, int], output: Tuple[Tensor, int]):
    output = output[0] - input[0]
    return output, input[1]

def whole(self, input: Tuple[Tensor]) -> Tensor:
    return input[0] * 2

def say(self, input: Tuple[Tensor], output: Tuple[Tensor, int]):
    assert output[1] > 0

def one(self, input: Tuple[Tensor], output: Tensor):
    return output - input[0]

def hooked():
    module = Outer()
    module.inner.register_forward_pre_hook(twice)
    module.inner.register_forward_pre_hook(look)
    module.inner.register_forward_hook(less)
    module.register_forward_pre_hook(whole)
    module.register_forward_hook(say)
    module.plain.register_forward_hook(one)
    return module

def pre_count(self, input: Tuple[Tensor, int], more: int) -> None:
    return None

def pre_row(self, input: int) -> None:
    return None

def pre_inner(self, input: Tuple[str, int]) -> None:
    return None

def pre_silent(self, input: Tuple[Tensor, int]):
    return None

def pre_result(self, input: Tuple[Tensor, int]) -> int:
    return 1

def after_output(self, input: Tuple[Tensor, int], output: int):
    return output

def after_row(self, input: Tuple[Tensor], output: Tuple[Tensor, int]):
    return output

def wrong(name):
    module = Outer()
    hook = globals()[name]
    (module.inner.register_forward_pre_hook if name.startswith("pre") else module.inner.register_forward_hook)(hook)
    return module
"""


@pytest.fixture(scope="module")
def programs(both_rooms):
    """Return {"here" or "there": the program as a module}."""
    return both_rooms("hooks", PROGRAM)


def numbers(found):
    """Return a result as lists."""
    return [part.tolist() if hasattr(part, "tolist") else part for part in found]


def test_calls_from_scripts_and_from_python_run_hooks(programs):
    row, found = [[1.0, -2.0, 0.5]], {}
    for side, room in programs.items():
        module, tensor = room.hooked(), room.torch.tensor(row)
        scripted = room.torch.jit.script(module)
        found[side] = [numbers(scripted(tensor)), numbers(scripted.forward(tensor)), numbers(module(tensor)),
                       numbers(scripted.inner(tensor, 4))]
        assert found[side][0] == found[side][2]
    assert found["here"] == found["there"]


@pytest.mark.parametrize("writer, reader", [("here", "there"), ("there", "here"), ("here", "here")])
def test_archives_hold_hooks(programs, writer, reader):
    row, buffer = [[1.0, -2.0, 0.5]], io.BytesIO()
    room: ModuleType = programs[writer]
    scripted = room.torch.jit.script(room.hooked())
    room.torch.jit.save(scripted, buffer)
    buffer.seek(0)
    other = programs[reader].torch
    again = other.jit.load(buffer)
    assert numbers(again(other.tensor(row))) == numbers(scripted(room.torch.tensor(row)))


@pytest.mark.parametrize("name, words", [
    ("pre_count", "exactly 2 inputs but it had 3 inputs"), ("pre_row", "typed as a Tuple but found type: 'int'"),
    ("pre_inner", "has the wrong inner types for the input tuple argument"), ("pre_silent", "missing a return"),
    ("pre_result", "returned the wrong type of: 'int'"), ("after_output", "has the wrong type for the output"),
    ("after_row", "has the wrong number of contained types")])
def test_hooks_whose_signatures_do_not_fit_are_refused(programs, name, words):
    for room in programs.values():
        with pytest.raises(RuntimeError, match=words):
            room.torch.jit.script(room.wrong(name))


def test_a_hook_that_is_no_function_leaves_the_module_to_python():
    class Marked:
        def __call__(self, module, args):
            return (args[0] * 2,)

    module = dt.nn.Sequential(dt.nn.ReLU())
    module[0].register_forward_pre_hook(Marked())
    assert dt.jit.script(module)(dt.ones(1)).item() == 2
