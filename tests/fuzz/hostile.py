"""Hostile arguments: what careless and malicious callers pass, seeded so that every call can be made again."""
import math

import numpy

import dragon

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
INTS = (0, 1, 2, 3, 5, -1, -2, -7, 63, 100, 2**31 - 1, 2**31, -2**31, 2**40, 2**63 - 1, -2**63, 2**63, 2**70, True)
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf"), 3, 10**400)
STRINGS = ("", "none", "mean", "sum", "constant", "reflect", "tanh", "linear", "nearest", "\0", "ü" * 50, "float32",
           "%s%n")
DEVICES = ("cpu", "meta", "cuda", "cuda:99", "fake", "fake:7", "nowhere", "", "cpu:-1", "cpu:99999999999999999999")
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e38, -1e-40)


class Nasty:
    """An object whose every use raises."""

    def __index__(self):
        raise ZeroDivisionError("index")

    def __float__(self):
        raise ZeroDivisionError("float")

    def __len__(self):
        raise ZeroDivisionError("len")

    def __repr__(self):
        return "Nasty()"


STRANGERS = (None, "text", b"bytes", 3, -1.5, 2j, True, [], (), {}, object, [[1], [2, 3]], [None], ["a"], range(3),
             2**80, Nasty(), [Nasty()], Ellipsis, slice(None), {1, 2}, numpy.float32(2), numpy.datetime64("2020"),
             numpy.array(["a", "b"]), numpy.array([object()]), numpy.zeros(3, ">f4"), numpy.zeros(2, "f4,i4"))


def pick(rng, items):
    """Return one of the items."""
    return items[int(rng.integers(len(items)))]


def shape(rng):
    """Return a small shape; now and then an empty, a deep or a scalar one."""
    kind = rng.integers(10)
    if kind == 0:
        return ()
    ndim = int(rng.integers(5, 12)) if kind == 1 else int(rng.integers(1, 5))
    return tuple(int(size) for size in rng.integers(0 if kind < 4 else 1, 3 if ndim > 4 else 5, ndim))


def array(rng, dtype=None, size=None):
    """Return seeded numbers of a dtype that NumPy has; special ones among the floats."""
    dtype = dtype or pick(rng, [name for name in DTYPES if name != "bfloat16"])
    size = shape(rng) if size is None else size
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.startswith(("int", "uint")):
        numbers = rng.integers(0, 200, size) if rng.integers(3) == 0 else rng.integers(-2, 4, size)
        return numpy.asarray(numbers).astype(dtype)
    numbers = numpy.asarray(rng.standard_normal(size), dtype="float64")
    if rng.integers(3) == 0 and numbers.size:
        numbers.ravel()[rng.integers(numbers.size)] = pick(rng, SPECIAL)
    with numpy.errstate(all="ignore"):
        return numpy.asarray(numbers).astype(dtype)


def stride(rng, numbers):
    """Return a view of numbers with strides that are not row-major; maybe negative, maybe overlapping."""
    kind = rng.integers(5)
    if numbers.ndim == 0 or kind == 0:
        return numbers
    if kind == 1:
        return numbers.T
    if kind == 2:
        return numbers[::2]
    if kind == 3:
        return numbers[::-1]
    return numpy.broadcast_to(numbers[:1], (3,) + numbers.shape[1:]) if numbers.shape[0] else numbers


def tensor(rng, like=None):
    """Return a tensor, an array or a number: any dtype, shape, strides and device."""
    kind = rng.integers(12)
    if kind == 0:
        return pick(rng, STRANGERS)
    if kind == 1:
        return stride(rng, array(rng))
    if kind == 2:
        # Huge, but with fewer than 2**63 bytes in every dtype: beyond that no tensor can be made.
        sizes = pick(rng, [(2**29, 2**29), (2**40,), (0, 2**58), (3, 4), (), (2**19, 2**19, 2**19)])
        return dragon.ops.expand(dragon.tensor(1.0, pick(rng, DTYPES), "meta"), sizes)
    if kind == 3:
        return pick(rng, (0, 1, -1, 2.5, float("nan"), 1j, True, 2**63, -2**70))
    dtype = like.dtype.name if isinstance(like, dragon.Tensor) and rng.integers(2) else pick(rng, DTYPES)
    same_size = isinstance(like, dragon.Tensor) and rng.integers(2) and math.prod(like.shape) < 10**6
    size = tuple(like.shape) if same_size else None
    numbers = array(rng, "float32" if dtype == "bfloat16" else dtype, size)
    if kind < 7:
        numbers = stride(rng, numbers)
    try:
        made = dragon.from_numpy(numbers)
    except ValueError:  # negative strides are refused here already
        made = dragon.tensor(numpy.array(numbers))
    if dtype == "bfloat16":
        made = dragon.ops.cast(made, dragon.bfloat16)
    if kind == 4 and made.dtype.is_floating_point:
        made = made.detach()
        made.requires_grad = True
    return dragon.ops.to_device(made.detach(), dragon.Device("meta")) if kind == 5 else made


