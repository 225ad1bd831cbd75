"""One expression on both sides: Dragon's TensorFlow and the genuine one, whose answers are recorded."""
import linecache

import numpy as np

from dragon.vm import tensorflow as ours
from harness import answers, genuine


def evaluate(text, tf, **names):
    """Return what an expression over `tf` and `np` is, or what lines with a `return` give, or the error they raise."""
    names = {"tf": tf, "np": np, "__name__": "program", **names}
    try:
        if "\n" not in text and not text.startswith("return "):
            return eval(text, names)
        source = "def program():\n" + "\n".join("    " + line for line in text.strip().split("\n")) + "\n"
        place = f"<program {hash(source)}>"
        # TensorFlow rewrites functions from their sources.
        linecache.cache[place] = (len(source), None, source.splitlines(True), place)
        exec(compile(source, place, "exec"), names)
        return names["program"]()
    except Exception as error:
        return error


def plain(value):
    """Return a result as NumPy arrays in lists, dtypes by their names."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "as_list"):
        return [plain(item) for item in value]
    if hasattr(value, "as_list"):
        return value.as_list()
    if hasattr(value, "as_numpy_dtype"):
        return f"tf.{value.name}"
    return value.numpy() if hasattr(value, "numpy") else value


def shown(value):
    """Return how a result shows itself, in the programs' two ways."""
    return value if isinstance(value, Exception) else [repr(value), str(value)]


def seeded(text, tf, read):
    """Return what is read of an expression's value, or its error; draws begin from a seed, whoever drew before."""
    tf.random.set_seed(0)
    return read(evaluate(text, tf))


def genuine_value(text, read=plain):
    """Return what is read of an expression's value in genuine TensorFlow, or its error, as plain values."""
    return answers.ask("tensorflow", [text, read.__name__], lambda: seeded(text, genuine.tf, read))


def assert_same(mine, theirs, tolerance=1e-5):
    """Compare two results by value, dtype and shape."""
    if isinstance(theirs, list):
        assert isinstance(mine, list) and len(mine) == len(theirs), (mine, theirs)
        for one, other in zip(mine, theirs):
            assert_same(one, other, tolerance)
    elif isinstance(theirs, (np.ndarray, np.generic)):
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype, (mine, theirs)
        assert np.shape(mine) == np.shape(theirs), (mine, theirs)
        if np.asarray(theirs).dtype.kind in "fc" or np.asarray(theirs).dtype.name == "bfloat16":
            np.testing.assert_allclose(np.asarray(mine, np.complex128), np.asarray(theirs, np.complex128), tolerance,
                                       tolerance)
        else:
            assert np.array_equal(mine, theirs), (mine, theirs)
    else:
        assert mine == theirs, (mine, theirs)


def check(text, tolerance=1e-5, show=False, more=False):
    """Assert that an expression is, or raises, the same on both sides.

    With `show`, that it looks the same too; with `more`, Dragon may compute what TensorFlow refuses, or refuse it by
    another class of error.
    """
    read = shown if show else plain
    mine, theirs = seeded(text, ours, read), genuine_value(text, read)
    if more and isinstance(theirs, Exception):
        return
    if isinstance(theirs, answers.Raised):
        assert isinstance(mine, Exception), f"{text}: got {mine!r}, expected {theirs!r}"
        names = {kind.__name__ for kind in type(mine).__mro__}
        assert theirs.name in names, f"{text}: got {mine!r}, expected {theirs!r}"
        return
    if isinstance(mine, Exception):
        raise AssertionError(f"{text}: got an error, expected {theirs!r}") from mine
    if show:
        assert mine == theirs
        return
    assert_same(mine, theirs, tolerance)
