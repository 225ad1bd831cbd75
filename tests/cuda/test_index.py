"""What rows of the table are too small for: many equal indices, long scans, strides, wrong indices."""
import numpy
import pytest

import dragon
from dragon import ops

rng = numpy.random.default_rng(11)


def there(array):
    """Return an array as a tensor on the device."""
    return ops.to_device(dragon.tensor(array), "cuda")


def back(tensor):
    """Return a device's tensor as an array."""
    return numpy.asarray(ops.to_device(tensor, "cpu"))


@pytest.mark.parametrize("rows, count, width", [(3, 700, 1), (1, 300, 5), (300, 600, 33), (70000, 90, 2)])
@pytest.mark.parametrize("how", ["add", "amax", "multiply", "assign"])
def test_many_meet(rows, count, width, how):
    """Equal indices meet across pieces, in their order."""
    index = rng.integers(0, rows, count)
    x, src = rng.normal(size=(rows, width)), rng.normal(size=(count, width))
    wanted = x.copy()
    for i, place in enumerate(index):
        row = wanted[place]
        wanted[place] = {"add": row + src[i], "amax": numpy.maximum(row, src[i]), "multiply": row * src[i],
                         "assign": src[i]}[how]
    spread = numpy.broadcast_to(index[:, None], src.shape)
    args = 0, there(numpy.ascontiguousarray(spread)), there(src), how
    numpy.testing.assert_allclose(back(ops.scatter_into(there(x), *args)), wanted, rtol=1e-9, atol=1e-12)
    args = 0, ops.expand(there(index[:, None]), src.shape), there(src), how
    first = back(ops.scatter_into(there(x), *args))
    numpy.testing.assert_allclose(first, wanted, rtol=1e-9, atol=1e-12)
    numpy.testing.assert_array_equal(first, back(ops.scatter_into(there(x), *args)))


def test_put_at_two_indices():
    """Two index tensors with equal places: the last wins, or all are added."""
    a, b = rng.integers(-4, 4, 500), rng.integers(0, 3, 500)
    x, values = rng.normal(size=(4, 5, 3)), rng.normal(size=(500, 5))
    written, added = x.copy(), x.copy()
    for i in range(500):
        written[a[i], :, b[i]] = values[i]
        added[a[i], :, b[i]] += values[i]
    indices = [there(a), None, there(b)]
    numpy.testing.assert_array_equal(back(ops.index_put(there(x), indices, there(values))), written)
    numpy.testing.assert_allclose(back(ops.index_put(there(x), indices, there(values), True)), added, rtol=1e-9)
    numpy.testing.assert_array_equal(back(ops.index(there(x), indices)), x[a, :, b])


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128"])
@pytest.mark.parametrize("width", [1, 3, 8, 64])
def test_rows_are_read(dtype, width):
    """Rows of any width are joined to words as alignment allows."""
    x = rng.integers(0, 2 if dtype == "bool" else 100, (50, width)).astype(dtype)
    index = rng.integers(0, 50, 77)
    numpy.testing.assert_array_equal(back(ops.index_select(there(x), 0, there(index))), x[index])
    numpy.testing.assert_array_equal(back(ops.index_select(there(x.T.copy()), 1, there(index))), x.T[:, index])


def test_wrong_indices_are_told():
    """The error names the operator and the index; the device works on."""
    x = there(numpy.arange(12.0).reshape(4, 3))
    for index in (4, -1):
        y = ops.index_select(x, 0, there(numpy.array([0, index, 2])))
        with pytest.raises(IndexError, match=f"index_select: got index {index} for axis 0, expected 0 to 3"):
            back(y)
    y = ops.index_put(x, [there(numpy.array([-5]))], there(numpy.zeros(3)))
    with pytest.raises(IndexError, match="index_put: got index -5 for axis 0, expected -4 to 3"):
        back(y)
    numpy.testing.assert_array_equal(back(x), numpy.arange(12.0).reshape(4, 3))
    y = ops.masked_scatter(x, there(numpy.ones((4, 3), bool)), there(numpy.zeros(5)))
    with pytest.raises(ValueError, match="masked_scatter: got 5 elements in src, expected at least the 12"):
        back(y)


@pytest.mark.parametrize("count", [1, 255, 2049, 9000])
def test_masks(count):
    """Marked elements keep their order across pieces."""
    mask, x = rng.random(count) < 0.3, rng.normal(size=count)
    numpy.testing.assert_array_equal(back(ops.masked_select(there(x), there(mask))), x[mask])
    numpy.testing.assert_array_equal(back(ops.nonzero(there(mask)))[:, 0], numpy.nonzero(mask)[0])
    wanted = x.copy()
    wanted[mask] = numpy.arange(mask.sum())
    source = there(numpy.arange(count, dtype="float64"))
    numpy.testing.assert_array_equal(back(ops.masked_scatter(there(x), there(mask), source)), wanted)
    numpy.testing.assert_array_equal(back(ops.masked_fill(there(x), there(mask), 7.0)), numpy.where(mask, 7.0, x))


