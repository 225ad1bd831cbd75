"""The edges of numbers and shapes: from each sample of a row, the calls that nobody writes and every program makes."""
import dataclasses
import itertools
import math
import re
import zlib

import numpy

from harness import engine
from harness.inputs import Arguments, Input, bind, is_tensor_type, round_to
from harness.row import INTEGER, Sample

BFLOAT16 = {"max": 3.3895313892515355e38, "tiny": 1.1754943508222875e-38, "subnormal": 9.183549615799121e-41}
SIZES = (0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 257, 1000, 1031)
# Of samples with more than one axis: beside empty and one, those around a vector and a tile.
OTHER_SIZES = (0, 1, 7, 17, 64)
LARGEST = 20000  # elements of a resized operand
# Masks and huge numbers fill whole rows of real programs, so they fill rows, columns and tensors here.
FILLS = (0.0, 1.0, -1e4, -1e30, "max", "inf", "-inf", "nan")
SPRINKLED = ("nan", "inf", "-inf", 0.0, -0.0, 1.0, "subnormal", 1e4, -1e4)
LONG_FAMILIES = {"activation", "index", "loss", "math", "normalization", "reduction", "sort"}
# Sums of products: near the largest number each order of work overflows elsewhere.
SUMS_OF_PRODUCTS = {"attention", "convolution", "fft", "linalg", "matmul", "recurrent", "vision"}
QUADRATIC = {"combinations", "diagflat", "diag_embed", "cartesian_prod", "block_diag", "kron", "outer", "pdist"}
LEAST_KILLS = {"divide", "lcm", "trunc_divide"}  # by -1, PyTorch's process
INTEGERS_WITH_MEANING = {"one_hot", "bincount", "repeat_places"}  # their numbers are sizes of what is allocated


@dataclasses.dataclass
class Case:
    """One call at an edge."""

    title: str
    arguments: Arguments
    sized: bool  # of tame numbers at other sizes, so that only rounding grows
    finite: bool  # no NaN and nothing infinite or nearly so among its numbers: its gradient means something


def number(word, dtype):
    """Return the number that a word stands for in a dtype."""
    if dtype == "bfloat16" and word in BFLOAT16:
        return BFLOAT16[word]
    if word in ("max", "tiny", "subnormal"):
        info = numpy.finfo(dtype)
        return float({"max": info.max, "tiny": info.tiny, "subnormal": info.smallest_subnormal}[word])
    return float(word)


def real_edges(dtype):
    """Return the numbers at which floats of a dtype change their ways."""
    words = (0.0, -0.0, "subnormal", "tiny", 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.0, 20.5, 88.0, -104.0, 1e4, -1e4, 1e30,
             -1e30, "max", "inf", "-inf", "nan")
    found = [number(word, dtype) for word in words]
    limit = number("max", dtype)
    found += [-number("max", dtype), -number("subnormal", dtype)]
    return [x for x in found if not abs(x) > limit or math.isinf(x)]


def integer_edges(dtype):
    """Return the ends of an integer dtype, and what lies around zero and the width of its words."""
    info = numpy.iinfo(dtype)
    found = [0, 1, 2, 3, 7, 8, 31, 32, 63, 64, info.max, info.max - 1, info.min, info.min + 1, -1, -2]
    return [x for x in dict.fromkeys(found) if info.min <= x <= info.max]


def edges(dtype):
    """Return the edges of any dtype."""
    if dtype == "bool":
        return [False, True]
    if dtype.startswith(("int", "uint")):
        return integer_edges(dtype)
    if dtype.startswith("complex"):
        parts = (0.0, -0.0, 1.0, -2.5, 1e-20, 1e10)
        return [complex(a, b) for a in parts for b in parts]
    return real_edges(dtype)


def fills(dtype):
    """Return what fills whole rows and tensors of a dtype."""
    if dtype == "bool":
        return [False, True]
    if dtype.startswith(("int", "uint")):
        info = numpy.iinfo(dtype)
        return [0, 1, info.max, info.min]
    kind = "float64" if dtype == "complex128" else "float32" if dtype == "complex64" else dtype
    limit = number("max", kind)
    words = FILLS[:4] if dtype.startswith("complex") else FILLS
    return [value for value in (number(word, kind) for word in words) if not limit < abs(value) < math.inf]


