"""Edges for functions that are known by their signatures alone: those of `keras.ops` and of TensorFlow's modules."""
import collections
import inspect
import itertools
import re

import numpy as np
from harness import answers, edges
from harness.captured import leaves

# The words for tensors: a function that must be given anything else needs an example by hand.
TENSORS = {"a", "actual", "b", "features", "input", "input_tensor", "input_x", "inputs", "labels", "logits", "other",
           "predictions", "targets", "tensor", "value", "values", "x", "x1", "x2", "y", "y_pred", "y_true", "z"}
WITHIN = {"float16": 2e-3, "float32": 2e-5, "float64": 1e-9, "complex64": 2e-5, "complex128": 1e-9}
QUICK = ("float32", "int32")
LONG = ("float64", "float16", "int64", "uint8", "int8", "bool", "complex64")
SHAPES = ((), (0,), (1,), (17,), (0, 3), (3, 0), (1, 1), (3, 65), (2, 3, 3))
SHAPES_OF_TWO = (((), (3,)), ((0,), (1,)), ((1,), (17,)), ((2, 0), (2, 1)), ((0, 3), (3,)), ((3, 3), (3, 3)),
                 ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((2, 65), (65, 3)))


# A difference that is right or cannot be helped: functions, a pattern of the sentence that tells it, and the reason.
Known = collections.namedtuple("Known", "names sentence reason")


def unknown(found, known):
    """Return the differences, as lines, that no `Known` tells."""
    def is_known(name, line):
        return any(name in entry.names.split("|") and re.search(entry.sentence, line) for entry in known)
    lines = [(title.split(" in ")[0].split(".")[-1], f"{title} | {words}") for title, words in found]
    return [line for name, line in lines if not is_known(name, line)]


def find(module, path):
    """Return a function of a module by a name with dots."""
    for part in path.split("."):
        module = getattr(module, part)
    return module


def tensors_of(function):
    """Return how many tensors a function must be given: 1 or 2, or 0 where it wants something else too."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    needed = [p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY,
                                                                                p.POSITIONAL_OR_KEYWORD)]
    return len(needed) if needed and len(needed) < 3 and set(needed) <= TENSORS else 0


# Their numbers are sizes of what is made, or they want a list of tensors.
LEFT_OUT = {"add_n", "bincount", "concat", "one_hot", "stack", "make_tensor_proto", "type_spec_from_value"}


def list_functions(module, prefix=""):
    """Yield (path, number of tensors, function) for the functions of a module that are given tensors alone."""
    for name in dir(module):
        function = getattr(module, name)
        if not name.startswith("_") and name not in LEFT_OUT and inspect.isroutine(function):
            count = tensors_of(function)
            if count:
                yield prefix + name, count, function


def has(module, path):
    """Whether a module has a function by a name with dots."""
    try:
        return find(module, path) is not None
    except AttributeError:
        return False


def drawn(shape, dtype, *words):
    """Return seeded numbers of a dtype."""
    rng = edges.seeded(shape, dtype, *words)
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape), bool)
    if np.dtype(dtype).kind in "iu":
        return np.asarray(rng.integers(0, 5, shape), dtype)
    numbers = rng.uniform(-2, 2, shape)
    return np.asarray(numbers + (1j * rng.uniform(-2, 2, shape) if np.dtype(dtype).kind == "c" else 0), dtype)


def filled(dtype):
    """Return a matrix with a fill in each row and one row of all edges' beginning, and one without NaN."""
    rows = [np.full(5, value) for value in edges.fills(dtype)] + [np.array([*edges_of(dtype), 1, 1, 1, 1])[:5]]
    matrix = np.array(rows).astype(dtype)
    return matrix


def edges_of(dtype):
    """Return the edges of a dtype but denormal numbers, which TensorFlow's threads flush to zero."""
    values = np.array(edges.edges(dtype)).astype(dtype)
    if values.dtype.kind != "f":
        return values
    return values[(values == 0) | ~(abs(values) < 2 * np.finfo(dtype).tiny)]


