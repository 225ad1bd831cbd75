"""Nearly right arguments: a right call in which one thing is changed, in plain values that every guest can be given.

A plain value is a number, a text, None, or a list whose first item tells what it is: `["tensor", array, learns]`,
`["list", item, ...]`, `["dtype", name]`, `["cast", tensor, name]`, `["shared", tensor, shape]`, `["argument", place]`.
"""
import copy

import numpy

from hostile import pick

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
SPECIAL = (float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 2.0, -1e-3)
HUGE = 10**9
MOST_HUGE = 20  # one of so many numbers that are changed becomes a huge one


def is_tensor(value):
    """Return whether a plain value is a tensor."""
    return isinstance(value, list) and bool(value) and value[0] == "tensor"


def is_list(value):
    """Return whether a plain value is a list."""
    return isinstance(value, list) and bool(value) and value[0] == "list"


def resize(rng, array, change):
    """Return an array with one axis changed in length: "longer", "shorter", "empty", or 1 where it was more."""
    axis = int(rng.integers(array.ndim))
    size = array.shape[axis]
    if change == "longer":
        return numpy.concatenate([array, numpy.take(array, [0] if size else [], axis)], axis) if size else \
            numpy.zeros([1 if place == axis else n for place, n in enumerate(array.shape)], array.dtype)
    count = {"shorter": max(size - 1, 0), "empty": 0, "one": min(size, 1)}[change]
    return numpy.take(array, range(count), axis)


def change_element(rng, array):
    """Return an array with one element out of its usual range."""
    array = numpy.array(array)
    at = int(rng.integers(array.size))
    if array.dtype.kind in "iu":
        size = int(array.max()) + 1
        value = pick(rng, (-1, size, size + 7, -size - 1, 0, 100, -100, 2**31 - 1))
        array.reshape(-1)[at] = numpy.asarray(value).astype(array.dtype)
    elif array.dtype.kind in "fc":
        array.reshape(-1)[at] = pick(rng, SPECIAL)
    else:
        array.reshape(-1)[at] = not array.reshape(-1)[at]
    return array


def change_tensor(rng, value):
    """Return (a changed tensor, what was changed)."""
    array, learns = value[1], value[2]
    kinds = ["one more dim", "dtype", "dtype", "other"]
    kinds += ["longer", "longer", "shorter", "shorter", "empty", "one", "one dim fewer"] if array.ndim else []
    kinds += ["element", "element", "element", "negative"] if array.size and array.dtype.kind in "iufcb" else []
    kind = pick(rng, kinds)
    if kind in ("longer", "shorter", "empty", "one"):
        return ["tensor", resize(rng, array, kind), learns], kind
    if kind == "one more dim":
        return ["tensor", numpy.expand_dims(array, int(rng.integers(array.ndim + 1))), learns], kind
    if kind == "one dim fewer":
        axis = int(rng.integers(array.ndim))
        found = numpy.take(array, 0, axis) if array.shape[axis] else array.sum(axis).astype(array.dtype)
        return ["tensor", numpy.asarray(found), learns], kind
    if kind == "element":
        return ["tensor", change_element(rng, array), learns], kind
    if kind == "negative":
        with numpy.errstate(all="ignore"):
            return ["tensor", numpy.asarray(-abs(array.astype("float64") if array.dtype == bool else array) - 1)
                    .real.astype(array.dtype), learns], kind
    if kind == "dtype":
        return change_dtype(rng, value), kind
    return pick(rng, (None, 1, -1, 2.5, "text", ["list"], ["list", value])), kind


def change_dtype(rng, value):
    """Return a tensor of another dtype."""
    if value[1].dtype.kind not in "iufcb":
        return ["tensor", numpy.ones(value[1].shape, "float32"), False]
    name = pick(rng, [name for name in DTYPES if name != value[1].dtype.name])
    with numpy.errstate(all="ignore"):
        array = value[1].real if value[1].dtype.kind == "c" and "complex" not in name else value[1]
        floating = "float" in name or "complex" in name
        if name == "bfloat16":
            return ["cast", ["tensor", array.astype("float32"), False], name]
        return ["tensor", array.astype(name), value[2] and floating]


