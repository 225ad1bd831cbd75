"""What a number that differs between captures is made of: symbols and sizes of values that are written already.

All samples prove it. An expression is a tuple: ("term", name), ("number", 3), or an operator with two expressions,
("add" | "mul" | "div" | "mod" | "min" | "max", one, other).
"""
import fractions
import itertools
import math

import numpy

from dragon.onnx.size import fit

DIVISORS = (*range(2, 65), *(2 ** power for power in range(7, 13)), 80, 96, 100, 160, 192, 320, 640)
FACTORS = range(1, 9)
MOST_TERMS = 160  # sizes of values that are looked at in pairs
MOST_HALVED = 33  # steps between windows
NEAREST = 16  # sizes of values whose remainders are looked at, those of what the call reads first
DEEPEST = 2  # products within products
ENOUGH = 10  # samples that prove quotients, limits and sums of two sizes
MARGIN = 2  # samples that an expression must say beyond those that choose its numbers


def evaluate(expression, samples):
    """Return what an expression is in each capture.

    Parameters
    ----------
    expression : tuple
        The expression.
    samples : dict
        {term: its values}.

    Returns
    -------
    numpy.ndarray
        Its values.

    """
    kind = expression[0]
    if kind == "number":
        return numpy.int64(expression[1])
    if kind == "term":
        return samples[expression[1]]
    one, other = (evaluate(part, samples) for part in expression[1:])
    return {"add": numpy.add, "mul": numpy.multiply, "div": numpy.floor_divide, "mod": numpy.mod, "min": numpy.minimum,
            "max": numpy.maximum}[kind](one, other)


SIGNS = {"add": "+", "mul": "*", "div": "//", "mod": "%"}


def text_of(expression):
    """Return an expression as people write it: "(length + 1) // 2"."""
    kind, *parts = expression
    if kind == "number":
        return str(parts[0])
    if kind == "term":
        return parts[0] if isinstance(parts[0], str) else f"size {parts[0][1]} of {parts[0][0]}"
    one, other = map(text_of, parts)
    if kind not in SIGNS:
        return f"{kind}({one}, {other})"
    if kind != "add":
        one, other = (f"({text})" if part[0] in SIGNS else text for part, text in zip(parts, (one, other)))
    return f"{one} {SIGNS[kind]} {other}"


def terms_of(expression):
    """Return the names of an expression's terms."""
    kind, *parts = expression
    return {parts[0]} if kind == "term" else set() if kind == "number" else set().union(*map(terms_of, parts))


def times(factor, expression):
    """Return an expression several times."""
    return expression if factor == 1 else ("mul", expression, ("number", int(factor)))


def plus(expression, number):
    """Return the sum of an expression and a number."""
    return expression if number == 0 else ("add", expression, ("number", int(number)))