def arguments_of(count, dtype):
    """Yield (title, list of arrays) for functions of one or two tensors."""
    values = edges_of(dtype)
    # Huge numbers of both signs cancel in one order of a sum and not in another.
    some = values[abs(values) < 1e5] if values.dtype.kind == "f" else values
    if count == 1:
        yield "edges", [values]
        yield "finite edges", [some]
        yield "rows", [filled(dtype)]
        yield "columns", [np.ascontiguousarray(filled(dtype).T)]
        for value in edges.fills(dtype):
            yield f"only {value!r}", [np.full((3, 4), value).astype(dtype)]
        for shape in SHAPES:
            yield f"shape {shape}", [drawn(shape, dtype)]
        return
    if dtype.startswith("complex"):
        values = values[::5]
    pairs = np.array(list(itertools.product(values, repeat=2))).astype(dtype)
    yield "edges", [pairs[:, 0].copy(), pairs[:, 1].copy()]
    if values.dtype.kind in "iu":
        pairs = pairs[pairs[:, 1] != 0]
        yield "edges but zero", [pairs[:, 0].copy(), pairs[:, 1].copy()]
        tame = pairs[(pairs > 0).all(axis=1)]
        yield "positive edges", [tame[:, 0].copy(), tame[:, 1].copy()]
    for value in edges.fills(dtype):
        for first in (True, False):
            both = [np.full((3, 3), value).astype(dtype), drawn((3, 3), dtype)]
            yield f"only {value!r} as operand {int(not first)}", both if first else both[::-1]
    for one, other in SHAPES_OF_TWO:
        yield f"shapes {one} and {other}", [drawn(one, dtype, 1), drawn(other, dtype, 2)]


def to_array(value):
    """Return a result of either side as an array."""
    if hasattr(value, "detach"):
        value = value.detach()
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def told(function, arguments, make):
    """Return (arrays of the results, None), or (None, the error)."""
    try:
        return [to_array(leaf) for leaf in leaves(function(*map(make, arguments)))], None
    except Exception as error:  # whatever a foreign function raises
        return None, error


def differs(mine, theirs, arguments, within=None):
    """Return what differs between two lists of arrays, or None."""
    if len(mine) != len(theirs):
        return f"{len(mine)} results, expected {len(theirs)}"
    for place, (own, other) in enumerate(zip(mine, theirs)):
        if own.shape != other.shape:
            return f"result {place} has shape {own.shape}, expected {other.shape}"
        if own.dtype != other.dtype:
            return f"result {place} has dtype {own.dtype}, expected {other.dtype}"
        if other.dtype.kind in "fc":
            close = WITHIN.get(other.dtype.name, 2e-5) if within is None else within
            with np.errstate(all="ignore"):
                good = np.isclose(own, other, close, close, equal_nan=True)
        else:
            good = np.asarray(own == other)
        if not good.all():
            return f"result {place}: " + sentence(own, other, good, arguments)
    return None


def sentence(own, other, good, arguments):
    """Return words on the first difference, with the numbers it comes from if they stand at the same places."""
    place = tuple(int(axis[0]) for axis in np.nonzero(~np.atleast_1d(good)))
    source = ""
    if all(np.shape(x) == own.shape for x in arguments):
        source = f" of {[np.atleast_1d(x)[place].item() for x in arguments]}"
    return (f"{good.size - np.count_nonzero(good)} of {good.size} differ, e.g. {np.atleast_1d(own)[place]!r} at {place}"
            f"{source}, expected {np.atleast_1d(other)[place]!r}")


def check(name, mine, theirs, count, dtype, makers, room):
    """Yield (title, what is wrong) for a function in a dtype; it may compute what the genuine one refuses.

    `makers` make tensors of arrays on both sides. `theirs` and the second one are functions that return what they are
    called, and are asked where a room of answers has none.
    """
    cases = list(arguments_of(count, dtype))
    answered = answers.ask(room, ["edges of", name, [arguments for _, arguments in cases]], lambda: [
        told(theirs(), arguments, makers[1]()) for _, arguments in cases], title=f"edges of {name} in {dtype}")
    for (title, arguments), (wanted, refused) in zip(cases, answered, strict=True):
        if refused is not None:
            continue
        found, error = told(mine, arguments, makers[0])
        words = f"raises {type(error).__name__}: {error}" if error else differs(found, wanted, arguments)
        if words:
            yield f"{name} in {dtype}: {title}", words