def integers(rng):
    """Return what may come where a list of integers is expected."""
    kind = rng.integers(6)
    if kind == 0:
        return pick(rng, INTS)
    if kind == 1:
        return pick(rng, STRANGERS)
    count = int(rng.integers(0, 100)) if kind == 2 else int(rng.integers(0, 5))
    small = rng.integers(3) > 0
    found = [int(rng.integers(-3, 5)) if small else pick(rng, INTS) for _ in range(count)]
    return tuple(found) if rng.integers(2) else found


def value(rng, argument, like=None):
    """Return something for an argument of a schema: of its type more often than not."""
    kind = argument["type"].rstrip("?!")
    if rng.integers(8) == 0:
        return pick(rng, STRANGERS)
    if kind == "Tensor":
        return tensor(rng, like)
    if kind.startswith("Tensor"):
        return [tensor(rng, like) for _ in range(int(rng.integers(0, 4)))]
    if kind == "int":
        return pick(rng, INTS)
    if kind in ("float", "Scalar"):
        return pick(rng, FLOATS if rng.integers(2) else INTS)
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "str":
        return pick(rng, STRINGS)
    if kind == "dtype":
        return pick(rng, DTYPES + ("float", "nothing", ""))
    if kind == "device":
        return pick(rng, DEVICES)
    if kind.startswith("int["):
        return integers(rng)
    if kind.startswith("float["):
        return [pick(rng, FLOATS) for _ in range(int(rng.integers(0, 4)))]
    return pick(rng, STRANGERS)


def scramble(rng, arguments, args, kwargs):
    """Change one or two arguments of a call that was right."""
    args, kwargs = list(args), dict(kwargs)
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(arguments))) if arguments else 0
        if not arguments:
            break
        name = arguments[at]["name"]
        if at < len(args):
            args[at] = value(rng, arguments[at], args[at])
        else:
            kwargs[name] = value(rng, arguments[at])
    return args, kwargs


def from_nothing(rng, arguments):
    """Return (args, kwargs) made up from the schema alone."""
    args, kwargs = [], {}
    for argument in arguments:
        if argument["has_default"] and rng.integers(2):
            continue
        if argument["keyword_only"] or kwargs or rng.integers(6) == 0:
            kwargs[argument["name"]] = value(rng, argument)
        else:
            args.append(value(rng, argument))
    return args, kwargs


def spoil(rng, args, kwargs):
    """Now and then add or take away whole arguments, or name a destination."""
    kind = rng.integers(20)
    if kind == 0:
        kwargs["nonsense"] = 1
    elif kind == 1 and args:
        args = args[:-1]
    elif kind == 2:
        args = args + [pick(rng, STRANGERS)]
    elif kind == 3:
        kwargs["out"] = tensor(rng, args[0] if args else None)
    elif kind == 4 and args:
        kwargs["out"] = args[0]  # reads and writes the same memory
    elif kind == 5 and args and isinstance(args[0], dragon.Tensor) and args[0].ndim and args[0].shape[0] > 1:
        try:
            base = args[0].detach()
            args[0] = dragon.ops.slice(base, 0, 0, -1)
            kwargs["out"] = dragon.ops.slice(base, 0, 1)  # overlaps by all but one row
        except (ValueError, RuntimeError, TypeError, NotImplementedError):
            kwargs["out"] = None
    return args, kwargs


def calls(name, bases, seed, count):
    """Yield (index, args, kwargs) of hostile calls of an operator; `bases(index)` returns right ones to start from."""
    arguments = dragon._C.schema(name)["arguments"]
    for index in range(count):
        rng = numpy.random.default_rng([seed, index, *name.encode()])
        base = bases(index) if index % 3 else None
        args, kwargs = scramble(rng, arguments, *base) if base else from_nothing(rng, arguments)
        yield (index,) + spoil(rng, list(args), dict(kwargs))
