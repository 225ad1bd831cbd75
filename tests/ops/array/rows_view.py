"""Rows of the views: other shapes, orders and parts of the same elements."""
from harness import ALL, COMPLEX, SINGLES, Given, Row, Sample, Wrong

QUICK = ("float32", "float64", "int64", "complex64", "bool")


def restride_oracle(np, x, strides, offset, shape, to_strides, to_offset):
    """Add x at one geometry into zeros, then read at another."""
    memory = np.zeros(256, x.dtype)
    for index in np.ndindex(*x.shape):
        memory[offset + sum(i * s for i, s in zip(index, strides))] += x[index]
    y = np.zeros(shape, x.dtype)
    for index in np.ndindex(*shape):
        y[index] = memory[to_offset + sum(i * s for i, s in zip(index, to_strides))]
    return y


def subview_oracle(torch, x, items):
    """Apply the items of a composed subscript as one subscript."""
    words, key = list(items), []
    while words:
        kind = words.pop(0)
        if kind == 0:
            key.append(words.pop(0))
        elif kind == 1:
            start, count, step = words.pop(0), words.pop(0), words.pop(0)
            key.append(slice(start, start + count * step, step))
        elif kind == 2:
            key.append(None)
        else:
            key.extend([slice(None)] * words.pop(0))
    return x[tuple(key)]


def squeeze_oracle(torch, x, axis=None):
    """PyTorch takes one axis, or a tuple."""
    return x.squeeze() if axis is None else x.squeeze(axis if isinstance(axis, int) else tuple(axis))


NEEDS_LAYOUT = "only some strides can be seen in another shape"

