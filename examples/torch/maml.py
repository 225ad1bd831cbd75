"""Model-agnostic meta-learning of sine waves: the gradient of a training step."""
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def task():
    """Return a function that draws points of one sine wave."""
    height, phase = torch.rand(1) * 4 + 0.5, torch.rand(1) * math.pi

    def draw(count=10):
        x = torch.rand(count, 1) * 10 - 5
        return x, height * torch.sin(x + phase)
    return draw


def adapt(parameters, x, y, rate=0.02):
    """Return the parameters after one step of gradient descent, as a function of the parameters."""
    loss = nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)
    grads = torch.autograd.grad(loss, parameters.values(), create_graph=True)
    return {name: p - rate * grad for (name, p), grad in zip(parameters.items(), grads)}


for step in range(12):
    loss = 0.0
    for _ in range(4):
        draw = task()
        parameters = adapt(dict(model.named_parameters()), *draw())
        parameters = adapt(parameters, *draw())
        x, y = draw()
        loss = loss + nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item() / 4:.4f}")
