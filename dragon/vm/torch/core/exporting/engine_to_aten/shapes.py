"""What the engine's operators of shapes, numbers and places are in PyTorch's, where the names are not the same."""
import operator

from dragon.core.python_operators import COMPARISONS
from dragon.vm.torch.core.exporting.engine_to_aten.table import lowering
from dragon.vm.torch.core.tensor import Tensor

ENDLESS = 2**63 - 1  # a slice's stop that means the end


# --- shapes

@lowering("view")
def _view(t, x, shape):
    return t.a.view.default(x, shape) if t.is_dense(x) else t.a.reshape.default(x, shape)


@lowering("subview")
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


@lowering("write_view")
def _write_view(t, x, y, shape, strides, offset):
    if not t.is_dense(x):
        return NotImplemented
    return t.a.as_strided_scatter.default(x, t.tensor_like(y, x), shape, strides, *([offset] if offset else []))


# --- from nothing

def _filled(name):
    @lowering(name)
    def lower(t, shape, dtype, device):
        return getattr(t.a, name).default(shape, **t.options(dtype, device))


for _name in ("ones", "zeros"):
    _filled(_name)


@lowering("empty")
def _empty(t, shape, dtype, device):
    return t.a.empty.memory_format(shape, **t.options(dtype, device))


@lowering("full")
def _full(t, shape, value, dtype, device):
    return t.a.full.default(shape, value, **t.options(dtype, device))


@lowering("arange")
def _arange(t, start, stop, step, dtype, device):
    start, stop = (0, start) if stop is None else (start, stop)
    return t.a.arange.start_step(start, stop, step, **t.options(dtype, device))


# --- numbers

def _arithmetic(name):
    @lowering(name)
    def lower(t, x, y, **named):
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
    @lowering(name)
    def lower(t, x, y):
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            return getattr(operator, name)(x, y)
        return getattr(getattr(t.a, name), "Tensor" if isinstance(y, Tensor) else "Scalar")(t.tensor(x), y)


for _name in COMPARISONS:
    _compared(_name)


@lowering("clamp")
def _clamp(t, x, min, max):
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return t.a.clamp.Tensor(x, t.tensor(min), t.tensor(max))
    return t.a.clamp.default(x, min, max)


@lowering("where")
def _where(t, condition, x, y):
    chosen = (x if condition else y) if isinstance(condition, bool) else None
    if isinstance(chosen, Tensor) and t.has_form(chosen):
        return chosen
    condition = t.tensor(condition)
    return t.a.where.self(condition, t.tensor_like(x, y), t.tensor_like(y, x))
