"""Rows of the activations, against PyTorch's functional ones."""
from harness import FLOATING, INTEGER, Given, Row, Sample, Wrong

SHAPES = [Sample((3,)), Sample((2, 3, 4)), Sample((2, 0)), Sample(())]
ROUNDED = {"float64": (1e-7, 1e-8, "PyTorch rounds a constant of its gradient to single precision")}
SLOPE = "the order of its factors decides where it overflows"


def with_options(*options):
    """Return the shapes, and one more sample for each dictionary of options."""
    return SHAPES + [Sample((2, 3), **option) for option in options]


def elu(torch, x, alpha=1.0, scale=1.0, input_scale=1.0):
    """Return ATen's elu, which has more arguments than the functional one."""
    return torch.ops.aten.elu(x, alpha, scale, input_scale)


def broadcast_prelu(torch, x, weight):
    """Return prelu by its definition."""
    return torch.where(x > 0, x, weight * x)


ROWS = [
    *[Row(name, SHAPES) for name in "relu6 selu silu mish logsigmoid softsign tanhshrink".split()],
    Row("hardsigmoid", SHAPES, tolerance=ROUNDED),
    Row("hardswish", SHAPES, special="PyTorch's overflows for huge numbers"),
    Row("relu", SHAPES, dtypes=FLOATING + INTEGER),
    Row("leaky_relu", with_options({"negative_slope": 0.3}, {"negative_slope": -0.2})),
    Row("elu", with_options({"alpha": 0.4}, {"alpha": 1.5, "scale": 2.0, "input_scale": 0.5}), torch=elu),
    Row("celu", with_options({"alpha": 0.4}), tolerance=ROUNDED, errors=[Wrong((2,), alpha=0.0, says="alpha 0")]),
    Row("gelu", with_options({"approximate": "tanh"}), special="PyTorch's vector code gives NaN for infinity",
        errors=[Wrong((2,), approximate="erf", says="'erf'")]),
    Row("softplus", with_options({"beta": 2.0, "threshold": 0.5})),
    Row("hardtanh", with_options({"min_val": -0.5, "max_val": 0.25}), dtypes=FLOATING + INTEGER[:-1],
        errors=[Wrong((2,), min_val=1.0, max_val=0.0, says="min_val <= max_val")]),
    Row("hardshrink", with_options({"lambd": 0.2})),
    Row("softshrink", with_options({"lambd": 0.2}), special="signs of zero differ among PyTorch's dtypes",
        errors=[Wrong((2,), lambd=-1.0, says="-1")]),
    Row("threshold", [Sample((3,), 0.1, 20.0), Sample((2, 0), 0.1, 1.0)]),
    Row("prelu", [Sample((2, 3, 4), (3,)), Sample((5,), (1,)), Sample((4, 2), ()), Sample((2, 0), (1,))],
        errors=[Wrong((2, 3), (2,), says="(2,)")]),
    Row("broadcast_prelu", [Sample((2, 3), (3,)), Sample((2, 0), (1,))], torch=broadcast_prelu),
    Row("glu", [Sample((4,)), Sample((3, 6)), Sample((2, 3, 2), axis=0), Sample((0, 2))],
        errors=[Wrong((3,), says="size 3"), Wrong((4,), axis=1, error=IndexError, says="axis 1")]),
    Row("rrelu", [Sample((3, 4)), Sample((2, 0)), Sample((3, 4), 0.2, 0.2, True)],
        errors=[Wrong((3,), lower=0.5, upper=0.1, says="lower 0.5")]),
    Row("tanh_backward", [Sample((2, 3), (2, 3)), Sample((2, 0), (2, 0))], torch=lambda torch, dy, y: dy * (1 - y * y),
        special=SLOPE),
    Row("sigmoid_backward", [Sample((2, 3), (2, 3)), Sample(Given((2,)), (2,))],
        torch=lambda torch, dy, y: dy * (1 - y) * y, special=SLOPE),
]
