"""Plans that are noted down as graphs of the device by themselves: results are those of the calls one by one."""
import gc
import os
import subprocess
import sys

import numpy
import pytest

from dragon.vm import torch as dt


def compiled(model, **options):
    """Return a compiled function or module whose plans are graphs of the device."""
    return dt.compile(model, **(options or {"mode": "reduce-overhead"}))


def plans(model):
    """Return what the plans of a compiled function tell: (captures, runs, refusal) of each."""
    function = model.__dict__.get("_compiled", model)
    programs = []
    for variant in function.variants:
        programs += [variant.compiled] if variant.compiled is not None else []
        if variant.sized is not None:
            programs += [program for program in variant.sized._plans.values() if program not in programs]
    return [plan.device_graphs for program in programs for plan in (program.forward, program.backward) if plan]


def mlp(dropout=0.0):
    dt.manual_seed(1)
    nn = dt.nn
    return nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(dropout), nn.Linear(16, 8), nn.LayerNorm(8),
                         nn.Linear(8, 3)).to("cuda")


def transformer(dropout=0.0):
    dt.manual_seed(1)
    layer = dt.nn.TransformerEncoderLayer(8, 2, 16, dropout=dropout, batch_first=True)
    return dt.nn.Sequential(layer, dt.nn.Linear(8, 3)).to("cuda")


def train(model, call, shape, steps=20, optimizer=dt.optim.Adam):
    """Return the losses of some steps; each has numbers of its own."""
    numbers = numpy.random.default_rng(5)
    update, losses = optimizer(model.parameters(), lr=0.01), []
    for _ in range(steps):
        x = dt.tensor(numbers.standard_normal(shape), dtype=dt.float32, device="cuda")
        loss = (call(x) - x[..., :3]).pow(2).mean()
        update.zero_grad()
        loss.backward()
        update.step()
        losses.append(loss)  # results of all runs are kept
    return [loss.item() for loss in losses]


@pytest.mark.parametrize("make, shape", [(mlp, (5, 6)), (transformer, (2, 4, 8))])
def test_training(device, make, shape):
    plain, model = make(), make()
    fast = compiled(model)
    numpy.testing.assert_allclose(train(model, fast, shape), train(plain, plain, shape), rtol=2e-4)
    told = plans(fast)
    assert len(told) == 2 and all(runs >= 15 and captures <= 3 and not refusal for captures, runs, refusal in told)


@pytest.mark.parametrize("options", [{"mode": "max-autotune"}, {"backend": "cudagraphs"},
                                     {"options": {"triton.cudagraphs": True}}])
def test_ways_to_ask(device, options):
    """Losses are those of the same plans call by call, to the bit."""
    model, other = mlp(), mlp()
    fast = compiled(model, **options)
    assert train(model, fast, (5, 6), 6) == train(other, dt.compile(other), (5, 6), 6)
    assert all(runs >= 2 and not refusal for _, runs, refusal in plans(fast))


def test_a_whole_step(device):
    """A step with its backward pass and its optimizer is one graph of the device."""
    import dragon
    losses = []
    for options in ({}, {"cuda_graphs": True}):
        model = mlp()
        optimizer = dt.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

        @dragon.function(**options)
        def step(x):
            optimizer.zero_grad()
            loss = (model(x) - 1).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss
        numbers = numpy.random.default_rng(3)
        losses.append([step(dt.tensor(numbers.standard_normal((4, 6)), dtype=dt.float32, device="cuda"))
                       for _ in range(12)])
    assert [loss.item() for loss in losses[0]] == [loss.item() for loss in losses[1]]
    told = plans(step)
    assert sum(runs for _, runs, _ in told) >= 6, told


def test_default_modes_are_no_graphs_of_the_device(device):
    for options in ({"mode": "default"}, {"mode": "max-autotune-no-cudagraphs"},
                    {"options": {"triton.cudagraphs": False}}, {"options": {"level": 2}}):
        fast = compiled(lambda x: x * 2 + 1, **options)
        for _ in range(4):
            fast(dt.ones(3, device="cuda"))
        assert plans(fast)[0] == (0, 0, "")


