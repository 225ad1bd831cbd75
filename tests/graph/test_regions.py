"""What a function calls that is left to Python: its modules are graphs of their own, and all is as without them."""
import copy
import pickle
import threading
import warnings

import pytest

from dragon.core import modes
from dragon.core.capture.settings import CaptureWarning
from dragon.vm import torch
from dragon.vm.torch import nn

pytestmark = pytest.mark.filterwarnings("ignore::dragon.core.capture.settings.CaptureWarning")


class Block(nn.Module):
    """A module of enough operators to be a graph, random numbers among them."""

    def __init__(self, width=6, drop=0.0, norm=nn.LayerNorm):
        super().__init__()
        self.norms = nn.ModuleList(norm(width) for _ in range(2))
        self.first, self.second, self.drop = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(drop)

    def forward(self, x):
        """Call the layers, with some arithmetic between them."""
        for norm in self.norms:
            y = self.second(torch.tanh(self.first(norm(x))) * 2 + 1)
            x = x + self.drop(y).sigmoid() * 0.5 - y.mean(1, keepdim=True)
        return x


class Net(nn.Module):
    """A module that counts its calls, which is no graph."""

    def __init__(self, depth=2, drop=0.0):
        super().__init__()
        self.blocks, self.calls = nn.ModuleList(Block(drop=drop) for _ in range(depth)), 0

    def forward(self, x):
        """Call the blocks."""
        self.calls += 1
        for block in self.blocks:
            x = block(x)
        return x


def regions_of(compiled):
    """Return the regions that are graphs."""
    function = compiled.__dict__.get("_compiled", compiled)
    return [region for region in function.regions.functions.values() if region.variants]


def twins(drop=0.0, **options):
    """Return a compiled module and an eager one of the same numbers."""
    torch.manual_seed(1)
    net = Net(drop=drop)
    return torch.compile(net, **options), copy.deepcopy(net)