def seeded(*words):
    """Return random numbers that depend on nothing but words, and not on where functions among them lie."""
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(map(str, words)))
    return numpy.random.default_rng(zlib.crc32(text.encode()))


def of(item, array):
    """Return an Input with other numbers."""
    return Input(round_to(numpy.asarray(array), item.dtype), item.dtype, item.grad, item.free)


def is_tame(item):
    """Return where gradients mean something: not at NaN and infinities, nor so near them that each order of work
    overflows elsewhere."""
    if item.array.dtype.kind not in "fc":
        return numpy.ones(item.array.shape, bool)
    return numpy.isfinite(item.array) & (abs(item.array) < number("max", item.dtype.replace("complex128", "float64")
                                                                  .replace("complex64", "float32")) / 2)


def is_finite(arguments):
    """Whether all numbers of a call are tame."""
    return all(is_tame(item).all() for item in arguments.inputs())


def with_items(title, arguments, items):
    """Return a Case around other Inputs."""
    made = arguments.replace(items)
    return Case(title, made, False, is_finite(made))


def base_dtype(item, dtype):
    """Whether an Input may take any value of the tested dtype."""
    return item.free and item.dtype == dtype and item.array.size > 0


def filled(row, arguments, dtype):
    """Yield cases with one number in a whole tensor, in all tensors, in the first row or in the last column of one."""
    items = arguments.inputs()
    free = [place for place, item in enumerate(items) if base_dtype(item, dtype)]
    values = fills(dtype)
    if row.family in SUMS_OF_PRODUCTS and dtype not in INTEGER:
        values = [value for value in values if not 1e30 < abs(value) < math.inf]
    for value in values:
        for chosen in [[place] for place in free] + ([free] if len(free) > 1 else []):
            yield with_items(f"{value!r} everywhere in operands {chosen}", arguments,
                             [of(item, numpy.full(item.array.shape, value)) if place in chosen else item
                              for place, item in enumerate(items)])
        for place in free:
            if items[place].array.ndim < 1 or items[place].array.size < 2:
                continue
            for where, index in (("row", (0,)), ("column", (Ellipsis, -1))):
                array = items[place].array.copy()
                array[index] = value
                yield with_items(f"{value!r} in a {where} of operand {place}", arguments,
                                 items[:place] + [of(items[place], array)] + items[place + 1:])


