"""What the engine's operators of shapes, numbers and places are in PyTorch's, where the names are not the same."""
import operator

from dragon.vm.torch.core.exporting.spoken.table import speaks, torch_dtype
from dragon.vm.torch.core.tensor import Tensor

ENDLESS = 2**63 - 1  # a slice's stop that means the end


# --- shapes

@speaks("stop_gradient")
def _stop_gradient(t, x):
    return x  # nothing that is written down has a history


@speaks("view")
def _view(t, x, shape):
    return t.a.view.default(x, shape) if t.is_dense(x) else t.a.reshape.default(x, shape)


@speaks("expand")
def _expand(t, x, shape):
    return t.a.expand.default(t.tensor(x), shape)


@speaks("transpose")
def _transpose(t, x, axis0, axis1):
    if x.ndim == 2 and axis0 % 2 != axis1 % 2:
        return t.a.t.default(x)
    return t.a.transpose.int(x, axis0, axis1)


@speaks("squeeze")
def _squeeze(t, x, axis):
    return t.a.squeeze.default(x) if axis is None else t.a.squeeze.dims(x, axis)


@speaks("slice")
def _slice(t, x, axis, start, stop, step):
    return t.a.slice.Tensor(x, axis, start, stop, *([step] if step != 1 else []))


@speaks("subview")
def _subview(t, x, items):
    """Items: 0 index | 1 start count step | 2 (a new axis) | 3 count (axes kept) | 4 start stop step (not clamped)."""
    items, axis = iter(items), 0
    for kind in items:
        if kind == 0:
            x = t.a.select.int(x, axis, next(items))
        elif kind == 2:
            x, axis = t.a.unsqueeze.default(x, axis), axis + 1
        elif kind == 3:
            axis += next(items)
        else:
            start, second, step = next(items), next(items), next(items)
            stop = second if kind == 4 else start + second * step
            if (start, step) != (0, 1) or stop < ENDLESS:
                x = t.a.slice.Tensor(x, axis, start, stop, *([step] if step != 1 else []))
            axis += 1
    return x


@speaks("write_view")
def _write_view(t, x, y, shape, strides, offset):
    if not t.is_dense(x):
        return NotImplemented
    return t.a.as_strided_scatter.default(x, t.tensor_like(y, x), shape, strides, *([offset] if offset else []))


@speaks("clone", "copy", "contiguous", "to_row_major")
def _clone(t, x):
    return t.a.clone.default(x) if isinstance(x, Tensor) else x


@speaks("cat")
def _cat(t, xs, axis):
    return t.a.cat.default(xs, *([axis] if axis else []))


@speaks("cast")
def _cast(t, x, dtype):
    return t.a.to.dtype(t.tensor(x), torch_dtype(dtype))


@speaks("roll_axes")
def _roll_axes(t, x, shifts, axis):
    return t.a.roll.default(x, shifts, axis)


@speaks("pad")
def _pad(t, x, pad, mode, value):
    return t.a.constant_pad_nd.default(x, pad, 0 if value is None else value) if mode == "constant" else NotImplemented


@speaks("flip")
def _flip(t, x, axis):
    return t.a.flip.default(x, axis)


# --- from nothing

def _filled(name):
    @speaks(name)
    def spoken(t, shape, dtype, device):
        return getattr(t.a, name).default(shape, **t.options(dtype, device))


for _name in ("ones", "zeros"):
    _filled(_name)


@speaks("empty")
def _empty(t, shape, dtype, device):
    return t.a.empty.memory_format(shape, **t.options(dtype, device))


@speaks("full")
def _full(t, shape, value, dtype, device):
    return t.a.full.default(shape, value, **t.options(dtype, device))


@speaks("arange")
def _arange(t, start, stop, step, dtype, device):
    start, stop = (0, start) if stop is None else (start, stop)
    return t.a.arange.start_step(start, stop, step, **t.options(dtype, device))


def _like(name):
    @speaks(name)
    def spoken(t, x, dtype, device):
        named = {} if dtype is None else {"dtype": torch_dtype(dtype)}
        return getattr(t.a, name).default(t.tensor(x), pin_memory=False, **named)


for _name in ("ones_like", "zeros_like", "empty_like"):
    _like(_name)


# --- numbers

@speaks("matmul")
def _matmul(t, x, y):
    if x.ndim == y.ndim == 2:
        return t.a.mm.default(x, y)
    if x.ndim == y.ndim == 3 and x.shape[0] == y.shape[0]:
        return t.a.bmm.default(x, y)
    return t.a.matmul.default(x, y)