class Explainer:
    """Finds the simplest expression that says all samples of a number.

    Parameters
    ----------
    symbols : dict
        {name: its value in each capture}.
    told : dict
        {name: values} of sizes that can be had when the model runs, the nearest first.

    """

    def __init__(self, symbols, told):
        self.symbols = {name: numpy.array(values, "int64") for name, values in symbols.items()}
        self.told = {}
        known = {tuple(values) for values in symbols.values()}
        for name, values in told.items():
            if tuple(values) not in known:
                known.add(tuple(values))
                self.told[name] = numpy.array(values, "int64")
        self.samples = {**self.symbols, **self.told}

    def explain(self, samples, depth=0):
        """Return an expression for a number, or None.

        Parameters
        ----------
        samples : sequence of int
            What it is in each capture.

        Returns
        -------
        tuple or None
            The expression.

        """
        wanted = numpy.array(samples, "int64")
        if (wanted == wanted[0]).all():
            return "number", int(wanted[0])
        ways = [self._single, self._polynomial, self._linear, self._two]
        if len(wanted) >= ENOUGH:  # few samples prove little
            ways += [self._quotient, self._remainder, self._half, self._bounded, self._pair]
        deep = [] if depth >= DEEPEST else [lambda wanted: self._scaled(wanted, depth),
                                            lambda wanted: self._product(wanted, depth)]
        for way in (*ways, *deep):
            found = way(wanted)
            if found is not None and (evaluate(found, self.samples) == wanted).all():
                return found
        return None

    def _single(self, wanted):
        return next((("term", name) for name, values in self.samples.items() if (values == wanted).all()), None)

    def _polynomial(self, wanted):
        terms = fit(wanted.tolist(), {name: values.tolist() for name, values in self.symbols.items()}, MARGIN)
        if terms is None:
            return None
        total = None
        for names, coefficient in terms.items():
            part = None
            for name in names:
                part = ("term", name) if part is None else ("mul", part, ("term", name))
            part = ("number", coefficient) if part is None else times(coefficient, part)
            total = part if total is None else ("add", total, part)
        return total

    def _two(self, wanted):
        """Return the product of two sizes."""
        known = {}
        for name, values in self.samples.items():
            known.setdefault(values.tobytes(), name)
        for name, values in self.samples.items():
            if (values > 0).all() and not (wanted % values).any():
                other = known.get((wanted // values).tobytes())
                if other is not None:
                    return "mul", ("term", name), ("term", other)
        return None

    def _line(self, values, wanted):
        """Return (factor, offset) with wanted = factor * values + offset, or None; three different values prove it."""
        low, high = values.argmin(), values.argmax()
        if values[low] == values[high] or len(set(values.tolist())) < 1 + MARGIN:
            return None
        factor, rest = divmod(int(wanted[high] - wanted[low]), int(values[high] - values[low]))
        offset = wanted[low] - factor * values[low]
        return None if rest or factor == 0 or (factor * values + offset != wanted).any() else (factor, int(offset))

    def _linear(self, wanted):
        if len(wanted) < 2 + MARGIN:
            return None
        for name, values in self.told.items():
            line = self._line(values, wanted)
            if line:
                return plus(times(line[0], ("term", name)), line[1])
        return None

    def _quotient(self, wanted):
        """Return the whole part of (a * size + b) / c, the same in every sample and at every rest of the size by c."""
        for name, values in self.samples.items():
            low, high = values.argmin(), values.argmax()
            if values[high] - values[low] < 2 or wanted[high] == wanted[low]:
                continue
            slope = fractions.Fraction(int(wanted[high] - wanted[low]), int(values[high] - values[low]))
            for divisor in DIVISORS:
                factor = round(slope * divisor)
                if factor == 0 or math.gcd(factor, divisor) > 1:
                    continue
                rests = divisor * wanted - factor * values
                least, most = int(rests.max()), int(rests.min()) + divisor - 1
                if least > most or not self._covers(values, divisor) and (
                        least < most or numpy.ptp(values) < 4 * divisor):
                    continue
                offset = min(range(least, min(most, least + divisor) + 1), key=abs)
                return "div", plus(times(factor, ("term", name)), offset), ("number", divisor)
        return None

    def _covers(self, values, divisor):
        """Return whether the samples have all rests by a divisor that sizes at their distances can have."""
        step = math.gcd(*(int(value - values[0]) for value in values))
        return len(set((values % divisor).tolist())) >= divisor // math.gcd(step, divisor)

    def _remainder(self, wanted):
        if numpy.ptp(wanted) > max(DIVISORS):
            return None
        for name, values in itertools.islice(self.samples.items(), len(self.symbols) + NEAREST):
            for divisor in DIVISORS:
                if divisor <= numpy.ptp(wanted) or divisor > 64:
                    continue
                for sign, least in itertools.product((1, -1), (0, int(wanted.min()))):
                    offset = int(wanted[0] - least - sign * values[0]) % divisor
                    if ((sign * values + offset) % divisor + least == wanted).all() and self._covers(values, divisor):
                        return plus(("mod", plus(times(sign, ("term", name)), offset), ("number", divisor)), least)
        return None

    def _half(self, wanted):
        """Return half of what is missing to a multiple, as windows are padded that are as many as steps fit in."""
        for name, values in itertools.islice(self.samples.items(), len(self.symbols) + NEAREST):
            for divisor in range(2 + int(numpy.ptp(wanted)), MOST_HALVED):
                rests = 2 * wanted - -values % divisor
                least = int(rests.max())
                if least <= rests.min() + 1 and self._covers(values, divisor):
                    missing = ("mod", times(-1, ("term", name)), ("number", divisor))
                    return "div", plus(missing, least), ("number", 2)
        return None

    def _bounded(self, wanted):
        """Return the least or greatest of a line and a number, or of two sizes; each must tell several samples."""
        for name, values in self.samples.items():
            for kind, function, limit in (("min", numpy.minimum, wanted.max()), ("max", numpy.maximum, wanted.min())):
                if (function(values, limit) == wanted).all():  # a number that is clamped to a size
                    return kind, ("term", name), ("number", int(limit))
        for name, values in self.samples.items():
            for kind, limit in (("min", wanted.max()), ("max", wanted.min())):
                free = wanted != limit
                if (~free).sum() < MARGIN or not free.any():
                    continue
                line = self._line(values[free], wanted[free])
                if line:
                    return kind, plus(times(line[0], ("term", name)), line[1]), ("number", int(limit))
        for (one, first), (other, second) in itertools.combinations(list(self.samples.items())[:MOST_TERMS // 4], 2):
            for kind, function in (("min", numpy.minimum), ("max", numpy.maximum)):
                if min((first == wanted).sum(), (second == wanted).sum()) >= MARGIN and \
                        (function(first, second) == wanted).all():
                    return kind, ("term", one), ("term", other)
        return None

    def _pair(self, wanted):
        """Return a sum of multiples of two sizes."""
        names = list(self.samples)[:MOST_TERMS]
        if len(wanted) < 3 + MARGIN:
            return None
        for one, other in itertools.combinations(names, 2):
            if one in self.symbols and other in self.symbols:
                continue
            first, second = self.samples[one], self.samples[other]
            for factor in (1, -1, 2, -2):
                line = self._line(first, wanted - factor * second)
                if line and abs(line[0]) in FACTORS:
                    return plus(("add", times(line[0], ("term", one)), times(factor, ("term", other))), line[1])
        return None

    def _scaled(self, wanted, depth):
        """Return a multiple of a number that is simpler, and a constant."""
        factor = math.gcd(*(int(value - wanted[0]) for value in wanted))
        rest = int(wanted[0]) % factor
        if factor == 1 and rest == 0:
            return None
        found = self.explain((wanted - rest) // factor, DEEPEST)
        return None if found is None else plus(times(factor, found), rest)

    def _product(self, wanted, depth):
        if (wanted <= 0).any():
            return None
        for name, values in list(self.samples.items())[:MOST_TERMS]:
            if (values <= 0).any() or (wanted % values).any() or (wanted // values == wanted).all():
                continue
            rest = wanted // values
            found = self.explain(rest, depth + 1) if depth == 0 else self._single(rest) or self._linear(rest)
            if found is not None:
                return "mul", ("term", name), found
        return None
