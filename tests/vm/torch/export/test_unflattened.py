"""Unflattened programs whose modules use what belongs to others, are called often, or are called with constants."""
import pytest

from dragon.vm import torch
from dragon.vm.torch.export import export, unflatten


class Inner(torch.nn.Module):
    """Counts its calls; adds one number or another."""

    def __init__(self):
        super().__init__()
        self.count, self.constant = torch.nn.Buffer(torch.zeros(1)), torch.ones(1)

    def forward(self, x, doubled=False):
        self.count.add_(1)
        return x * 2 + self.count if doubled else x + self.constant


class Middle(torch.nn.Module):
    """Calls a module, and uses its state beside that."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x + self.inner.constant, True) + self.inner.count


class Outer(torch.nn.Module):
    """Calls modules at two depths more than once."""

    def __init__(self):
        super().__init__()
        self.middle = Middle()

    def forward(self, x):
        x = self.middle(x) + self.middle.inner.count
        x = self.middle.inner(x, False)
        self.middle.inner.count.add_(1)
        return self.middle.inner(x, True), self.middle(x)


@pytest.mark.parametrize("kept", [(), ("middle",), ("middle", "middle.inner")])
def test_state_of_other_modules(kept):
    x, program = torch.tensor([3.0]), export(Outer(), (torch.tensor([3.0]),), preserve_module_call_signature=kept)
    wanted = [value.tolist() for value in Outer()(x)]
    flat = unflatten(program)
    assert [value.tolist() for value in program.module()(x)] == wanted
    assert [value.tolist() for value in flat(x)] == wanted  # its state is its own
    assert sorted(dict(flat.named_buffers())) == sorted(dict(Outer().named_buffers()))


def test_each_call_of_a_kept_module_has_its_signature():
    program = export(Outer(), (torch.tensor([3.0]),), preserve_module_call_signature=("middle.inner",))
    kept = {entry.fqn: entry.signature for entry in program.module_call_graph if entry.signature}
    assert list(kept) == ["", "middle.inner", "middle.inner@1", "middle.inner@2", "middle.inner@3"]


class Parts(torch.nn.Module):
    """Hands on more than is used."""

    def __init__(self):
        super().__init__()
        self.chooses = Chooses()

    def forward(self, x, y):
        return self.chooses(x, *torch.topk(y, 2))[0]


class Chooses(torch.nn.Module):
    """Uses two arguments of three."""

    def forward(self, x, values, indices):
        return x + values, indices


def test_arguments_that_nobody_uses():
    x, y = torch.ones(2), torch.tensor([5.0, 1.0, 4.0])
    program = export(Parts(), (x, y), preserve_module_call_signature=("chooses",))
    program.graph.eliminate_dead_code()
    assert unflatten(program)(x, y).tolist() == [6, 5]


def test_modules_are_replaced():
    genuine = pytest.importorskip("torch")

    def program(lib):
        class Inner(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.line = lib.nn.Linear(3, 3)

            def forward(self, x):
                return self.line(x) * 2

        class Outer(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.last = Inner(), lib.nn.Linear(3, 3)

            def forward(self, x):
                return self.last(self.inner(x))
        return lib.export.unflatten(lib.export.export(Outer(), (lib.ones(2, 3),)))

    def replaced(lib):
        made = program(lib)
        made.inner.line, made.last = lib.nn.ReLU(), lib.nn.Identity()
        return made(lib.arange(-3.0, 3).reshape(2, 3)).tolist()
    assert replaced(torch) == replaced(genuine) == [[0, 0, 0], [0, 2, 4]]
    for one in program(torch).modules():
        for node in getattr(one, "graph", torch.fx.Graph()).nodes:
            assert node.op == "output" or tuple(node.meta["val"].shape)
