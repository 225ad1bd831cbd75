"""One capture serves all sizes of all axes: what the program computes with sizes and decides by them is done anew."""
import warnings

import numpy
import pytest

import dragon
from dragon import _C
from dragon.vm import torch
from dragon.vm.torch import nn
from dragon.vm.torch.nn import functional as F
from harness.subresults import each

SHAPES = [(6, 5), (9, 5), (8, 7), (3, 4), (2, 9), (1, 5), (7, 1), (0, 5), (12, 2), (3, 4), (3, 4)]
PROGRAMS = {
    "a product of sizes": lambda x: x.reshape(x.shape[0] * x.shape[1]),
    "a square": lambda x: torch.zeros(x.shape[0] ** 2) + x.sum(),
    "half, rounded up": lambda x: x[:(x.shape[0] + 1) // 2] * 2,
    "at most four": lambda x: x[:min(x.shape[0], 4)],
    "at least three": lambda x: torch.ones(max(x.size(0), 3)) * x.sum(),
    "a rest": lambda x: x.flatten()[: x.numel() - x.numel() % 4],
    "the mean by hand": lambda x: x.sum() / max(x.shape[0], 1),
    "a scale": lambda x: x * (1.0 / (x.shape[1] + 1)) + x.shape[0],
    "a number in place": lambda x: x.clone().mul_(x.shape[0]).sub_(x.shape[1] / 2),
    "positions": lambda x: x + torch.arange(x.shape[1]),
    "a mask": lambda x: x.masked_fill(torch.ones(x.shape[0], x.shape[1]).tril() == 0, -1.0),
    "parts that clamp": lambda x: (x[:4], x[-3:], x[:, 1:3], x[2:, None], x[..., ::2]),
    "another axis last": lambda x: x.t().contiguous().view(-1, x.shape[0]),
    "a transposed view": lambda x: x.t().reshape(x.shape[1], 1, x.shape[0]).expand(-1, 2, -1),
    "writes to parts": lambda x: _written(x.clone()),
    "repeated": lambda x: x.repeat(2, x.shape[0]),
    "padded": lambda x: F.pad(x, (0, 8 - x.shape[1] % 8)),
    "a decision": lambda x: x * 2 if x.shape[0] > 5 else x + 1,
    "two decisions": lambda x: (x if x.shape[0] >= x.shape[1] else x.t()).cumsum(0),
    "zeros like": lambda x: torch.zeros_like(x) + x.new_full((x.shape[1],), 3.0),
    "joined": lambda x: torch.cat([x, torch.zeros(2, x.shape[1])]).softmax(0),
    "a root": lambda x: x / (x.shape[1] ** 0.5 + 1),
    "one number of another": lambda x: x.shape[0] * x + (3 - x.shape[1]),
    "detached": lambda x: x.detach().reshape(-1)[: x.shape[0]] * 2,
}


def _written(x):
    x[: x.shape[0] // 2] = 7.0
    x[:, x.shape[1] // 2:] *= 2
    x[-1:] = x[:1]
    return x


def leaves(value):
    """Return the tensors of a result."""
    return [value] if isinstance(value, torch.Tensor) else [leaf for item in value for leaf in leaves(item)]


def outcome(function, x, gradient=False):
    """Return the numbers of a result, of a gradient, or the error's class."""
    given = x.clone().requires_grad_(gradient)
    try:
        found = leaves(function(given))
        if gradient and any(leaf.requires_grad for leaf in found):
            sum((leaf ** 2).sum() for leaf in found if leaf.requires_grad).backward()
            found.append(given.grad)
    except (RuntimeError, ValueError, IndexError) as error:
        return type(error)
    return [leaf.detach().numpy() for leaf in found]


def same(mine, wanted):
    """Return whether two outcomes are one."""
    if isinstance(wanted, type) or isinstance(mine, type):
        return mine is wanted
    return len(mine) == len(wanted) and all(
        one.shape == other.shape and numpy.allclose(one, other, 1e-4, 1e-5, equal_nan=True)
        for one, other in zip(mine, wanted))


@each("gradient", [False, True], ids=["forward", "gradient"])
@each("name", PROGRAMS)
def test_programs_at_other_sizes(name, gradient):
    program = PROGRAMS[name]
    compiled = torch.compile(program)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape in SHAPES:
            x = torch.randn(shape)
            assert same(outcome(compiled, x, gradient), outcome(program, x, gradient)), shape
    assert len(compiled.graphs) <= 6 and not compiled.fallback, compiled.explain()


@each("name, most", [("a product of sizes", 2), ("a square", 2), ("half, rounded up", 2),
                     ("parts that clamp", 2), ("positions", 2), ("a decision", 3), ("a scale", 2),
                     ("at most four", 3), ("repeated", 2), ("writes to parts", 2)])
def test_few_captures_serve_two_hundred_shapes(name, most):
    compiled = torch.compile(PROGRAMS[name])
    for number in range(200):
        compiled(torch.ones(3 + number % 17, 2 + number % 13))
    assert len(compiled.retraces) <= most, compiled.explain()


def test_several_arguments_have_sizes_of_their_own():
    def attend(q, k, v):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        mask = torch.ones(q.shape[-2], k.shape[-2]).tril(k.shape[-2] - q.shape[-2])
        return scores.masked_fill(mask == 0, -1e9).softmax(-1) @ v
    compiled = torch.compile(attend)
    for batch, query, key in ((2, 3, 5), (4, 6, 7), (1, 1, 9), (3, 8, 8), (2, 1, 10), (2, 1, 11)):
        q, k, v = torch.randn(batch, query, 4), torch.randn(batch, key, 4), torch.randn(batch, key, 6)
        torch.testing.assert_close(compiled(q, k, v), attend(q, k, v))
    assert len(compiled.retraces) <= 2


def test_sizes_of_results_are_followed():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.ReLU(), nn.MaxPool2d(2))

    def program(x):
        y = net(x)
        b, c, h, w = y.shape
        return y.view(b, c, h * w).transpose(1, 2).reshape(b * h, w * c) / (h * w)
    compiled = torch.compile(program)
    for size in ((2, 16, 16), (3, 20, 24), (1, 33, 17), (2, 9, 31)):
        x = torch.randn(size[0], 3, *size[1:])
        torch.testing.assert_close(compiled(x), program(x))
    assert len(compiled.retraces) <= 2, compiled.explain()


def test_a_whole_training_step_serves_all_sizes():
    def train(wrap):
        torch.manual_seed(0)
        net = nn.LSTM(5, 8, batch_first=True)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = (net(x)[0] ** 2).sum() / x.shape[1]
            loss.backward()
            optimizer.step()
            return loss.detach()
        step = wrap(step)
        return step, [step(torch.randn(batch, length, 5)).item()
                      for batch, length in ((4, 7), (4, 7), (4, 6), (4, 9), (2, 5), (3, 6), (4, 9), (4, 9))]
    compiled, losses = train(torch.compile)
    numpy.testing.assert_allclose(losses, train(lambda step: step)[1], rtol=1e-4)
    assert not compiled.fallback, compiled.explain()


def test_what_needs_an_ordinary_number_gets_it_and_one_capture_for_each():
    seen = []

    def program(x):
        names = {3: "three"}
        seen.append(names.get(x.shape[0], f"{x.shape[0]}"))
        return x * len(range(x.shape[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = torch.compile(program)
        for size in (3, 4, 5, 3, 6, 4):
            assert torch.equal(compiled(torch.ones(size)), torch.ones(size) * size)


def test_a_program_that_takes_sizes_for_plain_numbers_has_a_graph_for_each():
    compiled = torch.compile(lambda x: x * int(x.shape[0]))
    for size in range(2, 12):
        assert torch.equal(compiled(torch.ones(size)), torch.ones(size) * size)
    assert len(compiled.graphs) == 10
    assert "it takes size 0 of argument 0 for plain numbers" in compiled.explain()


def test_a_program_that_decides_in_many_ways_is_left_alone_after_some():
    def program(x):
        for bound in range(3, 60, 3):
            if x.shape[0] < bound:
                return x * bound
    compiled = torch.compile(program)
    with pytest.warns(Warning, match="decides by sizes in more than 8 ways"):
        for size in range(2, 40):
            assert torch.equal(compiled(torch.ones(size)), program(torch.ones(size)))
    assert sum(variant.sized is not None for variant in compiled.variants) == 8


def test_all_sizes_are_open_from_the_first_call_where_that_is_asked():
    compiled = torch.compile(lambda x, y: x.reshape(-1, x.shape[0]) @ y, dynamic=True)
    for rows, columns in ((3, 4), (5, 6), (7, 2)):
        x, y = torch.randn(rows, columns), torch.randn(rows, 3)
        torch.testing.assert_close(compiled(x, y), x.reshape(-1, rows) @ y)
    assert not compiled.retraces


def test_one_size_for_each_graph_where_that_is_asked():
    compiled = torch.compile(lambda x: x * x.shape[0], dynamic=False)
    for size in (3, 4, 5, 3):
        assert torch.equal(compiled(torch.ones(size)), torch.ones(size) * size)
    assert len(compiled.graphs) == 3


def test_marked_sizes_are_open_between_their_bounds():
    compiled = torch.compile(lambda x: x.cumsum(0) * x.shape[0])
    x = torch.randn(5, 3)
    torch._dynamo.mark_dynamic(x, 0, min=2, max=8)
    for size, captures in ((5, 0), (7, 0), (2, 0), (8, 0), (9, 1)):
        given = x if size == 5 else torch.randn(size, 3)
        torch.testing.assert_close(compiled(given), given.cumsum(0) * size)
        assert len(compiled.retraces) == captures, compiled.explain()
    with pytest.raises(IndexError, match="mark_dynamic"):
        torch._dynamo.mark_dynamic(x, 2)
    torch._dynamo.mark_static(x)
    fixed = torch.compile(lambda x: x * len(x))
    torch._dynamo.mark_dynamic(x, 0)
    with pytest.warns(Warning, match="marked as dynamic"):
        fixed(x)


def test_the_report_says_what_holds_and_where():
    compiled = torch.compile(lambda x: x[:4] if x.shape[0] > 5 else x)
    for size in (8, 9, 10):
        compiled(torch.ones(size, 3))
    assert "where size 0 of argument 0 > 5" in compiled.explain()
    assert "for all sizes of axis 0 of argument 0" in compiled.explain()


def test_hostile_calls_of_the_scribe_are_told():
    scribe = _C.Scribe()
    with pytest.raises(RuntimeError, match="no trace"):
        scribe.start()
    scribe.stop()
    for call in (lambda: scribe.combine("add", 0, 1), lambda: scribe.decide("eq", -1, 7), lambda: scribe.fix(3),
                 lambda: scribe.combine("xor", 0, 0)):
        with pytest.raises(ValueError, match="size"):
            call()
    one = scribe.constant(1)
    assert scribe.combine("add", one, one)[1] == 2
    for operation, other in (("floordiv", 0), ("pow", -1), ("mul", 2 ** 62)):
        with pytest.raises(ValueError):
            scribe.combine(operation, scribe.constant(2 ** 62), scribe.constant(other))
    with pytest.raises(RuntimeError):
        _C.finish_procedure(scribe, [torch.ones(3)]).run([torch.ones(2)], [])


def test_a_procedure_refuses_arguments_of_another_form():
    compiled = torch.compile(lambda x: x[:2] * x.shape[0])
    for size in (3, 4):
        compiled(torch.ones(size, 2))
    procedure = compiled.variants[0].sized.procedure
    for arguments, symbols in (([], []), ([torch.ones(3)], []), ([torch.ones(3, 2)], [1.0]), ([torch.ones(())], [])):
        with pytest.raises(ValueError):
            procedure.run(arguments, symbols)
        assert symbols or procedure.refusal(arguments)


def test_numbers_in_results_follow_sizes():
    def described(x):
        return x * 2, {"rows": x.shape[0], "half": x.shape[0] / 2}, x.shape[0] * x.shape[1] - 1
    compiled = dragon.function(described)
    for _ in range(2):
        for rows in (3, 5, 8, 4, 7):
            x = torch.ones(rows, 2)
            mine, wanted = compiled(x), described(x)
            assert torch.equal(mine[0], wanted[0]) and mine[1:] == wanted[1:]
            assert type(mine[2]) is int and type(mine[1]["half"]) is float
    assert len(compiled.variants) == 1
