"""Holds what Keras infers where sizes are unknown, in every place, against genuine Keras.

    python tests/harness/keras_unknown.py [layers] [NAME ...]
"""
import collections
import itertools
import sys

import numpy as np

from harness.keras_ops import find
from harness.keras_unknown_layers import ROWS_OF_LAYERS, LayerRow

MOST_CASES = 16  # of one row


def leaves(value):
    """Return what a nested result holds."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (list, tuple)) else [value]


def change(value, function):
    """Return arguments with arrays replaced, those in lists too."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, np.ndarray) for item in value):
        return type(value)(function(item) if isinstance(item, np.ndarray) else item for item in value)
    return function(value) if isinstance(value, np.ndarray) else value


def arrays_of(row):
    """Return the arrays among a row's arguments, in order."""
    return [x for x in leaves([*row.args, *row.kwargs.values()]) if isinstance(x, np.ndarray)]


def places(shapes):
    """Return sets of axes (number, axis) to be left open: each alone, those of each tensor, equal ones, all.

    Parameters
    ----------
    shapes : Sequence[tuple]
        Of the tensors.

    """
    axes = [(number, axis) for number, shape in enumerate(shapes) for axis in range(len(shape))]
    found = [(place,) for place in axes]
    found += [tuple(place for place in axes if place[0] == number) for number in range(len(shapes))]
    found += [tuple(place for place in axes if shapes[place[0]][place[1]] == size)
              for size in {size for shape in shapes for size in shape}]
    found += [tuple(place for place in axes if place[1] == 0), tuple(axes)]
    return list(dict.fromkeys(filter(None, found)))[:MOST_CASES]


def shapes_of(row):
    """Return the shapes of a row's tensors, of a function or of a layer."""
    if isinstance(row, LayerRow):
        return [shape for given in row.shapes for shape in (given if isinstance(given, list) else [given])]
    return [x.shape for x in arrays_of(row)]


def infer(keras, row, opened):
    """Return the shapes and dtypes of a row's results with some axes open."""
    count = itertools.count()

    def symbol(shape, dtype):
        number = next(count)
        shape = tuple(None if (number, axis) in opened else size for axis, size in enumerate(shape))
        return keras.KerasTensor(shape, dtype=dtype)
    if isinstance(row, LayerRow):
        args = [[symbol(shape, row.dtype) for shape in given] if isinstance(given, list) else symbol(given, row.dtype)
                for given in row.shapes]
        found = leaves(row.make(keras)(*args))
    else:
        args = [change(value, lambda x: symbol(x.shape, str(x.dtype))) for value in row.args]
        kwargs = {name: change(value, lambda x: symbol(x.shape, str(x.dtype))) for name, value in row.kwargs.items()}
        found = leaves(find(keras.ops, row.name)(*args, **kwargs))
    return [(tuple(x.shape), str(x.dtype)) for x in found if isinstance(x, keras.KerasTensor)]


def compare(own, other):
    """Return how our shapes stand to genuine ones."""
    if len(own) != len(other) or any(len(mine[0]) != len(theirs[0]) for mine, theirs in zip(own, other)):
        return "ranks"
    pairs = [pair for mine, theirs in zip(own, other) for pair in zip(mine[0], theirs[0])]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return "sizes"
    coarser = any(mine is None and theirs is not None for mine, theirs in pairs)
    finer = any(theirs is None and mine is not None for mine, theirs in pairs)
    return "coarser" if coarser else "finer" if finer else "agree"


def attempt(keras, row, opened):
    """Return the shapes, or the error."""
    try:
        return infer(keras, row, opened)
    except Exception as error:  # inference fails in many ways
        return error


def survey(own, genuine, rows):
    """Yield (how, row, opened, our answer, genuine answer) for all rows and places."""
    for row in rows:
        for opened in places(shapes_of(row)):
            theirs = attempt(genuine, row, opened)
            mine = attempt(own, row, opened)
            if isinstance(theirs, Exception):
                how = "both fail" if isinstance(mine, Exception) else "genuine fails"
            else:
                how = "fails" if isinstance(mine, Exception) else compare(mine, theirs)
            yield how, row, opened, mine, theirs


def main(names):
    """Print what differs, and counts."""
    import dragon.vm.keras
    from harness import genuine
    from harness.keras_ops import nn_rows, numpy_rows
    rows = ROWS_OF_LAYERS if "layers" in names else numpy_rows.ROWS + nn_rows.ROWS
    names = set(names) - {"layers"}
    rows = [row for row in rows if not names or row.name in names]
    counts = collections.Counter()
    for how, row, opened, mine, theirs in survey(dragon.vm.keras, genuine.keras, rows):
        counts[how] += 1
        if how not in ("agree", "both fail", "genuine fails"):
            print(f"{how}: {row} open {opened}\n    here {str(mine)[:300]}\n    there {theirs}")
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
