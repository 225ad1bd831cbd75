"""A call captured at one size is one graph for many sizes, which is saved and runs without Python."""
import pathlib
import subprocess

import numpy
import pytest

import dragon
from dragon import _C
from dragon.vm import torch
from dragon.vm.torch import nn


PROGRAM = pathlib.Path(dragon.__file__).resolve().parent / "lib" / "dragon_run"


def traced(function, *examples):
    """Return the graph of a call, as `torch.jit.trace` makes it."""
    return torch.jit.trace(function, examples, check_trace=False)


def graph_of(module):
    """Return the graph that goes into the file."""
    return module._capture()[0]


def make_net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(4, 10)).eval()


class Scores(nn.Module):
    """Two arguments whose lengths are one."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)

    def forward(self, ids, mask):
        x = self.embed(ids)
        return torch.softmax((x @ x.transpose(1, 2)).masked_fill(mask[:, None], -1e9), -1) @ x


def check(module, graph, path, *arguments):
    """Run a saved graph without Python at these arguments' sizes, and hold it to the call."""
    files = [path / f"{number}.npy" for number in range(len(arguments))]
    for file, argument in zip(files, arguments):
        numpy.save(file, argument.numpy())
    numpy.save(path / "wanted.npy", module(*arguments).detach().numpy())
    words = ["--inputs", ",".join(map(str, files)), "--reference", path / "wanted.npy", "--tolerance", "1e-5"]
    done = subprocess.run([PROGRAM, graph, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("function, shapes, symbols", [
    (lambda x: x.reshape(x.shape[0] * 2, 3), [(8, 6)], ["batch"]),
    (lambda x: x.relu() + 1, [(8, 6)], ["batch", "size1_of_input0"]),
    (lambda x, y: x @ y, [(8, 6), (6, 5)], ["batch", "size1_of_input0", "size1_of_input1"]),
    (lambda x: x[:, 1:-1] * 2, [(8, 6)], ["batch", "size1_of_input0"]),
    (lambda x, y: torch.cat([x, y], 1), [(8, 6), (8, 6)], ["batch", "size1_of_input0", "size1_of_input1"])])
def test_the_graph_tells_which_sizes_are_open(function, shapes, symbols):
    assert list(graph_of(traced(function, *[torch.randn(shape) for shape in shapes])).symbols) == symbols


@pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no dragon_run")
def test_a_net_at_other_batches_heights_and_widths(tmp_path):
    net = make_net()
    module = traced(net, torch.randn(8, 1, 16, 12))
    assert list(graph_of(module).symbols) == ["batch", "size2_of_input0", "size3_of_input0"]
    module.save(tmp_path / "net.dragon")
    for shape in ((1, 1, 5, 5), (3, 1, 31, 7), (64, 1, 16, 12), (2, 1, 3, 40)):
        check(net, tmp_path / "net.dragon", tmp_path, torch.randn(shape))


@pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no dragon_run")
def test_lengths_that_are_one_are_one_symbol(tmp_path):
    torch.manual_seed(0)
    net = Scores().eval()
    mask = torch.zeros(3, 6, dtype=torch.bool)
    module = traced(net, torch.randint(0, 20, (3, 6)), mask)
    assert list(graph_of(module).symbols) == ["batch", "size1_of_input0"]
    module.save(tmp_path / "net.dragon")
    for batch, length in ((1, 2), (2, 9), (5, 33)):
        mask = torch.arange(length).expand(batch, length) > length // 2
        check(net, tmp_path / "net.dragon", tmp_path, torch.randint(0, 20, (batch, length)), mask)
    loaded = torch.jit.load(tmp_path / "net.dragon")
    ids = torch.randint(0, 20, (4, 7))
    assert torch.allclose(loaded(ids, ids > 9), net(ids, ids > 9), atol=1e-6)


@pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no dragon_run")
def test_sizes_whose_product_is_needed_are_open(tmp_path):
    net = nn.MultiheadAttention(8, 2, batch_first=True).eval()

    def attend(x):
        return net(x, x, x)[0]
    module = traced(attend, torch.randn(3, 6, 8))
    assert list(graph_of(module).symbols) == ["batch", "size1_of_input0"]
    module.save(tmp_path / "net.dragon")
    for batch, length in ((1, 2), (2, 9), (5, 33)):
        check(attend, tmp_path / "net.dragon", tmp_path, torch.randn(batch, length, 8))


def test_captures_of_other_calls_have_no_graph_in_common():
    found = []
    for size in (4, 5, 9):
        trace, x = _C.Trace(), torch.zeros(size, 6)
        trace.add_input(x)
        trace.start()
        result = x * 2 if size > 4 else x + 1
        trace.stop()
        found.append((trace.finish([result]), [size]))
    with pytest.raises(ValueError, match="that changes with sizes"):
        _C.unify(found, ["batch"])
    for samples, symbols in ((found[:2], ["batch"]), (found, []), (found, ["batch", "length"]),
                             ([(item, [4]) for item, _ in found], ["batch"])):
        with pytest.raises(ValueError, match="sizes: got"):
            _C.unify(samples, symbols)


def test_one_graph_of_a_whole_step_serves_all_sizes():
    """With a schedule on, gradients that come and go, and a short last batch."""
    def train(wrap):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(10, 32), nn.Dropout(0.2), nn.ReLU(), nn.Linear(32, 3))
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step, losses = wrap(step), []
        for size in (16, 16, 16, 16, 7, 5, 16, 9, 3, 12, 16, 2):
            losses.append(step(torch.randn(size, 10), torch.randint(0, 3, (size,))).item())
            schedule.step()
        return step, losses, [parameter.grad.clone() for parameter in net.parameters()]

    step, losses, grads = train(torch.compile)
    _, wanted, wanted_grads = train(lambda function: function)
    assert losses == wanted
    assert all(map(torch.equal, grads, wanted_grads))
    assert "1 graphs" in step.explain()
