"""Reading and writing at integers and masks."""
import numpy

from dragon.onnx.size import Size
from dragon.onnx.table import maps
from dragon.onnx.writer import common_dtype


def as_int64(w, index):
    """Return integers as int64."""
    return w.cast(index, "int64")


@maps("gather")
def gather(w, x, axis, index, from_end):
    if index.ndim == 0 or x.ndim == 0:
        y = w.GatherElements(w.reshape(x, [1]) if x.ndim == 0 else x,
                             w.reshape(as_int64(w, index), [1]) if index.ndim == 0 else as_int64(w, index), axis=0)
        return w.reshape(y, index.shape)
    return w.GatherElements(x, as_int64(w, index), axis=axis)


@maps("index_select")
def index_select(w, x, axis, index):
    index = as_int64(w, index)
    if x.ndim == 0:
        return w.reshape(w.Gather(w.reshape(x, [1]), index, axis=0), w.out.shape)
    index = w.resolve(index)
    y = w.Gather(x, w.reshape(index, [-1]), axis=axis)
    return y


def broadcast_sizes(shapes):
    """Return the shape that shapes broadcast to."""
    ndim = max(len(shape) for shape in shapes)
    sizes = []
    for axis in range(ndim):
        found = [shape[axis - ndim + len(shape)] for shape in shapes if axis - ndim + len(shape) >= 0]
        wide = [size for size in found if isinstance(size, Size) or size != 1]
        sizes.append(wide[0] if wide else 1)
    return sizes


class Subscripts:
    """Integer tensors on some axes: which, their common shape, and where their axes go."""

    def __init__(self, w, x, indices):
        self.axes = [axis for axis, index in enumerate(indices) if index is not None]
        self.shape = broadcast_sizes([indices[axis].shape for axis in self.axes])
        self.kept = [axis for axis in range(x.ndim) if axis not in self.axes]
        adjacent = self.axes == list(range(self.axes[0], self.axes[-1] + 1))
        self.first = self.axes[0] if adjacent else 0
        self.places = None if len(self.axes) == 1 else self._join(w, [indices[axis] for axis in self.axes])
        self.single = as_int64(w, indices[self.axes[0]]) if len(self.axes) == 1 else None

    def _join(self, w, indices):
        columns = []
        for index in indices:
            wide = w.expand(w.resolve(index), self.shape)
            columns.append(w.Unsqueeze(as_int64(w, wide), [len(self.shape)]))
        return w.Concat(*columns, axis=-1)

    def vectors(self, w):
        """Return the places as rows of coordinates."""
        return self.places if self.places is not None else w.Unsqueeze(self.single, [len(self.shape)])

    def back(self, ndim):
        """Return the order of axes that takes (places, kept) to where the places belong."""
        count = len(self.shape)
        order = list(range(count, count + ndim - len(self.axes)))
        return order[:self.first] + list(range(count)) + order[self.first:]


@maps("index_read")
def index_read(w, x, indices, from_end):
    at = Subscripts(w, x, indices)
    if at.single is not None:
        return w.Gather(x, at.single, axis=at.axes[0])
    y = w.GatherND(w.transpose(x, at.axes + at.kept), at.places)
    return w.transpose(y, at.back(x.ndim))


@maps("index_write")
def index_write(w, x, indices, values, accumulate, from_end):
    at = Subscripts(w, x, indices)
    sizes = at.shape + [x.shape[axis] for axis in at.kept]
    back = at.back(x.ndim)
    placed = [sizes[axis] for axis in back]
    values = w.expand(values, placed)
    forward = numpy.argsort(back).tolist()
    order = at.axes + at.kept
    y = w.ScatterND(w.transpose(x, order), at.vectors(w), w.transpose(values, forward),
                    reduction="add" if accumulate else None)
    return w.transpose(y, numpy.argsort(order).tolist())


REDUCTIONS = {"assign": "none", "add": "add", "multiply": "mul", "amax": "max", "amin": "min"}


