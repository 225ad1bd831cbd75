"""Programs that take numbers from tensors: symbols u0, u1, ..., as PyTorch's exported programs have them."""
import io

import numpy
import pytest

from dragon.vm import torch
from dragon.vm.torch.export import Dim, export, load, save
from dragon.vm.torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from harness.subresults import each

genuine = pytest.importorskip("torch")


def checked(t, n, low, high=None):
    """Return a tensor's number, which is held to a range."""
    number = n.item()
    t._check(number >= low)
    if high is not None:
        t._check(number <= high)
    return number


CALLS = {
    "nonzero": (lambda t, x, n: x.nonzero() + 1, "[0, 6]"),
    "nonzero by axis": (lambda t, x, n: x.nonzero(as_tuple=True), "[0, 6]"),
    "where": (lambda t, x, n: t.where(x > 0)[0] * 2, "[0, 6]"),
    "mask": (lambda t, x, n: x[x > 0].sum(), "[0, 6]"),
    "mask of rows": (lambda t, x, n: x.reshape(3, 2)[x[:3] > 0] @ x[:2], "[0, 3]"),
    "masked_select": (lambda t, x, n: t.cat([x, t.masked_select(x, x > 0)]), "[0, 6]"),
    "unique": (lambda t, x, n: t.unique(x), "[0, 6]"),
    "number": (lambda t, x, n: x[:checked(t, n, 2, 5)] + 1, "[2, 5]"),
    "large number": (lambda t, x, n: t.zeros(checked(t, n, 2) * 8), "[2, int_oo]"),
    "two numbers": (lambda t, x, n: t.ones(checked(t, n, 1, 9), checked(t, n + 1, 1)).sum(1), "[1, 9]"),
    "part": (lambda t, x, n: x.narrow(0, 1, checked(t, n, 0, 4)), "[0, 4]"),
}


def made(t, function):
    class Does(t.nn.Module):
        def forward(self, x, n):
            return function(t, x, n)
    return Does()


def arguments(t, count=3):
    return t.tensor([0.0, 1.5, 0.0, -2.0, 3.0, 1.5]), t.tensor(count)


def flat(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def operators(program):
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function" and "aten" in str(
        node.target) and "_assert" not in str(node.target) and "sym_size" not in str(node.target)]


@each("name", CALLS)
def test_beside_genuine(name):
    function, wanted = CALLS[name]
    mine, theirs = (export(made(t, function), arguments(t)) if t is torch else t.export.export(
        made(t, function), arguments(t)) for t in (torch, genuine))
    assert operators(mine) == operators(theirs)
    told = {str(key): str(value) for key, value in mine.range_constraints.items()}
    assert told["u0"] == f"VR{wanted}"
    assert told == {str(key): str(value) for key, value in theirs.range_constraints.items()}
    for count in (2, 4):
        results = flat(made(genuine, function)(*arguments(genuine, count)))
        for program in (mine, mine.run_decompositions()):
            for one, another in zip(flat(program.module()(*arguments(torch, count))), results):
                numpy.testing.assert_allclose(one.numpy(), another.numpy())
                assert str(one.dtype) == str(another.dtype)


@pytest.mark.parametrize("name", ["mask", "nonzero", "number", "two numbers"])
def test_files_both_ways(name):
    function, _ = CALLS[name]
    file = io.BytesIO()
    save(export(made(torch, function), arguments(torch)), file)
    file.seek(0)
    theirs = genuine.export.load(file).module()(*arguments(genuine, 4))
    numpy.testing.assert_allclose(theirs, made(genuine, function)(*arguments(genuine, 4)))
    file = io.BytesIO()
    genuine.export.save(genuine.export.export(made(genuine, function), arguments(genuine)), file)
    file.seek(0)
    mine = load(file).module()(*arguments(torch, 4))
    numpy.testing.assert_allclose(mine.numpy(), theirs)


def test_checks_are_made_when_the_program_runs():
    program = export(made(torch, CALLS["number"][0]), arguments(torch))
    assert program.module()(*arguments(torch, 5)).shape == (5,)
    with pytest.raises(RuntimeError, match="Runtime assertion failed for expression u0 <= 5"):
        program.module()(*arguments(torch, 6))


def test_checks_choose_the_example():
    def tight(t, x, n):
        number = n.item()
        t._check(number > 40)
        t._check(number < 42)
        return t.zeros(number)
    program = export(made(torch, tight), arguments(torch, 41))
    assert program.module()(*arguments(torch, 41)).shape == (41,)

    def none(t, x, n):
        number = n.item()
        t._check(number > 40)
        t._check(number < 40)
        return t.zeros(number)
    with pytest.raises(RuntimeError, match="no numbers were found for which all holds.*u0 > 40, u0 < 40"):
        export(made(torch, none), arguments(torch))


@pytest.mark.parametrize("function", [
    lambda t, x, n: x + 1 if n.item() > 3 else x - 1,
    lambda t, x, n: x + 1 if n > 3 else x - 1,
    lambda t, x, n: x + 1 if x[x > 0].shape[0] > 2 else x - 1,
    lambda t, x, n: x[x > 0].view(3, 1)])
def test_other_ways_are_refused(function):
    with pytest.raises(GuardOnDataDependentSymNode, match="Could not guard on data-dependent expression"):
        export(made(torch, function), arguments(torch))


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.full((2,), 3))

    def forward(self, x):
        self.seen += 1
        return x.new_zeros(int(self.seen[0]))


def its_own(t, x, n):
    counts = t.zeros(2, dtype=t.int64)
    counts[0] = 5
    counts += 1
    copied = t.tensor([1, 1])
    copied[1] = counts[0] * 2
    return t.zeros(int(counts[0]), copied.tolist()[1])


