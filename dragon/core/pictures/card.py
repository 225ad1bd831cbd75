"""A tensor as a small card of HTML: its form, a few figures, and a corner of its numbers, for little work."""
import itertools
import math

from dragon import _C
from dragon.core import modes
from dragon.core.operators import operators
from dragon.core.pictures.page import escape, shorten
from dragon.core.units import count_bytes

_COUNTED = 1 << 20  # elements; of larger tensors no figures are told, since that would take time
_ROWS, _COLUMNS, _LETTERS = 6, 8, 24
_STYLE = "border:1px solid #8886;border-radius:6px;padding:6px 10px;display:inline-block;max-width:100%;overflow:auto"
# What is asked of the engine's tensor itself: a subclass may answer otherwise, and at any price.
_shape_of, _dtype_of, _device_of = (getattr(_C.Tensor, name).__get__ for name in ("shape", "dtype", "device"))
_item_size_of, _requires_grad, _step_of = (getattr(_C.Tensor, name).__get__
                                           for name in ("itemsize", "requires_grad", "grad_fn"))
_numpy_of = _C.Tensor.numpy
_CELL = "padding:1px 7px;text-align:right;font-family:monospace;border:0"


def tensor_card(tensor, kind="Tensor", notes=()):
    """Return a tensor as HTML.

    Parameters
    ----------
    tensor : dragon._C.Tensor
        The tensor, of any face.
    kind : str, optional, default="Tensor"
        What its class is called.
    notes : Sequence[Tuple[str, object]], optional
        More to tell: names and values.

    Returns
    -------
    str
        The card, to stand within a page. It takes the colours of its page.

    """
    shape = tuple(_shape_of(tensor))
    size = math.prod(shape)
    facts = [("shape", shape), ("dtype", _name_of(tensor)), ("device", str(_device_of(tensor))),
             ("size", count_bytes(size * _item_size_of(tensor)))]
    step = _step_of(tensor)
    if step is not None or _requires_grad(tensor):
        facts.append(("requires_grad", True))
    if step is not None:
        facts.append(("grad_fn", step.name()))
    corner = ""
    try:
        plain = _plain(tensor)
        if plain is None:
            facts.append(("numbers", "none: a meta tensor"))
        elif size:
            figures = _figures(_host(plain)) if size <= _COUNTED else []
            corner, facts = _draw_corner(plain, shape), facts + figures
    except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:  # a stand-in of vmap or of a trace
        facts.append(("numbers", f"cannot be read here: {error}"))
    return draw_card(kind, [*facts, *notes], corner)


def draw_card(kind, facts, inside=""):
    """Return a card of names and values.

    Parameters
    ----------
    kind : str
        What it is.
    facts : Iterable[Tuple[str, object]]
        Names and values, escaped here.
    inside : str, optional
        HTML below them.

    Returns
    -------
    str
        The card.

    """
    told = " · ".join(f'<span style="opacity:.65">{escape(name)}</span> {escape(shorten(value))}'
                      for name, value in facts)
    return f'<div style="{_STYLE}"><div><b>{escape(shorten(kind))}</b> {told}</div>{inside}</div>'


def _name_of(tensor):
    """Return the name of a tensor's dtype, as all faces know it."""
    dtype = _dtype_of(tensor)
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def _plain(tensor):
    """Return a tensor that is read without a history, of no face; None for one without numbers."""
    plain = _C.as_class(tensor, _C.Tensor).detach()
    return None if "meta" in str(_device_of(plain)) else plain


def _host(plain):
    """Return numbers as a NumPy array; dtypes that NumPy has not become float32."""
    import numpy
    with modes.no_grad():
        plain = operators().to_device(plain, "cpu")
        if _name_of(plain).startswith(("bfloat16", "float8")):
            plain = operators().cast(plain, "float32")
    return numpy.asarray(_numpy_of(operators().contiguous(plain)))


