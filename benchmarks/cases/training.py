"""Small training steps, where the framework's own time shows."""
import numpy as np

from harness import Case


def _mlp(e):
    """Return the step of a net 64-128-128-10 at batch 8: forward, backward, SGD."""
    rng = np.random.default_rng(0)
    x = e.array(rng.standard_normal((8, 64), dtype=np.float32))
    target = e.array(rng.integers(0, 10, 8))
    sizes = [64, 128, 128, 10]
    weights = [e.array(rng.standard_normal((n, m), dtype=np.float32) * np.float32(m ** -0.5), True)
               for m, n in zip(sizes, sizes[1:])]
    biases = [e.array(np.zeros(n, np.float32), True) for n in sizes[1:]]
    step, zero_grad = e.sgd(weights + biases, 0.01)
    linear, relu, cross_entropy = e.linear, e.relu, e.cross_entropy

    def call():
        zero_grad()
        h = relu(linear(x, weights[0], biases[0]))
        h = relu(linear(h, weights[1], biases[1]))
        cross_entropy(linear(h, weights[2], biases[2]), target).backward()
        step()
    return call


def _adamw(e):
    """Return the AdamW step of 50 tensors of 1,000 numbers."""
    rng = np.random.default_rng(0)
    parameters = [e.array(rng.standard_normal(1000, dtype=np.float32), True) for _ in range(50)]
    for parameter in parameters:
        parameter.grad = e.array(rng.standard_normal(1000, dtype=np.float32))
    return e.adamw(parameters)


CASES = [
    Case("3-layer MLP, batch 8: forward, backward, SGD step", _mlp, "≤ 0.5 × PyTorch"),
    Case("AdamW over 50 tensors of 1,000", _adamw, "≤ 0.1 × PyTorch"),
]