def test_modules_of_what_is_left_to_python_are_graphs():
    compiled, eager = twins()
    for number in range(8):
        x = torch.randn(4 + number % 3, 6, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        for net, given in ((compiled, x), (eager, y)):
            net.zero_grad()
            net(given).square().sum().backward()
        assert torch.allclose(x.grad, y.grad, 1e-4, 1e-5)
        for mine, theirs in zip(compiled.parameters(), eager.parameters()):
            assert torch.allclose(mine.grad, theirs.grad, 1e-4, 1e-4)
        for mine, theirs in zip(compiled.buffers(), eager.buffers()):
            assert torch.allclose(mine, theirs, 1e-5, 1e-6)
    assert compiled._orig_mod.calls == 8 and len(regions_of(compiled)) == 2
    told = compiled.explain()
    assert f"region self.blocks.0 ({__file__}:" in told and "each call changes self.calls" in told


def test_random_numbers_are_those_of_plain_calls():
    compiled, eager = twins(drop=0.5)
    x, results = torch.randn(5, 6), []
    for net in (compiled, eager):
        torch.manual_seed(3)
        results.append([net(x).detach() for _ in range(7)] + [torch.rand(3)])
    assert all(torch.allclose(mine, theirs, 1e-5, 1e-6) for mine, theirs in zip(*results)) and regions_of(compiled)


def test_modes_hooks_and_switches_are_looked_at():
    compiled, eager = twins(drop=0.5)
    x, seen = torch.randn(5, 6), []

    def run(net):
        for _ in range(6):
            net(x)
        net.eval()
        found = [net(x) for _ in range(3)]
        handle = net.blocks[1].register_forward_hook(lambda module, args, output: (seen.append(1), output * 2)[1])
        found += [net(x) for _ in range(5)]
        handle.remove()
        with torch.no_grad():
            found += [net(x) for _ in range(3)]
        assert not found[-1].requires_grad and found[0].requires_grad
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found += [net(x) for _ in range(3)]
        return found
    found = []
    for net in (compiled, eager):
        torch.manual_seed(3)
        found.append(run(net))
    assert len(seen) == 10
    for mine, theirs in zip(*found):
        assert mine.dtype == theirs.dtype and torch.allclose(mine, theirs, 2e-2, 2e-2)


def test_gradients_of_gradients():
    compiled, eager = twins()
    x = torch.randn(4, 6)
    for _ in range(6):
        found = []
        for net in (compiled, eager):
            given = x.clone().requires_grad_()
            grad, = torch.autograd.grad(net(given).square().sum(), given, create_graph=True)
            grad.square().sum().backward()
            found.append(given.grad)
        assert torch.allclose(*found, 1e-3, 1e-4)
    assert regions_of(compiled)


class Normed(nn.Module):
    """A module that counts its calls around blocks that write running statistics."""

    def __init__(self):
        super().__init__()
        self.blocks, self.calls = nn.ModuleList(Block(norm=nn.BatchNorm1d) for _ in range(2)), 0

    forward = Net.forward


def penalised(model, create_graph):
    """Return the gradient of a training step, running statistics, and the gradients of the gradient where wanted."""
    model.zero_grad()
    given = torch.linspace(-1, 1, 24).reshape(4, 6).requires_grad_()
    grad, = torch.autograd.grad(model(given).square().sum(), given, create_graph=create_graph)
    if create_graph:
        grad.square().sum().backward()
    return [grad.detach(), *[buffer.clone() for buffer in model.buffers()],
            *[parameter.grad for parameter in model.parameters() if parameter.grad is not None]]


@pytest.fixture
def nobody_has_asked():
    """Have this process not have asked for gradients of gradients."""
    before = modes.set_second_gradients_wanted(False)
    yield
    modes.set_second_gradients_wanted(before)


@pytest.mark.usefixtures("nobody_has_asked")
@pytest.mark.parametrize("first", [0, 6, 20])
def test_running_statistics_and_gradients_of_gradients(first):
    net = Normed()
    twin, compiled = copy.deepcopy(net), torch.compile(net)
    for number in range(9):
        if number == 6:
            assert len(regions_of(compiled)) == (0 if first == 0 else 2)
        if number == first != 0:  # the step that asks for it first has graphs already
            with pytest.raises(NotImplementedError, match="it writes tensors that were there before"):
                penalised(compiled, True)
            penalised(twin, True)
            continue
        mine, theirs = (penalised(model, number >= first) for model in (compiled, twin))
        assert all(torch.allclose(one, other, 1e-3, 1e-4) for one, other in zip(mine, theirs))
    assert len(regions_of(compiled)) == (2 if first == 20 else 0)
    compiled.eval()
    with torch.no_grad():
        for _ in range(3):
            given = torch.linspace(-1, 1, 24).reshape(4, 6)
            assert torch.allclose(compiled(given), twin.eval()(given), 1e-4, 1e-5)


def test_a_training_step_that_prints():
    def losses(wrap):
        torch.manual_seed(0)
        net, steps, said = Net(), [], []
        optimizer = torch.optim.SGD(net.parameters(), 0.05)

        def step(net, x):
            optimizer.zero_grad()
            loss = net.blocks[1](net.blocks[0](x)).square().mean()
            loss.backward()
            optimizer.step()
            said.append(f"{loss.item():.4f}")
            steps.append(len(steps))
        step = wrap(step)
        for _ in range(8):
            step(net, torch.randn(5, 6))
        return said, step
    said, step = losses(torch.compile)
    assert said == losses(lambda step: step)[0] and len(regions_of(step)) == 2 and "region Block (" in step.explain()


def test_parts_that_are_no_graphs_have_regions_of_their_own():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.count = Net(), 0

        def forward(self, x):
            self.count += 1
            return self.inner(x)
    net = Outer()
    compiled = torch.compile(net)
    for _ in range(9):
        assert torch.allclose(compiled(torch.ones(3, 6)), copy.deepcopy(net)(torch.ones(3, 6)), 1e-5, 1e-6)
    inner, = compiled.__dict__["_compiled"].regions.functions.values()
    assert net.inner.calls == net.count == 9 and not inner.variants and len(regions_of(inner)) == 2
    assert "    region self.blocks.1" in compiled.explain()


def test_modules_that_call_themselves():
    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.block, self.calls = Block(), 0

        def forward(self, x, depth):
            self.calls += 1
            return self.block(x) if depth == 0 else self(self(x, depth - 1), depth - 1)
    tree = Tree().eval()
    twin, compiled = copy.deepcopy(tree), torch.compile(tree)
    for _ in range(8):
        assert torch.allclose(compiled(torch.ones(2, 6), 3), twin(torch.ones(2, 6), 3), 1e-4, 1e-5)
    assert tree.calls == twin.calls and len(regions_of(compiled)) == 1


def test_small_modules_and_modules_of_one_call_stay_plain():
    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.calls = nn.Linear(6, 6), 0

        def forward(self, x):
            self.calls += 1
            return nn.ReLU()(self.layer(x)) + nn.Sequential(Block(), Block()).eval()(x).detach() * 0
    compiled = torch.compile(Small())
    for _ in range(20):
        compiled(torch.ones(2, 6))
    function = compiled.__dict__["_compiled"]
    assert not function.regions.functions and "1 regions are too small" in compiled.explain()
    assert function.regions.is_barren


def test_errors_leave_nothing_behind():
    class Picky(Block):
        def forward(self, x):
            if x.shape[0] == 3:
                raise ValueError("three")
            return super().forward(x)

    class Around(Net):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Picky(), Picky()])
    compiled = torch.compile(Around().eval())
    for rows in (2, 3, 2, 2, 3, 2, 2, 3, 4, 3, 2):
        if rows == 3:
            with pytest.raises(ValueError, match="three"):
                compiled(torch.ones(rows, 6))
        else:
            compiled(torch.ones(rows, 6))
    from dragon.core.capture import regions
    assert not regions.PLAIN_RUNS and regions._local.regions is None
    assert len(regions_of(compiled)) == 2