def test_dropout_in_training(device):
    """Masks are new in each run, and those of the same plan without graphs."""
    losses = []
    for options in ({}, {"mode": "reduce-overhead"}):
        model = mlp(0.5)
        dt.manual_seed(9)
        fast = dt.compile(model, **options)
        losses.append(train(model, fast, (5, 6), 8))
    assert losses[0] == losses[1]

    def drop(x):
        return dt.nn.functional.dropout(x * 1.0, 0.25)
    fast, x = compiled(drop), dt.ones(4000, device="cuda")
    masks = [(fast(x) != 0).tolist() for _ in range(10)]
    assert plans(fast)[0][1] >= 7
    assert numpy.all(numpy.abs(numpy.mean(masks, axis=1) - 0.75) < 0.05)
    assert len({tuple(mask) for mask in masks}) == 10


def test_a_generator_of_ones_own(device):
    own = dt.Generator("cuda")

    def draw(x):
        return dt.empty_like(x).normal_(generator=own) + x
    fast, x = compiled(draw), dt.zeros(50, device="cuda")
    own.manual_seed(4)
    wanted = [draw(x).tolist() for _ in range(6)]
    own.manual_seed(4)
    assert [fast(x).tolist() for _ in range(6)] == wanted
    assert plans(fast)[0][1] >= 3
    own.graphsafe_set_state(dt.Generator("cuda").manual_seed(8))  # the graph does not know it
    found = fast(x).tolist()
    own.manual_seed(8)
    assert found == draw(x).tolist()


def test_inputs_that_lie_elsewhere(device):
    """Numbers are those of the call's own arguments, whether they lie where they lay or not."""
    weight = dt.ones(4, device="cuda")
    fast = compiled(lambda x, y: (x + weight) * y)
    kept = []
    for step in range(12):
        x, y = dt.full((4,), float(step), device="cuda"), dt.full((4,), 2.0, device="cuda")
        kept.append(dt.empty(30 * step + 1, device="cuda"))  # what follows lies elsewhere
        if step == 6:
            weight.data = dt.full((4,), 5.0, device="cuda")  # a parameter at another address
        if step == 9:
            weight.fill_(7)
        kept.append((x, y))
        add = 1 if step < 6 else 5 if step < 9 else 7
        assert fast(x, y).tolist() == [2 * (step + add)] * 4
    captures, runs, refusal = plans(fast)[0]
    assert 2 <= captures <= 4 and runs >= 9 and not refusal


def test_inputs_that_are_written(device):
    """They are written where they lie; where that changes all the time, calls run one by one."""
    def step(x, total):
        total.add_(x)
        return total * 2
    fast, total = compiled(step), dt.zeros(3, device="cuda")
    for count in range(1, 8):
        assert fast(dt.ones(3, device="cuda"), total).tolist() == [2 * count] * 3
        assert total.tolist() == [count] * 3
    assert plans(fast)[0][1] >= 5
    totals = [dt.zeros(3, device="cuda") for _ in range(12)]
    for total in totals:
        assert fast(dt.ones(3, device="cuda"), total).tolist() == [2] * 3 and total.tolist() == [1] * 3
    assert "lie elsewhere all the time" in plans(fast)[0][2]


def test_shapes(device):
    """Each set of shapes is a graph of its own."""
    fast = compiled(lambda x: dt.relu(x) + 1)
    for _ in range(6):
        for size in (3, 5, 8):
            assert fast(dt.ones(size, device="cuda")).tolist() == [2] * size
    told = plans(fast)
    assert len(told) >= 2 and sum(runs for _, runs, _ in told) >= 6 and not any(refusal for *_, refusal in told)


def test_results_stay(device):
    """A result that is kept, or a view of one, has its numbers after later runs."""
    fast = compiled(lambda x: (x * 2, x.sum()))
    kept = []
    for step in range(8):
        double, total = fast(dt.full((2, 3), float(step), device="cuda"))
        kept.append((double.t()[1:], total))
        del double, total
        kept[-1][0].add_(1)
    for step, (part, total) in enumerate(kept):
        assert part.tolist() == [[2 * step + 1] * 2] * 2 and total.item() == 6 * step
    assert plans(fast)[0][1] >= 6