def of_others(t, x, n):
    sums = t.zeros(2)
    sums[0] = x.sum()
    sums[1] = 3
    return t.zeros(int(sums[1]))


def drawn(t, x, n):
    numbers = t.empty(2, dtype=t.int64)
    numbers.random_(1, 5)
    return t.zeros(int(numbers[0]))


def masked(t, x, n):
    numbers = t.tensor([1, 2, 3, 4])
    numbers[numbers > 2] = 0
    return t.zeros(int(numbers[2]) + 1)


def put(t, x, n):
    numbers = t.tensor([1, 2, 3, 4])
    numbers[t.tensor([True, False, False, True])] = t.tensor([7, 8])
    return t.zeros(int(numbers[0]))


def selected(t, x, n):
    numbers = t.tensor([1, 2, 3, 4])
    return t.zeros(int(numbers[numbers > 2].sum()))


def test_written_numbers_are_those_that_were_written():
    found = export(made(torch, its_own), arguments(torch)).module()(*arguments(torch))
    assert found.shape == its_own(torch, None, None).shape == (6, 12)


@pytest.mark.parametrize("module, given", [
    (Counts(), (torch.ones(2),)), (made(torch, of_others), arguments(torch)), (made(torch, drawn), arguments(torch)),
], ids=["buffer", "written with others", "drawn"])
def test_numbers_that_nobody_knows_yet_are_refused(module, given):
    with pytest.raises(GuardOnDataDependentSymNode, match="Could not guard on data-dependent expression"):
        export(module, given)


def test_open_sizes_beside_unknown_ones():
    program = export(made(torch, CALLS["mask"][0]), arguments(torch), dynamic_shapes={"x": {0: Dim("n")}, "n": None})
    assert "u0" in {str(key) for key in program.range_constraints}
    assert program.module()(torch.tensor([-1.0, 2.0, 3.0]), torch.tensor(1)).item() == 5


def test_writes_where_a_mask_finds_something():
    def written(t, x, n):
        y = x.clone()
        y[y > 0] = 7.0
        return y
    program = export(made(torch, written), arguments(torch))
    assert program.module()(*arguments(torch)).tolist() == [0, 7, 0, -2, 7, 7]
    assert program.run_decompositions().module()(*arguments(torch)).tolist() == [0, 7, 0, -2, 7, 7]


def test_real_numbers():
    program = export(made(torch, lambda t, x, n: x * (n * 0.5).item()), arguments(torch))
    assert program.module()(*arguments(torch, 4)).tolist() == [0, 3, 0, -4, 6, 3]


def test_checks_of_several_numbers_and_sizes():
    def part(t, x, n):
        number = n.item()
        t._check(number >= 0)
        t._check(number <= x.shape[0])
        return x[:number]
    program = export(made(torch, part), arguments(torch), dynamic_shapes={"x": {0: Dim("n")}, "n": None})
    assert program.module()(torch.arange(9), torch.tensor(7)).tolist() == list(range(7))
    with pytest.raises(RuntimeError, match=r"u0 <= x.size\(\)\[0\]"):
        program.module()(torch.arange(5), torch.tensor(7))

    def parts(t, x, n):
        left, right = n.item(), (n + 1).item()
        both = (2 * n + 1).item()
        t._check(both == left + right)
        return x * 2 if left + right == both else x + 1
    program = export(made(torch, parts), arguments(torch))
    assert program.module()(*arguments(torch)).tolist() == [0, 3, 0, -4, 6, 3]


def test_encoder_with_batch_and_length_open():
    encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1).eval()
    program = export(encoder, (torch.randn(4, 5, 8),), dynamic_shapes=({0: Dim("b"), 1: Dim("l")},))
    assert [value.lower for value in program.range_constraints.values()] == [0, 0]
    x = torch.randn(3, 2, 8)
    assert torch.allclose(program.module()(x), encoder(x), atol=1e-6)


def test_modules_on_meta():
    program = export(torch.nn.Linear(3, 2, device="meta"), (torch.ones(1, 3, device="meta"),))
    assert program.module()(torch.ones(1, 3, device="meta")).shape == (1, 2)


def test_programs_without_inputs():
    class Made(torch.nn.Module):
        def forward(self):
            return torch.ones(2) * 2
    assert export(Made(), ()).module()().tolist() == [2, 2]


def test_many_numbers():
    def masked(t, x, n):
        number = n.item()
        t._check(number > 20)
        for bound in range(12):
            x = x[x > bound]
        return t.cat([x, t.zeros(number)])
    program = export(made(torch, masked), (torch.arange(40), torch.tensor(21)))
    assert len(program.range_constraints) == 13
    assert program.module()(torch.arange(40), torch.tensor(22)).shape == (28 + 22,)


def test_bounds_of_sizes():
    genuine = pytest.importorskip("torch")

    def told(lib):
        class Does(lib.nn.Module):
            def forward(self, n, x):
                size = n.item()
                lib._constrain_as_size(size, min=2, max=9)
                return lib.zeros(size) + x
        program = lib.export.export(Does(), (lib.tensor(3), lib.ones(1)))
        letters = []
        for value in (1, -1, 10):
            with pytest.raises(RuntimeError) as error:
                lib._constrain_as_size(value, min=2, max=9)
            letters.append(str(error.value))
        bounds = [(int(one.lower), int(one.upper)) for one in program.range_constraints.values()]
        return bounds, program.module()(lib.tensor(4), lib.ones(1)).tolist(), letters
    assert told(torch) == told(genuine)
