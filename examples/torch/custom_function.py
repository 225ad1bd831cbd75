"""A function with a gradient of its own: Legendre polynomials that learn to be a sine."""
import math

import torch
from torch.autograd import gradcheck


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (5 * x ** 3 - 3 * x)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * 1.5 * (5 * x ** 2 - 1)


class StraightThrough(torch.autograd.Function):
    """Round in the forward pass, pass the gradient on unchanged."""

    @staticmethod
    def forward(ctx, x, step):
        ctx.mark_non_differentiable()
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, grad):
        return grad, None


x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
a, b, c, d = (torch.full((), value, requires_grad=True) for value in (0.0, -1.0, 0.0, 0.3))
for step in range(60):
    prediction = a + b * LegendrePolynomial3.apply(c + d * x)
    loss = (prediction - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= 2e-5 * p.grad
            p.grad = None
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"a {a.item():.5f} b {b.item():.5f} c {c.item():.5f} d {d.item():.5f}")
w = torch.tensor([0.3, 1.7], requires_grad=True)
(StraightThrough.apply(w, 0.5) ** 2).sum().backward()
print("rounded gradient", w.grad.tolist())
print("gradcheck", gradcheck(LegendrePolynomial3.apply, (torch.rand(4, dtype=torch.double, requires_grad=True),)))
