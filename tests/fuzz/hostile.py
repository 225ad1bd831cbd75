"""Hostile arguments: what careless and malicious callers pass, seeded so that every call can be made again."""
import math

import numpy

from tricks import Nasty, tricks

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
INTS = (0, 1, 2, 3, 5, -1, -2, -7, 63, 100, 2**31 - 1, 2**31, -2**31, 2**40, 2**63 - 1, -2**63, 2**63, 2**70, True)
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf"), 3, 10**400)
STRINGS = ("", "none", "mean", "sum", "constant", "reflect", "tanh", "linear", "nearest", "\0", "ü" * 50, "float32",
           "%s%n")
DEVICES = ("cpu", "meta", "cuda", "cuda:99", "fake", "fake:7", "nowhere", "", "cpu:-1", "cpu:99999999999999999999")
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e38, -1e-40)


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


def tensor(kit, rng, like=None):
    """Return a tensor, an array or a number: any dtype, shape, strides and device."""
    kind = rng.integers(12)
    if kind == 0:
        return stranger(kit, rng)
    if kind == 1:
        return stride(rng, array(rng))
    if kind == 2:
        # Huge, but with fewer than 2**63 bytes in every dtype: beyond that no tensor can be made.
        sizes = pick(rng, [(2**29, 2**29), (2**40,), (0, 2**58), (3, 4), (), (2**19, 2**19, 2**19)])
        return kit.huge(pick(rng, kit.dtypes), sizes)
    if kind == 3:
        return pick(rng, (0, 1, -1, 2.5, float("nan"), 1j, True, 2**63, -2**70))
    alike, same_dtype, same_size = kit.look(like), rng.integers(2), rng.integers(2)
    dtype = alike[0] if alike and same_dtype else pick(rng, kit.dtypes)
    size = alike[1] if alike and same_size and math.prod(alike[1]) < 10**6 else None
    numbers = array(rng, "float32" if dtype == "bfloat16" else dtype, size)
    made = kit.make(stride(rng, numbers) if kind < 7 else numbers)
    if dtype == "bfloat16":
        made = kit.cast(made, dtype)
    if kind == 4:
        return kit.learn(made)
    if kind == 5:
        return kit.meta(made)
    return kit.strange(rng, made) if kind == 6 else made


def stranger(kit, rng):
    """Return an object that nobody expects: a value, a trick that is made anew, or one of the guest's own kinds."""
    kind = rng.integers(8)
    if kind < 2:
        return pick(rng, tricks)()
    if kind < 4 and kit.things:
        return pick(rng, kit.things)(kit)
    return pick(rng, STRANGERS)


def integers(kit, rng):
    """Return what may come where a list of integers is expected."""
    kind = rng.integers(6)
    if kind == 0:
        return pick(rng, INTS)
    if kind == 1:
        return stranger(kit, rng)
    count = int(rng.integers(0, 100)) if kind == 2 else int(rng.integers(0, 5))
    small = rng.integers(3) > 0
    found = [int(rng.integers(-3, 5)) if small else pick(rng, INTS) for _ in range(count)]
    return tuple(found) if rng.integers(2) else found


def value(kit, rng, argument, like=None):
    """Return something for an argument of a schema: of its type more often than not."""
    kind = argument["type"].rstrip("?!")
    if rng.integers(8) == 0:
        return stranger(kit, rng)
    if kind == "Tensor":
        return tensor(kit, rng, like)
    if kind.startswith("Tensor"):
        return [tensor(kit, rng, like) for _ in range(int(rng.integers(0, 4)))]
    if kind == "int":
        return pick(rng, INTS)
    if kind in ("float", "Scalar"):
        return pick(rng, FLOATS if rng.integers(2) else INTS)
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "str":
        return pick(rng, STRINGS)
    if kind == "dtype":
        return kit.dtype(pick(rng, kit.dtypes + ("float", "nothing", "")))
    if kind == "device":
        return pick(rng, DEVICES)
    if kind.startswith("int["):
        return integers(kit, rng)
    if kind.startswith("float["):
        return [pick(rng, FLOATS) for _ in range(int(rng.integers(0, 4)))]
    return stranger(kit, rng) if rng.integers(2) else tensor(kit, rng, like)


def scramble(kit, rng, arguments, args, kwargs):
    """Change one or two arguments of a call that was right."""
    args, kwargs = list(args), dict(kwargs)
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(arguments))) if arguments else 0
        if not arguments:
            break
        name = arguments[at]["name"]
        if at < len(args):
            args[at] = value(kit, rng, arguments[at], args[at])
        else:
            kwargs[name] = value(kit, rng, arguments[at])
    return args, kwargs


def from_nothing(kit, rng, arguments):
    """Return (args, kwargs) made up from the schema alone."""
    args, kwargs = [], {}
    for argument in arguments:
        if argument["has_default"] and rng.integers(2):
            continue
        if argument["keyword_only"] or kwargs or rng.integers(6) == 0:
            kwargs[argument["name"]] = value(kit, rng, argument)
        else:
            args.append(value(kit, rng, argument))
    return args, kwargs


def spoil(kit, rng, args, kwargs, takes_out):
    """Now and then add or take away whole arguments, or name a destination."""
    kind = rng.integers(20)
    if kind > 2 and not takes_out:
        return args, kwargs
    if kind == 0:
        kwargs["nonsense"] = 1
    elif kind == 1 and args:
        args = args[:-1]
    elif kind == 2:
        args = args + [stranger(kit, rng)]
    elif kind == 3:
        kwargs["out"] = tensor(kit, rng, args[0] if args else None)
    elif kind == 4 and args:
        kwargs["out"] = args[0]  # reads and writes the same memory
    elif kind == 5 and args:
        overlapping = kit.overlapping(args[0])
        if overlapping:
            args[0], kwargs["out"] = overlapping
    elif kind == 6:
        count = int(rng.integers(4))
        kwargs["out"] = tuple(tensor(kit, rng, args[0] if args else None) for _ in range(count))
    return args, kwargs


def generator(seed, index, name):
    """Return the random numbers of one call."""
    return numpy.random.default_rng([seed, index, *name.encode()])


def arguments_of_call(kit, rng, arguments, base, takes_out=False):
    """Return (args, kwargs) of a hostile call; from one that was right, if there is one."""
    args, kwargs = scramble(kit, rng, arguments, *base) if base else from_nothing(kit, rng, arguments)
    takes_out = takes_out or any(argument["name"] == "out" for argument in arguments)
    return spoil(kit, rng, list(args), dict(kwargs), takes_out)