def sprinkled(arguments, dtype, name):
    """Yield cases with edges at random places of every operand, first one at a time and then many."""
    items = arguments.inputs()
    free = [place for place, item in enumerate(items) if base_dtype(item, dtype)]
    if not free:
        return
    if dtype == "bool" or dtype.startswith(("int", "uint", "complex")):
        choices = [edges(dtype)]
    else:
        some = [number(word, dtype) for word in SPRINKLED]
        choices = [[value] for value in some[:3]] + [some, [value for value in some if math.isfinite(value)]]
    for turn, values in enumerate(choices):
        rng = seeded(name, dtype, turn)
        moved = list(items)
        for place in free:
            array = items[place].array.copy()
            count = 1 if len(values) == 1 else max(1, array.size // 3)
            array.reshape(-1)[rng.permutation(array.size)[:count]] = rng.choice(numpy.array(values), count)
            moved[place] = of(items[place], array)
        words = ", ".join(map(repr, values)) if len(values) == 1 else f"edges {turn}"
        yield with_items(f"{words} here and there", arguments, moved)


def grid(row, arguments, dtype):
    """Yield the case of a pointwise operator with every combination of edges, and without zeros among integers."""
    items = arguments.inputs()
    free = [place for place, item in enumerate(items) if base_dtype(item, dtype)]
    if not free or len(free) < len([item for item in items if item.array.size]):
        return
    values = edges(dtype)
    if row.name in LEAST_KILLS and dtype in INTEGER:
        values = [value for value in values if value != numpy.iinfo(dtype).min]
    if len(free) > 2 or dtype.startswith("complex") and len(free) > 1:
        values = values[::len(values) // 7 + 1]
    for title, chosen in (("edges", values), ("edges but zero", [value for value in values if value != 0])):
        # Twice, so that the loop over vectors and the rest behind it both see every number.
        columns = numpy.array(list(itertools.product(chosen, repeat=len(free)))).T
        columns = numpy.concatenate([columns, columns[:, ::-1], columns[:, :3]], axis=1)
        queue = iter(columns)
        yield with_items(f"grid of {title}", arguments,
                         [of(item, next(queue)) if place in free else item for place, item in enumerate(items)])
        if not dtype.startswith(("int", "uint")):
            return


def resized(row, sample, old, new):
    """Return a sample with a size replaced wherever the shape of a tensor has it."""
    types = engine.argument_types(row.name) if row.call is None else {}

    def walk(value):
        if dataclasses.is_dataclass(value):
            return value if value.values is not None else dataclasses.replace(value, shape=walk(tuple(value.shape)))
        if isinstance(value, tuple):
            return tuple(new if size == old else size for size in value)
        return [walk(item) for item in value] if isinstance(value, list) else value

    def replaced(value, type_name):
        return walk(value) if is_tensor_type(type_name or "Tensor") else value
    names = list(types.values())[:len(sample.args)] + [None] * (len(sample.args) - len(types))
    return Sample(*map(replaced, sample.args, names),
                  **{name: replaced(value, types.get(name)) for name, value in sample.kwargs.items()})


def sizes(row, sample, dtype, index):
    """Yield cases with each of a sample's sizes replaced by others: empty ones, and those around vectors and tiles."""
    if row.family == "recurrent":  # PyTorch reads past states and weights that do not fit
        return
    items = bind(row, sample, dtype, index).inputs()
    known = sorted({size for item in items for size in item.array.shape})
    # The gradient of a decomposition of nothing, and of distances within nothing, may end PyTorch's process.
    fragile = row.family == "linalg" or row.name == "pdist"
    longest = 7 if fragile else 17 if row.name in QUADRATIC else 1031 if row.family in LONG_FAMILIES else 257
    alone = all(item.array.ndim <= 1 for item in items)
    for old in known:
        for new in SIZES if alone else OTHER_SIZES:
            if new == old or new > longest:
                continue
            other = resized(row, sample, old, new)
            count = max((math.prod(item.array.shape) // max(old, 1) ** item.array.shape.count(old)
                         * new ** item.array.shape.count(old) for item in items), default=0)
            if count > LARGEST:
                continue
            try:
                yield Case(f"{new} for {old} of {other}", bind(row, other, dtype, index), True, not fragile)
            except Exception:  # a maker of numbers that has its own wishes about shapes
                continue


def chosen_samples(row, limit):
    """Return the first samples of different attributes and ranks."""
    found = {}
    for index, sample in enumerate(row.samples):
        def shown(value):
            if isinstance(value, list):
                return [shown(item) for item in value]
            shape = value if isinstance(value, tuple) else getattr(value, "shape", None)
            return f"{len(shape)} axes" if isinstance(shape, tuple) else repr(value)
        key = repr([shown(value) for value in sample.args]) + repr(sorted(sample.kwargs.items(), key=str))
        empty = any(isinstance(value, tuple) and 0 in value for value in sample.args)
        if not empty:
            found.setdefault(key, (index, sample))
    return list(found.values())[:limit]


def cases(row, dtype, limit=4):
    """Yield lists of cases: those of one list have the same shapes."""
    pointwise = engine.is_pointwise(row)
    # What has no decomposition raises or not as LAPACK finds it, and some such matrices end PyTorch's process.
    values = row.name not in INTEGERS_WITH_MEANING and row.family != "linalg"
    for index, sample in chosen_samples(row, limit):
        arguments = bind(row, sample, dtype, index)
        if values:
            if pointwise:
                for case in grid(row, arguments, dtype):
                    yield [case]
            yield [*filled(row, arguments, dtype), *sprinkled(arguments, dtype, f"{row.name}{sample}")]
        for case in sizes(row, sample, dtype, index):
            yield [case]