def host_numbers(x):
    """Return the numbers of an array, tensor or variable of any face as a NumPy array.

    Parameters
    ----------
    x : object
        The numbers.

    Returns
    -------
    numpy.ndarray
        An array, of the tensor's own memory where that is on the host.

    """
    import numpy
    x = getattr(x, "value", x) if not isinstance(x, _C.Tensor) else x
    if not isinstance(x, _C.Tensor):
        return numpy.asarray(x)
    plain = _plain(x)
    if plain is None:
        raise ValueError("image: got a meta tensor, which has no numbers, expected one with numbers")
    return _host(plain)


def _figures(numbers):
    """Return what can be said of numbers in a word or two."""
    import numpy
    if numbers.dtype.kind == "b":
        return [("true", f"{int(numbers.sum()):,} of {numbers.size:,}")]
    if numbers.dtype.kind == "c":
        size = numpy.abs(numbers)
        good = size[numpy.isfinite(size)]
        return _bad(size) + ([("largest absolute", f"{good.max():.4g}")] if good.size else [])
    if numbers.dtype.kind not in "iuf":
        return []
    good = numbers[numpy.isfinite(numbers)]
    facts = [("min", f"{good.min():.4g}"), ("mean", f"{good.mean(dtype=numpy.float64):.4g}"),
             ("max", f"{good.max():.4g}")] if good.size else []
    return facts + _bad(numbers)


def _bad(numbers):
    import numpy
    nan, infinite = int(numpy.isnan(numbers).sum()), int(numpy.isinf(numbers).sum())
    return [(word, f"{count:,}") for word, count in (("NaN", nan), ("infinite", infinite)) if count]


def _draw_corner(plain, shape):
    """Return the first rows and columns of the last two axes, at index 0 of all others."""
    for _ in shape[:-2]:
        plain = operators().select(plain, 0, 0)
    for axis, most in zip(range(plain.ndim), (_ROWS, _COLUMNS)[-plain.ndim:] if plain.ndim else ()):
        plain = operators().narrow(plain, axis, 0, min(plain.shape[axis], most))
    numbers = _host(plain)
    rows = numbers.reshape((1, -1) if numbers.ndim < 2 else numbers.shape).tolist()
    seen = tuple(shape[-2:])
    place = f"[{', '.join('0' for _ in shape[:-2])}, …]" if len(shape) > 2 else ""
    return _draw_table(rows, (1, *seen)[-2:] if seen else (1, 1), place)


def _draw_table(rows, shape, place=""):
    """Return rows of numbers as a table; dots stand where more would follow."""
    shown = []
    for row in itertools.islice(rows, _ROWS):
        cells = [_tell(value) for value in row[:_COLUMNS]] + (["…"] if shape[1] > _COLUMNS else [])
        shown.append("".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in cells))
    if shape[0] > _ROWS:
        shown.append(f'<td style="{_CELL}">…</td>')
    caption = f'<caption style="text-align:left;opacity:.65">{escape(place)}</caption>' if place else ""
    return (f'<table style="border-collapse:collapse;margin-top:4px;font-size:12px">{caption}'
            + "".join(f"<tr>{row}</tr>" for row in shown) + "</table>")


def _tell(value):
    """Return a number in few letters."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (float, complex)):
        return f"{value:.4g}"
    return shorten(value if isinstance(value, int) else repr(value), _LETTERS)


def array_card(array, kind, notes=()):
    """Return a NumPy array of anything, texts for one, as HTML.

    Parameters
    ----------
    array : numpy.ndarray
        The array.
    kind : str
        What it is.
    notes : Sequence[Tuple[str, object]], optional
        More to tell.

    Returns
    -------
    str
        The card.

    """
    corner = ""
    if array.size:
        head = array[(0,) * max(array.ndim - 2, 0)]
        head = head[tuple(slice(0, most) for most in (_ROWS, _COLUMNS)[-head.ndim:])] if head.ndim else head
        rows = [[head.item()]] if head.ndim == 0 else [head.tolist()] if head.ndim == 1 else head.tolist()
        corner = _draw_table(rows, ((1, 1) + array.shape)[-2:])
    return draw_card(kind, [("shape", array.shape), *notes], corner)
