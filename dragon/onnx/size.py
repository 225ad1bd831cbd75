"""Sizes known only when a model runs: told by what they were in several captures, and fitted to what they follow."""
import fractions
import itertools

from dragon.onnx.errors import HardCodedError


SHOWN = 5  # samples, where a number is shown


class Size:
    """A whole number that differs from capture to capture; arithmetic is done in each of them.

    Parameters
    ----------
    samples : sequence of int
        The number in each capture.

    """

    __slots__ = ("samples",)

    def __init__(self, samples):
        self.samples = tuple(samples)

    def _combine(self, other, function):
        others = other.samples if isinstance(other, Size) else (other,) * len(self.samples)
        return make_size(map(function, self.samples, others))

    def __add__(self, other):
        return self._combine(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._combine(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._combine(other, lambda a, b: a * b)

    def __floordiv__(self, other):
        return self._combine(other, lambda a, b: a // b)

    def __rfloordiv__(self, other):
        return self._combine(other, lambda a, b: b // a)

    def __mod__(self, other):
        return self._combine(other, lambda a, b: a % b)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __eq__(self, other):
        return isinstance(other, Size) and self.samples == other.samples

    def __hash__(self):
        return hash(self.samples)

    def __repr__(self):
        return "|".join(map(str, self.samples[:SHOWN])) + "|..." * (len(self.samples) > SHOWN)

    def _refuse(self, *args):
        raise HardCodedError(f"a number that follows a dynamic size (here {self!r}) is needed while exporting")

    __bool__ = __int__ = __index__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class Repeated:
    """A list of one number, whose length differs from capture to capture."""

    def __init__(self, item, count):
        self.item, self.count = item, count


def make_size(samples):
    """Return a plain number if all captures agree, else a Size."""
    samples = tuple(samples)
    return samples[0] if all(sample == samples[0] for sample in samples) else Size(samples)


def product(sizes):
    """Return the product of numbers and Sizes."""
    total = 1
    for size in sizes:
        total = total * size
    return total


def solve(rows, values):
    """Return the exact solution of equations that may be more than the unknowns, or None if there is none."""
    table = [[fractions.Fraction(number) for number in (*row, value)] for row, value in zip(rows, values)]
    width = len(rows[0])
    for column in range(width):
        pivot = next((row for row in range(column, len(table)) if table[row][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [number / table[column][column] for number in table[column]]
        for row, line in enumerate(table):
            if row != column and line[column]:
                table[row] = [number - line[column] * lead for number, lead in zip(line, table[column])]
    return None if any(line[width] for line in table[width:]) else [table[row][width] for row in range(width)]


def fit(samples, symbols, margin=0):
    """Write a number as a polynomial of the symbols.

    Parameters
    ----------
    samples : sequence of int
        What the number is in each capture.
    symbols : dict
        {name: its value in each capture}.
    margin : int, optional, default=0
        How many samples it must say beyond those that choose its coefficients.

    Returns
    -------
    dict or None
        {names multiplied: whole coefficient}; None where no such polynomial says all samples.

    """
    names = sorted(symbols)
    singles = [(name,) for name in names]
    pairs = list(itertools.combinations(names, 2))
    for terms in [[single] for single in singles] + [[pair] for pair in pairs] + [singles, singles + pairs]:
        terms = [(), *terms]
        if len(terms) >= len(samples) - margin:
            continue
        rows = [[product(symbols[name][sample] for name in term) for term in terms]
                for sample in range(len(samples))]
        found = solve(rows, samples)
        if found is not None and all(number.denominator == 1 for number in found):
            return {term: int(number) for term, number in zip(terms, found) if number}
    return None