def _arithmetic(name):
    @speaks(name)
    def spoken(t, x, y, **named):
        alpha = named.get("alpha", 1)
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            return getattr(operator, "truediv" if name == "div" else name)(x, y if alpha == 1 else y * alpha)
        more = {"alpha": alpha} if alpha != 1 else {}
        if not isinstance(x, Tensor):
            if name in ("add", "mul") and isinstance(y, Tensor) and not more:
                x, y = y, x
            else:
                x = t.tensor(x)
        return getattr(t.a, name).Tensor(x, y, **more)


for _name in ("add", "sub", "mul", "div"):
    _arithmetic(_name)


def _compared(name):
    @speaks(name)
    def spoken(t, x, y):
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            return getattr(operator, name)(x, y)
        return getattr(getattr(t.a, name), "Tensor" if isinstance(y, Tensor) else "Scalar")(t.tensor(x), y)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compared(_name)


@speaks("square")
def _square(t, x):
    return t.a.pow.Tensor_Scalar(x, 2)


@speaks("pow")
def _pow(t, x, y):
    if not isinstance(x, Tensor):
        return t.a.pow.Scalar(x, y)
    return t.a.pow.Tensor_Tensor(x, y) if isinstance(y, Tensor) else t.a.pow.Tensor_Scalar(x, y)


@speaks("clamp")
def _clamp(t, x, min, max):
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return t.a.clamp.Tensor(x, t.tensor(min), t.tensor(max))
    return t.a.clamp.default(x, min, max)


@speaks("where")
def _where(t, condition, x, y):
    chosen = (x if condition else y) if isinstance(condition, bool) else None
    if isinstance(chosen, Tensor) and t.has_form(chosen):
        return chosen
    condition = t.tensor(condition)
    return t.a.where.self(condition, t.tensor_like(x, y), t.tensor_like(y, x))


@speaks("masked_fill")
def _masked_fill(t, x, mask, value):
    return getattr(t.a.masked_fill, "Tensor" if isinstance(value, Tensor) else "Scalar")(x, mask, value)


# --- reductions

def _summed(name, listed):
    @speaks(name)
    def spoken(t, x, axis, keepdims, dtype):
        named = {} if dtype is None else {"dtype": torch_dtype(dtype)}
        packet = getattr(t.a, name)
        if axis is None and not keepdims:
            return packet.default(x, **named)
        return getattr(packet, listed)(x, axis, *([True] if keepdims else []), **named)


_summed("sum", "dim_IntList")
_summed("mean", "dim")


def _extreme(name):
    @speaks(name)
    def spoken(t, x, axis, keepdims):
        return getattr(t.a, name).default(x, *([axis if axis is not None else [], True] if keepdims else
                                               [] if axis is None else [axis]))


for _name in ("amax", "amin"):
    _extreme(_name)


@speaks("max_axis")
def _max_axis(t, x, axis, keepdims):
    return t.a.max.dim(x, axis, *([True] if keepdims else []))


@speaks("min_axis")
def _min_axis(t, x, axis, keepdims):
    return t.a.min.dim(x, axis, *([True] if keepdims else []))


def _varied(name, target):
    @speaks(name)
    def spoken(t, x, axis, correction, keepdims):
        return getattr(t.a, target).correction(x, axis, correction=correction, **({"keepdim": True} if keepdims
                                                                                  else {}))


for _name, _target in {"real_var": "var", "real_std": "std", "real_var_mean": "var_mean"}.items():
    _varied(_name, _target)


# --- places

@speaks("index_read")
def _index_read(t, x, indices, from_end):
    return t.a.index.Tensor(x, indices) if from_end else NotImplemented


@speaks("index_write")
def _index_write(t, x, indices, values, accumulate, from_end):
    if not from_end:
        return NotImplemented
    return t.a.index_put.default(x, indices, t.tensor(values), *([True] if accumulate else []))


@speaks("gather")
def _gather(t, x, axis, index, from_end):
    return NotImplemented if from_end else t.a.gather.default(x, axis, index)


@speaks("index_select")
def _index_select(t, x, axis, index):
    return t.a.index_select.default(x, axis, index)


@speaks("embedding")
def _embedding(t, weight, index, padding_idx, scale_grad_by_freq):
    return t.a.embedding.default(weight, index, *([-1 if padding_idx is None else padding_idx, scale_grad_by_freq]
                                                  if padding_idx is not None or scale_grad_by_freq else []))


@speaks("embedding_backward")
def _embedding_backward(t, dy, index, rows, padding_row, scale_grad_by_freq):
    return t.a.embedding_dense_backward.default(dy, index, rows, padding_row, scale_grad_by_freq)