ROWS = [
    Row("view", [Sample((2, 6), [3, 4]), Sample((2, 6), [-1]), Sample((), [1, 1]), Sample((0, 3), [3, 0]),
                 Sample((4,), [4])],
        dtypes=QUICK, torch=lambda torch, x, shape: x.view(shape), strided=NEEDS_LAYOUT,
        errors=[Wrong((2, 3), [4], says="shape"), Wrong((2, 3), [-1, -1], says="-1"), Wrong((2, 3), [-2, -3])]),
    Row("reshape", [Sample((2, 6), [3, 4]), Sample((2, 6), [-1]), Sample((), [1, 1]), Sample((0, 3), [3, 0]),
                    Sample((2, 3, 4), [6, 4])],
        dtypes=QUICK, errors=[Wrong((2, 3), [4], says="shape"), Wrong((0, 3), [-1, 0])]),
    Row("view_as", [Sample((2, 6), (3, 4))], torch=lambda torch, x, y: x.view_as(y), strided=NEEDS_LAYOUT,
        gradient="the second argument only lends its shape"),
    Row("reshape_as", [Sample((2, 6), (3, 4))], gradient="the second argument only lends its shape"),
    Row("expand", [Sample((3, 1), [3, 4]), Sample((3, 1), [2, -1, 4]), Sample((), [2]), Sample((1,), [0])],
        dtypes=QUICK, torch=lambda torch, x, shape: x.expand(shape),
        errors=[Wrong((3,), [4], says="(3,)"), Wrong((3, 1), [3], says="(3, 1)"), Wrong((3,), [-1, 3])]),
    Row("broadcast_to", [Sample((3, 1), [2, 3, 4]), Sample((), [2])]),
    Row("expand_as", [Sample((3, 1), (2, 3, 4))], gradient="the second argument only lends its shape"),
    Row("squeeze", [Sample((1, 3, 1)), Sample((1, 3, 1), 0), Sample((1, 3, 1), [0, -1]), Sample((1, 3), 1),
                    Sample(())],
        dtypes=QUICK, torch=squeeze_oracle, errors=[Wrong((1, 3), 2, error=IndexError, says="axis")]),
    Row("unsqueeze", [Sample((2, 3), 0), Sample((2, 3), -1), Sample((2, 3), 1), Sample((), 0), Sample((0,), 1)],
        dtypes=QUICK, errors=[Wrong((2, 3), 3, error=IndexError, says="axis")]),
    Row("flatten", [Sample((2, 3, 4)), Sample((2, 3, 4), 1), Sample((2, 3, 4), 0, 1), Sample(()), Sample((0, 3))],
        errors=[Wrong((2, 3), 1, 0, says="start_axis")]),
    Row("unflatten", [Sample((2, 6), 1, [2, 3]), Sample((6,), 0, [-1, 2])], strided=NEEDS_LAYOUT,
        torch=lambda torch, x, axis, sizes: x.unflatten(axis, sizes), errors=[Wrong((2, 6), 1, [4, 2])]),
    Row("ravel", [Sample((2, 3)), Sample(()), Sample((0, 2))]),
    Row("atleast_1d", [Sample(()), Sample((2,))]),
    Row("atleast_2d", [Sample(()), Sample((2,)), Sample((2, 3))]),
    Row("atleast_3d", [Sample(()), Sample((2,)), Sample((2, 3)), Sample((2, 3, 4))]),
    Row("permute", [Sample((2, 3, 4), [2, 0, 1]), Sample((2, 3), [-1, 0]), Sample((), []), Sample((0, 2), [1, 0])],
        dtypes=QUICK, errors=[Wrong((2, 3), [0, 0], says="once"), Wrong((2, 3), [0], says="once"),
                              Wrong((2, 3), [0, 2], error=IndexError)]),
    Row("transpose", [Sample((2, 3, 4), 0, 2), Sample((2, 3), -1, 0), Sample((), 0, 0), Sample((0, 2), 0, 1)],
        dtypes=QUICK, errors=[Wrong((2, 3), 0, 2, error=IndexError, says="axis 2")]),
    *[Row(name, [Sample((2, 3, 4), [2, 0, 1]), Sample((2, 3), [-1, 0]), Sample((), []), Sample((0, 2), [1, 0])],
          dtypes=QUICK, numpy=lambda np, x, axes: x.transpose(axes), errors=[Wrong((2, 3), [0, 0], says="once")])
      for name in ("permuted", "permuted_memory")],
    Row("movedim", [Sample((2, 3, 4), 0, -1), Sample((2, 3, 4), [0, 2], [1, 0])],
        errors=[Wrong((2, 3), [0, 0], [0, 1], says="twice"), Wrong((2, 3), [0], [0, 1])]),
    Row("moveaxis", [Sample((2, 3, 4), 2, 0)]),
    Row("swapaxes", [Sample((2, 3, 4), 0, 2)]),
    Row("swapdims", [Sample((2, 3, 4), 0, 1)]),
    Row("t", [Sample((2, 3)), Sample((3,)), Sample(())], errors=[Wrong((2, 3, 4), says="two axes")]),
    Row("numpy_t", [Sample((2, 3, 4)), Sample((3,))], torch=lambda torch, x: x.permute(*range(x.ndim - 1, -1, -1))),
    Row("matrix_transpose", [Sample((2, 3, 4)), Sample((2, 3))], torch=lambda torch, x: x.mT,
        errors=[Wrong((3,), says="two axes")]),
    Row("adjoint", [Sample((2, 3, 4)), Sample((2, 3))], dtypes=SINGLES + COMPLEX),
    Row("select", [Sample((2, 3, 4), 1, 2), Sample((2, 3, 4), -1, -4), Sample((3,), 0, 0), Sample((2, 0), 0, 1)],
        dtypes=QUICK, errors=[Wrong((2, 3), 1, 3, error=IndexError, says=["index 3", "size 3"]),
                              Wrong((2, 3), 1, -4, error=IndexError), Wrong((), 0, 0, error=IndexError),
                              Wrong((2, 0), 1, 0, error=IndexError)]),
    Row("slice", [Sample((5, 3)), Sample((5, 3), 0, 1, 4), Sample((5, 3), 0, -4, None, 2), Sample((5,), 0, 9, 2),
                  Sample((3, 5), 1, 0, 100, 3), Sample((0, 2), 0, 0, 5)],
        dtypes=QUICK, torch=lambda torch, x, axis=0, start=None, stop=None, step=1: torch.movedim(
            torch.movedim(x, axis, 0)[start:stop:step], 0, axis),
        errors=[Wrong((3,), 0, 0, 2, 0, says="step"), Wrong((3,), 0, 0, 2, -1, says="step"),
                Wrong((), error=IndexError), Wrong((3,), 1, error=IndexError)]),
    Row("subview", [Sample((3, 4, 5), [0, 1, 1, 0, 2, 2, 2]), Sample((3, 4), [3, 1, 0, 3]), Sample((3,), [2, 2]),
                    Sample((3, 4), [])],
        dtypes=QUICK, torch=subview_oracle,
        errors=[Wrong((3,), [0, 3], error=IndexError), Wrong((3,), [1, 1, 3, 1], error=IndexError),
                Wrong((3,), [7]), Wrong((3,), [0]), Wrong((3,), [3, 2], error=IndexError)]),
    Row("narrow", [Sample((5, 3), 0, 1, 3), Sample((5, 3), 1, -2, 2), Sample((3,), 0, 3, 0)],
        errors=[Wrong((3,), 0, 2, 2, error=IndexError), Wrong((3,), 0, 0, -1, error=IndexError), Wrong((), 0, 0, 0)]),
    Row("diagonal", [Sample((3, 4)), Sample((3, 4), 1), Sample((3, 4), -2), Sample((2, 3, 4), 1, -1, 0),
                     Sample((3, 4), 9), Sample((0, 3))],
        dtypes=QUICK, torch=lambda torch, x, offset=0, axis1=0, axis2=1: torch.diagonal(x, offset, axis1, axis2),
        errors=[Wrong((3,), says="two axes"), Wrong((3, 4), 0, 1, 1, says="axis 1")]),
    Row("unfold", [Sample((7,), 0, 3, 2), Sample((2, 5), -1, 2, 1), Sample((3, 4), 0, 3, 1), Sample((4,), 0, 0, 1)],
        dtypes=QUICK, torch=lambda torch, x, axis, size, step: x.unfold(axis, size, step),
        errors=[Wrong((3,), 0, 4, 1, says="size"), Wrong((3,), 0, 2, 0, says="step")]),
    Row("as_strided", [Sample((12,), [2, 3], [1, 4]), Sample((12,), [3, 3], [2, 1], 1),
                       Sample((3, 4), [2, 2], [4, 1], 5), Sample((3,), [0], [1])],
        torch=lambda torch, x, shape, strides, offset=None: x.as_strided(shape, strides, offset),
        strided="it reads the memory, whatever the strides",
        errors=[Wrong((3,), [4], [1], says="memory"), Wrong((3,), [2], [-1], says="strides"), Wrong((3,), [2], [1, 1]),
                Wrong((3,), [2], [1], -1), Wrong((3,), [2 ** 40, 2 ** 40], [1, 1])]),
    Row("as_strided_of", [Sample((12,), [2, 3], [1, 4], 0, [1], 0)],
        strided="it reads the memory, whatever the strides",
        torch=lambda torch, x, shape, strides, offset, x_strides, x_offset: x.as_strided(shape, strides, offset)),
    Row("write_view", [Sample((12,), (2, 3), [2, 3], [1, 4], 0), Sample((3, 4), (2, 2), [2, 2], [4, 1], 5),
                       Sample((2, 3), (3, 2), [3, 2], [1, 3], 0), Sample((3,), (0,), [0], [1], 0)],
        strided="it writes the memory, whatever the strides",
        gradient="only graphs make it, of writes that were differentiated before",
        torch=lambda torch, x, y, shape, strides, offset: torch.as_strided_scatter(x, y, shape, strides, offset),
        errors=[Wrong((3,), (2,), [3], [1], 0, says="shape"), Wrong((3,), (2,), [2], [1, 1], 0, says="one stride"),
                Wrong((3,), (2,), [2], [1], -1), Wrong((3,), (2,), [2], [1], 2, says="places within x"),
                Wrong((3,), (2,), [2], [-1], 1), Wrong((3,), (2, 2), [2, 2], [2 ** 62, 2 ** 62], 0)]),
    Row("restride", [Sample((3, 2), [1, 1], 0, [2, 2], [3, 1], 1), Sample((4,), [2], 1, [8], [1], 0),
                     Sample((2, 3), [3, 1], 0, [3, 2], [1, 1], 0), Sample((0,), [1], 0, [3], [1], 0)],
        dtypes=SINGLES + COMPLEX, numpy=restride_oracle, torch=lambda torch, x, *args: torch.from_numpy(
            restride_oracle(__import__("numpy"), x.detach().numpy(), *args)),
        gradient="the oracle has none; every view's gradient is this operator", out=True,
        errors=[Wrong((3,), [-1], 0, [3], [1], 0), Wrong((3,), [1, 1], 0, [3], [1], 0),
                Wrong((3,), [2 ** 62], 0, [3], [1], 0), Wrong((3,), [1], -1, [3], [1], 0)]),
    Row("view_as_real", [Sample((3,)), Sample((2, 3)), Sample(())], dtypes=COMPLEX,
        errors=[Wrong(Given((3,), "float32"), error=TypeError, says="float32")]),
    Row("view_as_complex", [Sample((3, 2)), Sample((2,)), Sample((2, 3, 2))], dtypes=SINGLES, strided=NEEDS_LAYOUT,
        errors=[Wrong((3,), says="pairs"), Wrong(Given((3, 2), "int64"), error=TypeError)]),
    Row("real", [Sample((3,)), Sample((2, 3))], dtypes=SINGLES + COMPLEX),
    Row("imag", [Sample((3,)), Sample((2, 3))], dtypes=COMPLEX),
    Row("split", [Sample((7, 2), 3), Sample((2, 6), 2, 1), Sample((0, 2), 3), Sample((3,), 10)], dtypes=QUICK,
        torch=lambda torch, x, size, axis=0: torch.split(x, size, axis), out="it gives a list",
        errors=[Wrong((3,), 0, says="size"), Wrong((3,), -1), Wrong((), 1)]),
    Row("split_with_sizes", [Sample((7, 2), [3, 4]), Sample((2, 6), [1, 0, 5], 1)], out="it gives a list",
        torch=lambda torch, x, sizes, axis=0: torch.split(x, sizes, axis),
        errors=[Wrong((3,), [1, 1], says="sum"), Wrong((3,), [4, -1], says="sum")]),
    Row("chunk", [Sample((7, 2), 3), Sample((2, 6), 4, 1), Sample((0, 2), 3), Sample((3,), 10)],
        torch=lambda torch, x, chunks, axis=0: torch.chunk(x, chunks, axis), out="it gives a list",
        errors=[Wrong((3,), 0, says="chunks")]),
    Row("tensor_split", [Sample((7, 2), 3), Sample((2, 6), 4, 1), Sample((3,), 5)], out="it gives a list",
        torch=lambda torch, x, sections, axis=0: torch.tensor_split(x, sections, axis),
        errors=[Wrong((3,), 0, says="sections")]),
    Row("tensor_split_at", [Sample((7, 2), [2, 5]), Sample((7,), [-2, 3, 9])], out="it gives a list",
        torch=lambda torch, x, indices, axis=0: torch.tensor_split(x, tuple(indices), axis)),
    Row("hsplit", [Sample((2, 6), 3), Sample((6,), 2)], out="it gives a list",
        errors=[Wrong((2, 5), 3, says="divisor"), Wrong((), 1)]),
    Row("hsplit_at", [Sample((2, 6), [1, 4])], torch=lambda torch, x, at: torch.hsplit(x, at), out="it gives a list"),
    Row("vsplit", [Sample((6, 2), 3)], out="it gives a list",
        errors=[Wrong((6,), 3)]),
    Row("vsplit_at", [Sample((6, 2), [1, 4])], torch=lambda torch, x, at: torch.vsplit(x, at),
        out="it gives a list"),
    Row("dsplit", [Sample((2, 1, 6), 3)], out="it gives a list", errors=[Wrong((6, 2), 3)]),
    Row("dsplit_at", [Sample((2, 1, 6), [1, 4])], torch=lambda torch, x, at: torch.dsplit(x, at),
        out="it gives a list"),
    Row("unbind", [Sample((3, 2)), Sample((2, 3), 1), Sample((1,))], out="it gives a list",
        torch=lambda torch, x, axis=0: torch.unbind(x, axis), errors=[Wrong((), says="axis")]),
    Row("flip", [Sample((3, 4), 0), Sample((3, 4), [0, -1]), Sample((3, 4), []), Sample((0, 2), 1), Sample((), [])],
        dtypes=ALL, torch=lambda torch, x, axis: torch.flip(x, [axis] if isinstance(axis, int) else axis),
        errors=[Wrong((3,), [0, 0], says="once"), Wrong((3,), 1, error=IndexError)]),
    Row("fliplr", [Sample((2, 3))], errors=[Wrong((3,))]),
    Row("flipud", [Sample((2, 3)), Sample((3,))], errors=[Wrong(())]),
    Row("roll", [Sample((3, 4), 1), Sample((3, 4), 2, 1), Sample((3, 4), [1, -5], [0, 1]),
                 Sample((3, 4), [1, 1], [0, 0]), Sample((0, 2), 1, 0), Sample((3,), 2 ** 62, 0), Sample((), 1)],
        dtypes=ALL, torch=lambda torch, x, shifts, axis=None: torch.roll(x, shifts, axis),
        errors=[Wrong((3,), [1, 2], [0], says="as many"), Wrong((3,), 1, 1, error=IndexError)]),
    Row("roll_axes", [Sample((3, 4), [1, -2], [0, 1])],
        torch=lambda torch, x, shifts, axis: torch.roll(x, shifts, axis)),
]
