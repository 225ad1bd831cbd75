"""Rows of convolutions."""
from harness import INEXACT, Row, Sample, Wrong

LOOSE = {"float16": (1e-2, 2e-2, "sums of products of rounded numbers"),
         "bfloat16": (5e-2, 1e-1, "sums of products of rounded numbers"),
         "float32": (3e-5, 3e-5, "sums of products"), "complex64": (3e-5, 3e-5, "sums of products")}

CONV = {
    1: [Sample((2, 3, 9), (4, 3, 3), (4,)), Sample((2, 4, 9), (6, 2, 3), stride=2, padding=1, groups=2),
        Sample((3, 9), (4, 3, 2), (4,), dilation=3), Sample((0, 3, 9), (4, 3, 3), (4,))],
    2: [Sample((2, 3, 7, 8), (4, 3, 3, 3), (4,)), Sample((2, 16, 6, 6), (16, 16, 3, 3), (16,), padding=1),
        Sample((1, 4, 7, 8), (4, 1, 3, 2), stride=[2, 1], padding=[1, 0], groups=4),
        Sample((2, 3, 9, 9), (2, 3, 3, 3), dilation=[2, 1], padding=2), Sample((3, 7, 8), (4, 3, 1, 1), (4,)),
        Sample((2, 4, 5, 6), (6, 2, 2, 3), (6,), stride=3, groups=2), Sample((0, 3, 7, 8), (4, 3, 3, 3))],
    3: [Sample((1, 2, 4, 5, 6), (3, 2, 2, 2, 3), (3,)),
        Sample((2, 2, 5, 5, 5), (4, 1, 3, 3, 3), stride=2, padding=1, groups=2)],
}
TRANSPOSED = {
    1: [Sample((2, 3, 5), (3, 4, 3), (4,)),
        Sample((2, 4, 5), (4, 3, 3), stride=2, padding=1, output_padding=1, groups=2),
        Sample((3, 5), (3, 4, 2), (4,), dilation=3)],
    2: [Sample((2, 3, 4, 5), (3, 4, 3, 3), (4,)), Sample((2, 16, 4, 4), (16, 8, 4, 4), (8,), stride=2, padding=1),
        Sample((1, 4, 4, 5), (4, 1, 3, 2), stride=[2, 3], padding=[1, 0], output_padding=[1, 2], groups=4),
        Sample((1, 2, 3, 3), (2, 3, 2, 2), dilation=3, output_padding=2)],
    3: [Sample((1, 2, 3, 4, 3), (2, 3, 2, 2, 3), (3,), stride=2)],
}


def functional(name):
    """Return an oracle that calls a function of torch.nn.functional."""
    return lambda torch, *args, **kwargs: getattr(torch.nn.functional, name)(*args, **kwargs)


def asymmetric(torch, x, weight, bias=None, padding=0, padding_after=0):
    """Return PyTorch's convolution of an input padded by hand."""
    return torch.nn.functional.conv2d(torch.nn.functional.pad(x, (padding, padding_after) * 2), weight, bias)


ROWS = [
    Row("conv", [Sample((2, 3, 6, 7), (4, 3, 2, 2), (4,), padding=0, padding_after=1)], torch=asymmetric,
        tolerance=LOOSE),
    Row("conv_transpose", TRANSPOSED[2], torch=functional("conv_transpose2d"), tolerance=LOOSE),
] + [
    Row(f"conv{n}d", CONV[n], torch=functional(f"conv{n}d"), dtypes=INEXACT, tolerance=LOOSE, errors=[
        Wrong((2, 3) + (5,) * n, (4, 2) + (2,) * n, says="weight"),
        Wrong((2, 3) + (5,) * n, (4, 3) + (6,) * n, says="window"),
        Wrong((2, 3) + (5,) * n, (4, 3) + (2,) * n, stride=0, says="stride"),
        Wrong((2, 3) + (5,) * n, (4, 3) + (2,) * n, (5,), says="bias")])
    for n in (1, 2, 3)
] + [
    Row(f"conv_transpose{n}d", TRANSPOSED[n], torch=functional(f"conv_transpose{n}d"), dtypes=INEXACT, tolerance=LOOSE,
        errors=[Wrong((2, 3) + (5,) * n, (3, 4) + (2,) * n, output_padding=1, says="output_padding")])
    for n in (1, 2, 3)
]
