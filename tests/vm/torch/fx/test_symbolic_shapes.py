"""What programs ask of sizes that vary, beside genuine PyTorch."""
import importlib

import pytest

from dragon.vm import torch as dt

torch = pytest.importorskip("torch")
BOTH = ((torch, "torch."), (dt, "dragon.vm.torch."))


def told(lib, place):
    names = importlib.import_module(place + "fx.experimental.symbolic_shapes")

    class Does(lib.nn.Module):
        def forward(self, x):
            if names.guard_size_oblivious(x.shape[0] > 1) and names.sym_eq(tuple(x.shape[1:]), (2,)):
                return x * 2
            return x
    program = lib.export.export(Does(), (lib.ones(3, 2),), dynamic_shapes=({0: lib.export.Dim("n", min=2)},))
    value = next(iter(program.graph.nodes)).meta["val"]
    rows, columns = value.shape
    return [
        names.is_symbolic(rows), names.is_symbolic(columns), names.is_concrete_int(rows),
        names.is_concrete_int(columns),
        len(names.free_symbols(value)), len(names.free_symbols(3)), names.has_free_symbols(value),
        names.has_free_symbols(columns), names.guard_bool(True), names.guard_int(3), names.statically_known_true(False),
        names.guard_or_false(True), names.guard_or_true(False), names.sym_eq((1, 2), (1, 3)), names.sym_eq(2, 2),
        [str(node.target) for node in program.graph.nodes if node.op == "call_function"]]


def test_what_is_told():
    assert told(*BOTH[0]) == told(*BOTH[1])


@pytest.mark.parametrize("lib, place", BOTH)
def test_letters(lib, place):
    with pytest.raises(AssertionError):
        importlib.import_module(place + "fx.experimental.symbolic_shapes").sym_eq(1, (1,))