def change_number(rng, value):
    """Return (another number, what was changed)."""
    if isinstance(value, bool):
        return pick(rng, (not value, 1, 0, None, 2.5)), "truth"
    if isinstance(value, int):
        if rng.integers(MOST_HUGE) == 0:
            return pick(rng, (HUGE, -HUGE, 2**31, 2**63, -2**63)), "huge"
        return pick(rng, (value + 1, value - 1, 0, -1, -value - 1, value + 5, value + 0.5, float(value), True, None,
                          -2)), "number"
    if isinstance(value, complex):
        return pick(rng, (-value, value.real, complex("nan"), None)), "number"
    return pick(rng, (-value, -1.0, 0.0, 1.0, 2.0, float("nan"), float("inf"), float("-inf"), 1e300, int(value)
                      if value == value and abs(value) < 1e18 else 0, None, 1j)), "number"


def change_list(rng, value, depth):
    """Return (a changed list, what was changed)."""
    items = value[1:]
    kind = pick(rng, ("item", "item", "item", "shorter", "longer", "empty", "bare"))
    if not items or kind == "longer":
        return ["list", *items, copy.deepcopy(items[-1]) if items else 1], "list longer"
    if kind == "shorter":
        return ["list", *items[:-1]], "list shorter"
    if kind == "empty":
        return ["list"], "list empty"
    if kind == "bare":
        return items[0], "bare item"
    place = int(rng.integers(len(items)))
    items[place], words = change(rng, items[place], depth + 1)
    return ["list", *items], f"item {place} {words}"


def change(rng, value, depth=0):
    """Return (a changed plain value, what was changed)."""
    if is_tensor(value):
        return change_tensor(rng, value)
    if is_list(value):
        return change_list(rng, value, depth)
    if isinstance(value, list):
        return ["dtype", pick(rng, DTYPES)], "dtype"
    if isinstance(value, str):
        return pick(rng, (value.upper(), value.lower(), value + "x", "", "nonsense", "none", None, 1)), "text"
    if isinstance(value, (bool, int, float, complex)):
        return change_number(rng, value)
    return pick(rng, (1, -1, 0, 2.5, "text", ["list", 1], ["tensor", numpy.ones(2, "float32"), False])), "something"


def add_destination(rng, results, args):
    """Return (a destination that does not fit, or does, what it is) for results of these shapes and dtypes."""
    made = []
    kind = pick(rng, ("right", "learns", "dtype", "shape", "shared", "argument", "count"))
    for name, shape in results:
        base = "float32" if name == "bfloat16" else name
        array = numpy.zeros(shape, base)
        tensor = ["tensor", array, kind == "learns" and array.dtype.kind in "fc"]
        if kind == "dtype":
            tensor = change_dtype(rng, tensor)
        elif kind == "shape" and array.ndim:
            tensor[1] = resize(rng, array, "longer")
        elif kind == "shared":
            tensor = ["shared", ["tensor", numpy.zeros([1] * len(shape), base), False], list(shape)]
        elif kind == "argument" and args and is_tensor(args[0]):
            tensor = ["argument", 0]
        made.append(tensor)
    if kind == "count":
        made.append(["tensor", numpy.zeros(2, "float32"), False])
    return (made[0] if len(made) == 1 else ["list", *made]), f"out {kind}"


def nearly(rng, call, takes_out):
    """Return (args, kwargs, what was changed) of a right call of which one thing is changed.

    Parameters
    ----------
    rng : numpy.random.Generator
        Chooses.
    call : tuple
        (args, kwargs, results); results are (dtype, shape) of each, or None.
    takes_out : bool
        Whether the function has an `out`.

    """
    args, kwargs, results = call
    args, kwargs = copy.deepcopy(list(args)), copy.deepcopy(dict(kwargs))
    if takes_out and results and "out" not in kwargs and rng.integers(6) == 0:
        kwargs["out"], words = add_destination(rng, results, args)
        return args, kwargs, words
    places = list(range(len(args))) + list(kwargs)
    if not places:
        return [1], kwargs, "one argument more"
    place = pick(rng, places)
    home = kwargs if isinstance(place, str) else args
    if rng.integers(25) == 0:
        if isinstance(place, str):
            del kwargs[place]
        else:
            del args[-1]
        return args, kwargs, "one argument fewer"
    home[place], words = change(rng, home[place])
    return args, kwargs, f"{place}: {words}"