def test_a_result_that_is_the_next_argument(device):
    fast, h = compiled(lambda h: (h * 0.5 + 1).flip(0)), dt.arange(6.0, device="cuda")
    plain = h
    for _ in range(10):
        h, plain = fast(h), (plain * 0.5 + 1).flip(0)
        assert h.tolist() == plain.tolist()
    assert plans(fast)[0][1] >= 7


def test_a_result_that_is_lent(device):
    """What another library has the address of stays where it is."""
    fast, lent = compiled(lambda x: x * 2), []
    for step in range(6):
        y = fast(dt.full((3,), float(step), device="cuda"))
        if step in (3, 4):
            lent.append((y.data_ptr(), y.__dlpack__(), y, step))
    for place, _, y, step in lent:
        assert y.data_ptr() == place and y.tolist() == [2 * step] * 3


def test_accumulated_gradients(device):
    """Gradients that stay over several backward passes are added to."""
    model, plain = mlp(), mlp()
    fast = compiled(model)
    for step in range(6):
        x = dt.full((2, 6), float(step), device="cuda")
        for call in (fast, plain):
            call(x).sum().backward()
    for mine, theirs in zip(model.parameters(), plain.parameters()):
        numpy.testing.assert_allclose(mine.grad.cpu().numpy(), theirs.grad.cpu().numpy(), rtol=1e-4, atol=1e-4)


def test_two_runs_before_a_backward_pass(device):
    """What the first run keeps for its backward pass is not overwritten by the second."""
    weight = dt.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    fast = compiled(lambda x: dt.exp(x * weight).sum())
    for step in range(6):
        first, second = dt.tensor([0.1, 0.2], device="cuda"), dt.tensor([0.3 + step / 10, 0.5], device="cuda")
        a, b = fast(first), fast(second)
        weight.grad = None
        a.backward()
        wanted = first * dt.exp(first * weight.detach())
        numpy.testing.assert_allclose(weight.grad.cpu().numpy(), wanted.cpu().numpy(), rtol=1e-6)
        b.backward()
        wanted += second * dt.exp(second * weight.detach())
        numpy.testing.assert_allclose(weight.grad.cpu().numpy(), wanted.cpu().numpy(), rtol=1e-6)