@pytest.mark.parametrize("shape", [(33, 65), (2, 40, 50), (40, 3, 50), (64, 1), (5, 0)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_turned_axes(shape, dtype):
    """What is turned moves by squares, whose edges are not full."""
    x = rng.integers(0, 200, shape).astype(dtype)
    order = list(range(x.ndim))[::-1]
    turned = ops.permute(there(x), order)
    both = ops.cat([turned, turned], 0)
    numpy.testing.assert_array_equal(back(both), numpy.concatenate([x.T, x.T]))


@pytest.mark.parametrize("padding", [None, 1])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_embedding_backward(padding, by_frequency):
    """Rows of the table take their sums in one order."""
    index = rng.integers(0, 7, (20, 30))
    dy = rng.normal(size=(20, 30, 9))
    wanted = numpy.zeros((7, 9))
    often = numpy.bincount(index.ravel(), minlength=7)
    for place, row in zip(index.ravel(), dy.reshape(-1, 9)):
        if place != padding:
            wanted[place] += row / (often[place] if by_frequency else 1)
    got = ops.embedding_backward(there(dy), there(index), 7, -1 if padding is None else padding, by_frequency)
    numpy.testing.assert_allclose(back(got), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape, axis", [((20000,), 0), ((3, 2500), 1), ((2500, 40), 0), ((70, 5, 3), 1), ((2, 66), 1)])
def test_long_scans(shape, axis):
    """Scans go on over rounds, warps and parts."""
    x = rng.normal(size=shape)
    numpy.testing.assert_allclose(back(ops.cumsum(there(x), axis)), x.cumsum(axis), rtol=1e-9, atol=1e-9)
    numpy.testing.assert_allclose(back(ops.logcumsumexp(there(x), axis)), numpy.logaddexp.accumulate(x, axis))
    whole = numpy.round(x)
    whole.flat[x.size // 2] = numpy.nan
    for name in ("cummax", "cummin"):
        wanted = [numpy.asarray(part) for part in getattr(ops, name)(dragon.tensor(whole), axis)]
        for got, right in zip(getattr(ops, name)(there(whole), axis), wanted):
            numpy.testing.assert_array_equal(back(got), right)


def test_scans_of_strided():
    """A scan reads and writes at any strides."""
    x = rng.integers(-5, 5, (90, 70, 2))
    part = ops.select(there(x), 2, 1)
    numpy.testing.assert_array_equal(back(ops.cumsum(part, 0)), x[:, :, 1].cumsum(0))
    numpy.testing.assert_array_equal(back(ops.cumsum(ops.permute(part, [1, 0]), 0)), x[:, :, 1].T.cumsum(0))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_pads(mode):
    """Every element finds its piece; a replicated edge sums all that came from it."""
    x, pad = rng.normal(size=(2, 3, 7, 8)), [3, 2, 1, 4]
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    wanted = numpy.pad(x, [(0, 0), (0, 0), (1, 4), (3, 2)], names[mode])
    numpy.testing.assert_array_equal(back(ops.pad(there(x), pad, mode)), wanted)


def test_rows_of_products():
    """Matrices in compressed rows: products, sums and what is wrong with starts."""
    dense = rng.integers(0, 2, (30, 40)) * rng.integers(1, 5, (30, 40)).astype("float64")
    other = rng.integers(0, 2, (40, 35)) * rng.integers(1, 5, (40, 35)).astype("float64")

    def compressed(matrix):
        starts = numpy.concatenate([[0], numpy.cumsum((matrix != 0).sum(1))])
        return [there(starts), there(numpy.nonzero(matrix)[1]), there(matrix[matrix != 0])]

    mine, theirs = compressed(dense), compressed(other)
    for width in (35, 3):
        columns = numpy.ascontiguousarray(other[:, :width])
        numpy.testing.assert_allclose(back(ops.rows_matmul(*mine, there(columns))), dense @ columns)
    wanted = compressed(dense @ other)
    for got, right in zip(ops.rows_product(*mine, *theirs, 35), wanted):
        numpy.testing.assert_allclose(back(got), back(right))
    starts, rows, order = (back(part) for part in ops.turn_rows(*mine[:2], 40))
    numpy.testing.assert_array_equal(starts, back(compressed(dense.T)[0]))
    numpy.testing.assert_array_equal(rows, numpy.nonzero(dense.T)[1])
    numpy.testing.assert_array_equal(back(mine[2])[order], dense.T[dense.T != 0])
    wrong = ops.rows_matmul(there(numpy.array([0, 9, 5])), *mine[1:], there(other))
    with pytest.raises(ValueError, match="rows_matmul: got starts that do not lead"):
        back(wrong)
