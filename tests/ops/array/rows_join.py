"""Rows of what joins, repeats, pads and lays out tensors."""
from harness import ALL, COMPLEX, SINGLES, Row, Sample, Wrong

QUICK = ("float32", "float64", "float16", "int64", "complex64", "bool")


def pad_oracle(torch, x, pad, mode="constant", value=None):
    """PyTorch pads a limited choice of ranks in the other modes; indices serve any."""
    if mode == "constant":
        return torch.nn.functional.pad(x, pad, mode, 0 if value is None else value)
    for n in range(len(pad) // 2):
        axis, before, after = x.ndim - 1 - n, pad[2 * n], pad[2 * n + 1]
        x = x.narrow(axis, max(-before, 0), x.shape[axis] - max(-before, 0) - max(-after, 0))
        size = x.shape[axis]
        places = torch.arange(-max(before, 0), size + max(after, 0))
        if mode == "circular":
            places = places % size
        elif mode == "replicate":
            places = places.clamp(0, size - 1)
        else:
            places = torch.where(places < 0, -places, torch.where(places >= size, 2 * (size - 1) - places, places))
        x = x.index_select(axis, places)
    return x


ROWS = [
    Row("cat", [Sample([(2, 3), (4, 3)]), Sample([(2, 3), (2, 1), (2, 2)], 1), Sample([(2, 3)], -1),
                Sample([(0,), (2, 3)]), Sample([(2, 0), (2, 3)], 1), Sample([(0,), (0,)])],
        dtypes=ALL, torch=lambda torch, xs, axis=0: torch.cat(xs, axis),
        errors=[Wrong([(2, 3), (4, 2)], says=["(2, 3)", "(4, 2)", "axis 0"]), Wrong([()], says="0-d"),
                Wrong([], says="no tensors"), Wrong([(2,)], 1, error=IndexError)]),
    Row("stack", [Sample([(2, 3), (2, 3)]), Sample([(2, 3), (2, 3)], -1), Sample([(), ()]), Sample([(0,), (0,)], 1)],
        dtypes=QUICK, torch=lambda torch, xs, axis=0: torch.stack(xs, axis),
        errors=[Wrong([(2,), (3,)], says="one shape"), Wrong([], says="no tensors")]),
    Row("hstack", [Sample([(2, 3), (2, 1)]), Sample([(2,), (3,)]), Sample([(), ()])], errors=[Wrong([])]),
    Row("vstack", [Sample([(2, 3), (1, 3)]), Sample([(3,), (3,)])]),
    Row("dstack", [Sample([(2, 3), (2, 3)]), Sample([(3,), (3,)])]),
    Row("column_stack", [Sample([(3,), (3, 2)]), Sample([(), ()])]),
    Row("block_diag", [Sample([(2, 3), (1,), ()]), Sample([(2, 2)])],
        torch=lambda torch, xs: torch.block_diag(*xs), errors=[Wrong([(2, 3, 4)])]),
    Row("repeat", [Sample((2, 3), [2, 2]), Sample((2, 3), [2, 1, 0]), Sample((), [3]), Sample((2,), [0])], dtypes=QUICK,
        torch=lambda torch, x, repeats: x.repeat(repeats),
        errors=[Wrong((2, 3), [2]), Wrong((2,), [-1]), Wrong((4,), [2 ** 62])]),
    Row("tile", [Sample((2, 3), [2]), Sample((2, 3), [2, 1, 2]), Sample((), [3])],
        torch=lambda torch, x, repeats: torch.tile(x, repeats)),
    Row("meshgrid", [Sample([(2,), (3,)]), Sample([(2,), (3,), (4,)], "xy"), Sample([(), (2,)])], out="it gives a list",
        torch=lambda torch, xs, indexing="ij": torch.meshgrid(*xs, indexing=indexing),
        errors=[Wrong([(2, 2)]), Wrong([(2,)], "yx", says="indexing")]),
    Row("cartesian_prod", [Sample([(2,), (3,)]), Sample([(2,)])], torch=lambda torch, xs: torch.cartesian_prod(*xs),
        errors=[Wrong([(2, 2)]), Wrong([])]),
    Row("combinations", [Sample((4,)), Sample((4,), 3), Sample((3,), 2, True), Sample((3,), 1)],
        torch=lambda torch, x, r=2, again=False: torch.combinations(x, r, again),
        meta="which combinations are kept depends on numbers", errors=[Wrong((2, 2)), Wrong((3,), -1)]),
    Row("kron", [Sample((2, 3), (3, 2)), Sample((2,), (2, 2)), Sample((), (2,))], dtypes=SINGLES + COMPLEX),
    Row("pad", [Sample((2, 3), [1, 2]), Sample((2, 3), [1, 2, 0, 1], "constant", 1.5), Sample((5, 5), [-1, 2, 1, -2]),
                Sample((3, 4), [2, 1, 1, 2], "reflect"), Sample((3, 4), [2, 5, 1, 2], "replicate"),
                Sample((3, 4), [2, 4, 3, 2], "circular"), Sample((2, 2, 3), [1, 1, 1, 1, 1, 1], "reflect"),
                Sample((5,), [-1, 2], "circular"), Sample((0, 2), [1, 1, 1, 1]), Sample((), [])],
        dtypes=QUICK[:-1], torch=pad_oracle,
        errors=[Wrong((3,), [3, 0], "reflect", says="reflect"), Wrong((3,), [4, 0], "circular"), Wrong((3,), [1]),
                Wrong((3,), [1, 1, 1, 1]), Wrong((3,), [-2, -2]), Wrong((3,), [1, 1], "wrap", says="mode"),
                Wrong((0,), [1, 0], "replicate"), Wrong((3,), [2 ** 63 - 1, 1])]),
    Row("diag_embed", [Sample((2, 3)), Sample((3,), 1), Sample((3,), -2), Sample((2, 3), 0, 0, 2), Sample((0,))],
        torch=lambda torch, x, offset=0, axis1=-2, axis2=-1: torch.diag_embed(x, offset, axis1, axis2),
        errors=[Wrong(()), Wrong((3,), 0, 1, 1), Wrong((3,), -2 ** 63)]),
    Row("diag", [Sample((3,)), Sample((3,), -1), Sample((3, 4), 1)], errors=[Wrong((2, 2, 2)), Wrong(())]),
    Row("diagflat", [Sample((2, 2)), Sample((3,), 1), Sample(())]),
    Row("trace", [Sample((3, 4)), Sample((0, 2))], dtypes=SINGLES + COMPLEX, errors=[Wrong((3,))]),
    Row("rot90", [Sample((2, 3)), Sample((2, 3), 2), Sample((2, 3, 4), -1, [1, 2]), Sample((2, 3), 4)],
        torch=lambda torch, x, k=1, axis=(0, 1): torch.rot90(x, k, axis),
        errors=[Wrong((3,)), Wrong((2, 3), 1, [0, 0])]),
    Row("cross", [Sample((2, 3), (2, 3), 1), Sample((3, 2), (3, 2), 0), Sample((1, 3), (2, 3), -1)],
        torch=lambda torch, x, y, axis: torch.linalg.cross(x, y, dim=axis), dtypes=SINGLES + COMPLEX,
        errors=[Wrong((2, 2), (2, 2), 1, says="size 3")]),
    Row("renorm", [Sample((3, 4), 2.0, 0, 1.0), Sample((3, 4), 1.0, 1, 2.0), Sample((2, 3, 4), float("inf"), -1, 0.5)],
        dtypes=SINGLES,
        torch=lambda torch, x, p, axis, maxnorm: torch.renorm(x, p, axis, maxnorm),
        errors=[Wrong((3, 4), 0.0, 0, 1.0, says="p"), Wrong((3,), 2.0, 0, 1.0), Wrong((3, 4), 2.0, 0, -1.0)]),
]