def test_threads():
    compiled, eager = twins()
    compiled.eval(), eager.eval()
    failed = []

    def run(seed):
        for number in range(10):
            x = torch.full((2 + (seed + number) % 3, 6), float(seed))
            if not torch.allclose(compiled(x), eager(x), 1e-4, 1e-5):
                failed.append(seed)
    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_who_looks_at_each_operator_sees_it():
    compiled, _ = twins()
    x = torch.randn(4, 6, requires_grad=True)
    for _ in range(6):
        compiled(x)
    net, kept, seen = compiled._orig_mod, [], []

    class Look(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.calls = net, 0

        def forward(self, x):
            self.calls += 1
            if self.calls % 2:
                with Look():
                    return self.net(x)
            with torch.autograd.graph.saved_tensors_hooks(lambda tensor: (kept.append(1), tensor)[1], lambda x: x):
                return self.net(x)
    outer = torch.compile(Outer())
    for _ in range(10):
        before = len(seen) + len(kept)
        outer(x).sum().backward()
        assert len(seen) + len(kept) > before + 20


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints(reentrant):
    class Saving(Net):
        def forward(self, x):
            self.calls += 1
            for block in self.blocks:
                x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=reentrant)
            return x
    torch.manual_seed(0)
    net = Saving(drop=0.3)
    twin, compiled, found = copy.deepcopy(net), torch.compile(net), []
    for model in (compiled, twin):
        torch.manual_seed(5)
        for _ in range(7):
            model(torch.ones(3, 6, requires_grad=True)).square().sum().backward()
        found.append([parameter.grad for parameter in model.parameters()])
    assert all(torch.allclose(mine, theirs, 1e-3, 1e-4) for mine, theirs in zip(*found))


def test_what_is_disabled_stays_plain():
    class Marked(Net):
        @torch.compiler.disable
        def forward(self, x):
            return super().forward(x)

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.calls = Marked(), 0

        def forward(self, x):
            self.calls += 1
            return self.net(x)
    compiled = torch.compile(Around().eval())
    for _ in range(10):
        compiled(torch.ones(2, 6))
    assert not any(region.regions and region.regions.functions
                   for region in compiled.__dict__["_compiled"].regions.functions.values())


def test_strict_reset_copies_and_pickles():
    with pytest.raises(RuntimeError, match="self.calls"):
        strict, _ = twins(fullgraph=True)
        for _ in range(4):
            strict(torch.ones(2, 6))
    compiled, _ = twins()
    compiled.eval()
    x = torch.ones(2, 6)
    for _ in range(6):
        wanted = compiled(x)
    assert regions_of(compiled)
    for other in (copy.deepcopy(compiled), torch.compile(pickle.loads(pickle.dumps(compiled._orig_mod)))):
        assert torch.equal(other(x), wanted) or torch.allclose(other(x), wanted, 1e-5, 1e-6)
    torch.compiler.reset()
    assert compiled.__dict__["_compiled"].regions is None
    assert torch.allclose(compiled(x), wanted, 1e-5, 1e-6)
    with torch.compiler.set_stance("force_eager"):
        assert torch.allclose(compiled(x), wanted, 1e-5, 1e-6)


def test_one_warning_for_all():
    compiled, _ = twins()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(8):
            compiled(torch.ones(2, 6))
    assert len([one for one in seen if issubclass(one.category, CaptureWarning)]) == 1


def test_modules_that_always_change_are_left_alone():
    class Stepping(Net):
        def forward(self, x):
            self.calls += 1
            for block in self.blocks:
                block.step = self.calls
                x = block(x)
            return x

    class Stepped(Block):
        step = 0

        def forward(self, x):
            return super().forward(x) * self.step
    net = Stepping()
    net.blocks = nn.ModuleList([Stepped(), Stepped()])
    compiled = torch.compile(net.eval())
    twin = copy.deepcopy(net)
    for _ in range(30):
        assert torch.allclose(compiled(torch.ones(2, 6)), twin(torch.ones(2, 6)), 1e-4, 1e-5)
    for region in compiled.__dict__["_compiled"].regions.functions.values():
        assert len(region.retraces) < 8 and len(region.variants) == 8
