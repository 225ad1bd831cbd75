"""The convolutions of ResNet-50 at batch 8: forward, by the input, by the weights; each as often as the net has it."""
import numpy as np

from harness import Case

BATCH = 8
# in, out, kernel, stride, input size, times in the net
SHAPES = [
    (3, 64, 7, 2, 224, 1), (64, 64, 1, 1, 56, 1), (64, 64, 3, 1, 56, 3), (64, 256, 1, 1, 56, 4), (256, 64, 1, 1, 56, 2),
    (256, 128, 1, 1, 56, 1), (128, 128, 3, 2, 56, 1), (128, 512, 1, 1, 28, 4), (256, 512, 1, 2, 56, 1),
    (512, 128, 1, 1, 28, 3), (128, 128, 3, 1, 28, 3), (512, 256, 1, 1, 28, 1), (256, 256, 3, 2, 28, 1),
    (256, 1024, 1, 1, 14, 6), (512, 1024, 1, 2, 28, 1), (1024, 256, 1, 1, 14, 5), (256, 256, 3, 1, 14, 5),
    (1024, 512, 1, 1, 14, 1), (512, 512, 3, 2, 14, 1), (512, 2048, 1, 1, 7, 3), (1024, 2048, 1, 2, 14, 1),
    (2048, 512, 1, 1, 7, 2), (512, 512, 3, 1, 7, 2),
]


def _prepare(e, shape, grads):
    inner, outer, kernel, stride, size, _ = shape
    rng = np.random.default_rng(0)
    x = e.array(rng.standard_normal((BATCH, inner, size, size), dtype=np.float32), "x" in grads)
    scale = np.float32(1 / np.sqrt(inner * kernel * kernel))
    weight = e.array(rng.standard_normal((outer, inner, kernel, kernel), dtype=np.float32) * scale, "w" in grads)
    return x, weight, (None, stride, kernel // 2, 1, 1)


def _count(shape):
    inner, outer, kernel, stride, size, _ = shape
    side = (size + 2 * (kernel // 2) - kernel) // stride + 1
    return 2 * BATCH * outer * inner * kernel * kernel * side * side


def _name(shape):
    inner, outer, kernel, stride, size, _ = shape
    return f"{kernel} × {kernel}{', stride 2' if stride == 2 else ''}, {inner} → {outer}, {size}²"


def _forward(shape):
    def make(e):
        x, weight, options = _prepare(e, shape, "")
        return lambda conv2d=e.conv2d: conv2d(x, weight, *options)
    aim = "≤ 1.18 × limit" if shape[2] == 3 else ""
    return Case(f"forward, {_name(shape)}", make, aim, _count(shape))


def _backward(shape, by):
    """The backward pass alone: the graph is kept, so that one forward serves all calls."""
    def make(e):
        x, weight, options = _prepare(e, shape, by)
        y = e.conv2d(x, weight, *options)
        dy = e.array(np.random.default_rng(1).standard_normal(tuple(y.shape), dtype=np.float32))
        leaf = x if by == "x" else weight

        def call():
            y.backward(dy, retain_graph=True)
            leaf.grad = None
        return call
    return Case(f"by {'the input' if by == 'x' else 'the weights'}, {_name(shape)}", make, "", _count(shape))


CASES = [_forward(shape) for shape in SHAPES]
CASES += [_backward(shape, "x") for shape in SHAPES[1:]]  # nobody needs the gradient of the picture
CASES += [_backward(shape, "w") for shape in SHAPES]
# How often the net has each case: the weights of the total.
WEIGHTS = [shape[-1] for shape in SHAPES] + [shape[-1] for shape in SHAPES[1:]] + [shape[-1] for shape in SHAPES]
TOTAL_AIM = "≤ 0.67 × PyTorch"
