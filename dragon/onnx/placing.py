"""Pictures scaled and moved: each axis multiplied by weights, which follow from numbers known at run time only."""
import math

from dragon.onnx.places import count_places, whole
from dragon.onnx.table import maps

NEAR_ZERO = 1e-20  # stands for 0 where it is divided by
NOTHING = 1e-35  # weights that come to no more than this are none


def sinc(w, x):
    """Return sin(pi x) / (pi x)."""
    angle = w.Mul(w.Where(w.Equal(x, 0.0), w.constant(NEAR_ZERO, "float32"), x), math.pi)
    return w.Div(w.Sin(angle), angle)


def polynomial(w, x, *factors):
    """Return a polynomial, the highest power first."""
    value = w.Mul(x, factors[0])
    for factor in factors[1:-1]:
        value = w.Mul(w.Add(value, factor), x) if factor else w.Mul(value, x)
    return w.Add(value, factors[-1])


def parted(w, x, *parts):
    """Return the part that x is below the bound of; beyond all, 0."""
    value = w.constant(0.0, "float32")
    for bound, part in reversed(parts):
        value = w.Where(w.Less(x, float(bound)), part, value)
    return value


def weigh(w, mode, x):
    """Return how much is weighed what lies x away."""
    if mode == "triangle":
        return w.Max(w.Sub(1.0, x), 0.0)
    if mode == "box":
        half = w.Where(w.Equal(x, 0.5), w.constant(0.5, "float32"), w.constant(0.0, "float32"))
        return w.Where(w.Less(x, 0.5), w.constant(1.0, "float32"), half)
    if mode == "gaussian":
        return parted(w, x, (1.5, w.Exp(w.Mul(w.Mul(x, x), -2.0))))
    if mode == "keys":
        return parted(w, x, (1, polynomial(w, x, 1.5, -2.5, 0, 1)), (2, polynomial(w, x, -0.5, 2.5, -4, 2)))
    if mode == "mitchell":
        return parted(w, x, (1, polynomial(w, x, 7 / 6, -2, 0, 8 / 9)),
                      (2, polynomial(w, x, -7 / 18, 2, -10 / 3, 16 / 9)))
    reach = float(mode.removeprefix("lanczos"))
    return parted(w, x, (reach, w.Mul(sinc(w, x), sinc(w, w.Div(x, reach)))))


def weights(w, scale, move, old, new, mode, antialias):
    """Return the share of each old place in each new one, (old, new)."""
    step = w.Div(1.0, scale)
    places = w.Sub(w.Mul(w.Add(w.cast(count_places(w, new), "float32"), 0.5), step), w.Mul(move, step))
    middles = w.Unsqueeze(w.Add(w.cast(count_places(w, old), "float32"), 0.5), [1])
    away = w.Abs(w.Sub(w.Unsqueeze(places, [0]), middles))
    found = weigh(w, mode, w.Div(away, w.Max(step, 1.0)) if antialias else away)
    total = w.ReduceSum(found, [0], keepdims=1)
    known = w.Greater(w.Abs(total), NOTHING)
    inside = w.And(w.Not(w.Less(places, 0.0)), w.LessOrEqual(places, w.cast(whole(w, old), "float32")))
    one, none = w.constant(1.0, "float32"), w.constant(0.0, "float32")
    return w.Where(w.And(known, w.Unsqueeze(inside, [0])), w.Div(found, w.Where(known, total, one)), none)


@maps("scale_and_translate")
def scale_and_translate(w, x, scale, translation, size, mode, antialias):
    if 0 in x.shape:
        return w.full([*x.shape[:2], *size], 0, x.dtype)
    y = x
    for axis, (old, new) in enumerate(zip(x.shape[2:], size), start=2):
        numbers = [w.Gather(value, w.constant([axis - 2], "int64"), axis=0) for value in (scale, translation)]
        order = [place for place in range(x.ndim) if place != axis] + [axis]
        made = w.MatMul(w.transpose(y, order), w.cast(weights(w, *numbers, old, new, mode, antialias), x.dtype))
        y = w.transpose(made, [order.index(place) for place in range(x.ndim)])
    return y
