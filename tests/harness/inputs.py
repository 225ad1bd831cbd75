"""From samples to numbers: seeded arrays for every tensor that a sample names, and trees of arguments around them."""
import dataclasses
import zlib

import numpy

from harness import engine
from harness.row import Given


@dataclasses.dataclass
class Input:
    """A tensor before it belongs to anyone: numbers and the name of their dtype (bfloat16 is held as float32)."""

    array: numpy.ndarray
    dtype: str
    grad: bool
    free: bool = True  # any number of its dtype would do: it is no index and no mask

    @property
    def inexact(self):
        """Whether the numbers are floats or complex."""
        return self.dtype.startswith(("float", "bfloat", "complex"))


def round_to(array, dtype):
    """Return the numbers as a dtype would hold them."""
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = array.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    # Round to nearest, ties to even, on the upper half of the bits; NaN keeps a set bit.
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    return numpy.where(numpy.isnan(array), numpy.float32(numpy.nan), rounded).astype(numpy.float32).reshape(array.shape)


def draw(given, dtype, domain, rng):
    """Return seeded numbers for a `Given` as a float64, int64, bool or complex128 array."""
    low, high = (given.low, given.high) if given.low is not None else domain or (None, None)
    shape = tuple(given.shape)
    if given.values is not None:
        return numpy.array(given.values)
    if given.make is not None:
        return numpy.asarray(given.make(numpy, rng, shape))
    if given.distinct:
        count = int(numpy.prod(shape, dtype=int))
        return (rng.permutation(count) - count // 2 * (dtype != "uint8")).reshape(shape)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        low, high = (0 if dtype == "uint8" else -5, 8) if low is None else (int(numpy.ceil(low)), int(numpy.ceil(high)))
        return rng.integers(max(low, 0) if dtype == "uint8" else low, max(high, low + 1), shape)

    def reals():
        return rng.standard_normal(shape) if low is None else rng.uniform(low, high, shape)
    return numpy.asarray(reals() + 1j * reals() if dtype.startswith("complex") else reals())


class Arguments:
    """The arguments of one call, with `Input`s where tensors will stand."""

    def __init__(self, args, kwargs):
        self.args, self.kwargs = args, kwargs

    def map(self, function):
        """Return (args, kwargs) with every Input replaced; a function sees each Input once, in order."""
        def walk(value):
            if isinstance(value, Input):
                return function(value)
            return [walk(item) for item in value] if isinstance(value, list) else value
        return [walk(arg) for arg in self.args], {name: walk(value) for name, value in self.kwargs.items()}

    def inputs(self):
        """Return the Inputs in order."""
        found = []
        self.map(found.append)
        return found

    def replace(self, replacements):
        """Return the same arguments around other Inputs."""
        queue = iter(replacements)
        return Arguments(*self.map(lambda _: next(queue)))


def is_tensor_type(type_name):
    """Whether a schema's type stands for tensors."""
    return type_name.startswith("Tensor")


def bind(row, sample, dtype, index=0):
    """Return the Arguments of a sample of a row in a dtype; seeded by the row's name and the sample's index."""
    rng = numpy.random.default_rng(zlib.crc32(row.name.encode()) + index)
    types = engine.argument_types(row.name) if row.call is None else {}

    def fill(value):
        given = value if isinstance(value, Given) else Given(tuple(value))
        kind = given.dtype or dtype
        return Input(round_to(draw(given, kind, row.domain, rng), kind), kind, given.grad, given.dtype is None)

    def tensors(value, type_name):
        if isinstance(value, (Given, tuple)) and not type_name.startswith("Tensor["):
            return fill(value)
        if isinstance(value, (list, tuple)):
            return [item if item is None else fill(item) for item in value]
        return value

    names = list(types) or [None] * len(sample.args)
    args = []
    for position, value in enumerate(sample.args):
        name = names[position] if position < len(names) else None
        wanted = types.get(name, "Tensor" if isinstance(value, (Given, tuple)) and not types else "")
        args.append(tensors(value, wanted) if is_tensor_type(wanted) else value)
    kwargs = {name: tensors(value, types.get(name, "")) if is_tensor_type(types.get(name, "")) else value
              for name, value in sample.kwargs.items()}
    return Arguments(args, kwargs)
