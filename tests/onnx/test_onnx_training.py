"""Training steps as ONNX models: the loss and new weights that ONNX Runtime computes are the program's."""
import numpy
import pytest

from dragon.vm import torch

runtime = pytest.importorskip("onnxruntime")
n = torch.nn


class Attended(n.Module):
    """Attention, and classes from its mean."""

    def __init__(self):
        super().__init__()
        self.attention, self.classes = n.MultiheadAttention(8, 2, batch_first=True), n.Linear(8, 3)

    def forward(self, x):
        return self.classes(self.attention(x, x, x)[0].mean(1))


class Remembered(n.Module):
    """Two steps of an LSTM's cell."""

    def __init__(self):
        super().__init__()
        self.cell, self.classes = n.LSTMCell(4, 5), n.Linear(5, 3)

    def forward(self, x):
        return self.classes(self.cell(x * 2, self.cell(x))[0])


class Step(n.Module):
    """One step of gradient descent."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        loss = n.functional.cross_entropy(self.net(x), y)
        weights = list(self.net.parameters())
        return loss.detach(), *[weight.detach() - 0.1 * slope for weight, slope in zip(
            weights, torch.autograd.grad(loss, weights))]


NETS = {
    "dense": lambda: (n.Sequential(n.Linear(4, 8), n.GELU(), n.Linear(8, 8), n.Tanh(), n.Linear(8, 3)), (5, 4)),
    "normalized": lambda: (n.Sequential(n.Linear(4, 8), n.SiLU(), n.LayerNorm(8), n.Linear(8, 8), n.Sigmoid(),
                                        n.Linear(8, 8), n.ELU(), n.Linear(8, 8), n.Softplus(), n.Linear(8, 8),
                                        n.ReLU6(), n.Linear(8, 8), n.GELU("tanh"), n.Linear(8, 3)), (5, 4)),
    "convolved": lambda: (n.Sequential(n.Conv2d(2, 4, 3, padding=1, stride=2), n.BatchNorm2d(4), n.ReLU(),
                                       n.MaxPool2d(2), n.Conv2d(4, 4, 1, groups=2), n.AvgPool2d(2), n.Flatten(),
                                       n.Linear(16, 3)), (5, 2, 16, 16)),
    "uneven": lambda: (n.Sequential(n.Conv2d(2, 4, 3, stride=2), n.ReLU(), n.MaxPool2d(3, 2, 1), n.AvgPool2d(2, 1),
                                    n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(4, 3)), (5, 2, 16, 16)),
    "attended": lambda: (Attended(), (5, 6, 8)),
    "remembered": lambda: (Remembered(), (5, 4)),
}


@pytest.mark.parametrize("name", list(NETS))
def test_a_step_gives_the_same_under_onnx_runtime(name, tmp_path):
    torch.manual_seed(0)
    net, shape = NETS[name]()
    step, arguments = Step(net), (torch.randn(shape), torch.arange(5) % 3)
    wanted = [value.detach().numpy().copy() for value in step(*arguments)]
    path = str(tmp_path / "step.onnx")
    torch.onnx.export(torch.export.export(step, arguments).module(), arguments, path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(None, {one.name: value.numpy() for one, value in zip(session.get_inputs(), arguments)})
    assert len(found) >= len(wanted)
    for one, other in zip(found, wanted):
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


class Followed(n.Module):
    """A batch's normalization, and the statistics that follow it."""

    def forward(self, x, mean, variance):
        mean, variance = mean.clone(), variance.clone()
        return n.functional.batch_norm(x, mean, variance, training=True, momentum=0.3), mean, variance


def test_running_statistics_are_those_of_the_program(tmp_path):
    torch.manual_seed(0)
    arguments = torch.randn(4, 3, 2), torch.randn(3), torch.rand(3) + 0.5
    wanted, path = Followed()(*arguments), str(tmp_path / "followed.onnx")
    torch.onnx.export(Followed().eval(), arguments, path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(None, {one.name: value.numpy() for one, value in zip(session.get_inputs(), arguments)})
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(one, other.numpy(), rtol=1e-5, atol=1e-6)