@maps("scatter_write", "scatter_combine")
def scatter_write(w, x, axis, index, src, how, from_end):
    if index.shape and 0 in [size for size in index.shape if not isinstance(size, Size)]:
        return x
    how = how.split()[-1].split(":")[-1].strip()
    if how not in REDUCTIONS:
        w.refuse(f"reduction {how!r}")
    if x.ndim == 0:
        one = [w.reshape(value, [1]) for value in (x, as_int64(w, index), src)]
        y = w.ScatterElements(*one, axis=0, reduction=REDUCTIONS[how])
        return w.reshape(y, [])
    return w.ScatterElements(x, as_int64(w, index), src, axis=axis, reduction=REDUCTIONS[how])


@maps("masked_select")
def masked_select(w, x, mask):
    shape = broadcast_sizes([x.shape, mask.shape])
    return w.Compress(w.flatten(w.expand(x, shape)), w.flatten(w.expand(mask, shape)))


@maps("masked_scatter")
def masked_scatter(w, x, mask, src):
    shape = w.out.shape
    flat = w.flatten(w.expand(mask, shape))
    number = w.Sub(w.CumSum(w.cast(flat, "int64"), w.constant(0, "int64")), 1)
    values = w.Gather(w.flatten(src), w.Max(number, 0), axis=0)
    return w.reshape(w.Where(flat, values, w.flatten(w.expand(x, shape))), shape)


@maps("nonzero")
def nonzero(w, x):
    if x.ndim == 0:
        return w.Slice(w.Transpose(w.NonZero(w.reshape(w.truth(x), [1])), perm=[1, 0]), [0], [0], [1])
    return w.Transpose(w.NonZero(w.truth(x)), perm=[1, 0])


@maps("isin")
def isin(w, x, tests, assume_unique, invert):
    if 0 in tests.shape:
        return w.full(w.out.shape, bool(invert), "bool")
    dtype = common_dtype([x, tests])
    dtype = "int32" if dtype == "bool" else dtype
    same = w.Equal(w.Unsqueeze(w.cast(x, dtype), [x.ndim]), w.flatten(w.cast(tests, dtype)))
    found = w.cast(w.ReduceSum(w.cast(same, "int32"), [-1], keepdims=0), "bool")
    return w.Not(found) if invert else found


@maps("embedding_bag")
def embedding_bag(w, weight, index, offsets, per_sample_weights, scale_grad_by_freq, mode, include_last_offset,
                  padding_idx):
    """Each index belongs to the last bag that begins at or before it."""
    bags = w.out.shape[0]
    count = index.shape[0]
    if isinstance(count, Size) or isinstance(bags, Size):
        w.refuse("a dynamic number of indices or bags")
    places = numpy.arange(count, dtype="int64")[:, None]
    began = w.GreaterOrEqual(w.constant(places), w.Unsqueeze(as_int64(w, offsets), [0]))
    number = w.Sub(w.ReduceSum(w.cast(began, "int64"), [1], keepdims=0), 1)
    counted = w.constant(numpy.ones([count, 1]), weight.dtype)
    if padding_idx is not None:
        kept = w.Not(w.Equal(as_int64(w, index), padding_idx % weight.shape[0]))
        counted = w.Unsqueeze(w.cast(kept, weight.dtype), [1])
    rows = w.Gather(weight, as_int64(w, index), axis=0)
    if per_sample_weights is not None:
        rows = w.Mul(rows, w.Unsqueeze(per_sample_weights, [1]))
    bag = w.Unsqueeze(number, [1])
    size = [bags, weight.shape[1]]
    if mode == "max":
        low = w.constant(-numpy.inf, weight.dtype)
        rows = w.Where(w.cast(counted, "bool"), rows, low)
        y = w.ScatterND(w.full(size, -numpy.inf, weight.dtype), bag, rows, reduction="max")
        return w.Where(w.Equal(y, low), w.constant(0, weight.dtype), y)
    y = w.ScatterND(w.full(size, 0, weight.dtype), bag, w.Mul(rows, counted), reduction="add")
    if mode == "sum":
        return y
    sizes = w.ScatterND(w.full([bags, 1], 0, weight.dtype), bag, counted, reduction="add")
    return w.Div(y, w.Max(sizes, 1))