REFUSED = {
    "nonzero": (lambda x: dt.nonzero(x).shape[0] * x, None),
    "unique": (lambda x: dt.unique(x), None),
    "cholesky": (lambda x: dt.linalg.cholesky(dt.diag(x)), "linalg|cholesky"),
    "a tensor of the CPU": (lambda x: x * 2 + dt.ones(()) * 3, None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_noted_down_runs_as_before(device, name, capfd):
    function, _ = REFUSED[name]
    fast = compiled(function)
    for step in range(1, 6):
        x = dt.full((3,), float(step), device="cuda")
        numpy.testing.assert_array_equal(fast(x).cpu().numpy(), function(x).cpu().numpy())
    told = [line for line in capfd.readouterr().err.splitlines() if "not as a CUDA graph" in line]
    assert len(told) == len(set(told)) <= 1


def test_an_argument_of_the_host(device, capfd):
    """A number of the host may be another in each call."""
    fast = compiled(lambda x, factor: x * factor)
    for step in range(5):
        assert fast(dt.ones(2, device="cuda"), dt.tensor(float(step))).tolist() == [step] * 2
    assert "reads a tensor of the CPU" in plans(fast)[0][2]
    assert capfd.readouterr().err.count("reads a tensor of the CPU") == 1


def test_numbers_of_the_host(device):
    """Numbers that a program takes from Python are in the graph, one for each, or it is not used."""
    class Scale(dt.nn.Module):
        factor = 1.0

        def forward(self, x):
            return x * self.factor + 1
    model = Scale()
    fast, x = compiled(model), dt.ones(2, device="cuda")
    for step in range(24):
        model.factor = float(step // 2)
        assert fast(x).tolist() == [step // 2 + 1] * 2


def test_an_error_while_noting(device, monkeypatch, capfd):
    """A capture that fails leaves everything usable: the call runs as before, and so do others' graphs."""
    from dragon import _C
    fast, x = compiled(lambda x: dt.unique(x + 1) * 2), dt.ones(3, device="cuda")
    for _ in range(5):
        assert fast(x).tolist() == [4.0]
    other = compiled(lambda x: dt.rand_like(x) + x)
    assert len({tuple(other(x).tolist()) for _ in range(6)}) == 6 and plans(other)[0][1] >= 3
    assert _C.is_capturing(0) is False and dt.cuda.current_stream() == dt.cuda.default_stream()
    fast(x)


def test_within_a_graph_of_the_programs_own(device):
    """A compiled function that is noted down by the program is part of the program's graph."""
    fast, x = compiled(lambda x: x * 3 + 1), dt.ones(4, device="cuda")
    for _ in range(4):
        fast(x)
    graph = dt.cuda.CUDAGraph()
    with dt.cuda.graph(graph):
        y = fast(x)
    x.fill_(2)
    graph.replay()
    assert y.tolist() == [7] * 4 and fast(x).tolist() == [7] * 4


def test_another_stream(device):
    fast, side = compiled(lambda x: x * 3 + 1), dt.cuda.Stream()
    for step in range(8):
        x = dt.full((4,), float(step), device="cuda")
        side.wait_stream(dt.cuda.current_stream())
        with dt.cuda.stream(side if step % 2 else dt.cuda.current_stream()):
            assert fast(x).tolist() == [3 * step + 1] * 4


def test_memory_goes_with_the_function(device):
    gc.collect()
    dt.cuda.empty_cache()
    before, reserved = dt.cuda.memory_allocated(), dt.cuda.memory_reserved()
    fast = compiled(lambda x: ((x[:9, :9] @ x[:9, :9]).relu(), x + 1))  # a small result, and a large one
    x = dt.ones(600, 600, device="cuda")
    for _ in range(5):
        first, second = fast(x)
    assert plans(fast)[0][1] >= 3 and dt.cuda.memory_allocated() > before
    kept = second
    del first, second, fast
    gc.collect()
    assert kept.sum().item() == 2 * 600 * 600  # what is out keeps its numbers
    del kept, x
    gc.collect()
    dt.cuda.empty_cache()
    assert dt.cuda.memory_allocated() == before and dt.cuda.memory_reserved() <= reserved


def test_switch(device, tmp_path):
    """DRAGON_CUDA_GRAPHS=1 has all plans be graphs, those of `dragon.function` too; 0 none."""
    program = """
import os
import dragon
if os.environ.get("DRAGON_SIMT"):
    dragon.load_library(os.environ["DRAGON_SIMT"])
from dragon.vm import torch
for options in ({}, {"cuda_graphs": True}):
    fast, x = dragon.function(lambda x: x * 2, **options), torch.ones(3, device="cuda")
    for _ in range(5):
        y = fast(x)
    print(fast.variants[0].compiled.forward.device_graphs[1], y.tolist())
"""
    for value, wanted in (("", "0 4"), ("0", "0 0"), ("1", "4 4")):
        environment = dict(os.environ, DRAGON_CUDA_GRAPHS=value)
        told = subprocess.run([sys.executable, "-c", program], env=environment, text=True, capture_output=True,
                              check=True, timeout=100, cwd=tmp_path).stdout.splitlines()
        assert [int(line.split()[0]) > 0 for line in told] == [int(count) > 0 for count in wanted.split()]
        assert all(line.endswith("[2.0, 2.0, 2.0]") for line in told)


def test_report(device):
    fast = compiled(lambda x: x * 2)
    for _ in range(5):
        fast(dt.ones(3, device="cuda"))
    assert "as a CUDA graph run" in str(fast.explain())
