"""Arithmetic that takes more than a row: remainders, and numbers in the place of those that are none."""
from dragon.onnx.table import maps


def float_remainder(w, x, y):
    """Return what truncating division leaves, and whether its sign differs from y's."""
    left = w.Mod(x, y, fmod=1)
    differs = w.And(w.Not(w.Equal(left, 0)), w.Xor(w.Less(left, 0), w.Less(y, 0)))
    return left, differs


@maps("remainder")
def remainder(w, x, y):
    x, y = w.promoted(x, y)
    if not x.is_float:
        return w.Mod(x, y)
    left, differs = float_remainder(w, x, y)
    return w.Where(differs, w.Add(left, y), left)


@maps("floor_divide")
def floor_divide(w, x, y):
    """As Python's //: the quotient that goes with the remainder, not the rounded quotient's floor."""
    x, y = w.promoted(x, y)
    if not x.is_float:
        return w.Div(w.Sub(x, w.Mod(x, y)), y)
    left, differs = float_remainder(w, x, y)
    quotient = w.Div(w.Sub(x, left), y)
    quotient = w.Round(w.Where(differs, w.Sub(quotient, 1), quotient))
    return w.Where(w.Equal(y, 0), w.Div(x, y), quotient)


@maps("nan_to_num")
def nan_to_num(w, x, nan, posinf, neginf):
    if not x.is_float:
        return x
    largest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
               "float64": 1.7976931348623157e308}[x.dtype]
    numbers = (nan or 0.0, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    nan, high, low = (w.constant(number, x.dtype) for number in numbers)
    y = w.Where(w.IsNaN(x), nan, x)
    y = w.Where(w.IsInf(x, detect_negative=0), high, y)
    return w.Where(w.IsInf(x, detect_positive=0), low, y)
