"""What a program decided by its sizes, as conditions of its model: told by name, and looked at whenever it runs.

A model is the program of one side of each decision. At sizes of the other side it would be silently wrong, so that it
has a node there that fails, whose name is the condition.
"""
import fractions
import functools
import math

import numpy

from dragon.core.capture.probes import FARTHEST, NO_LONGER
from dragon.onnx.errors import HardCodedError
from dragon.onnx.explain import Explainer, evaluate, terms_of, text_of
from dragon.onnx.size import Size, make_size

OPERATORS = {"==": "Equal", "<": "Less", "<=": "LessOrEqual"}
NEGATED = {"==": "!=", "<": ">=", "<=": ">"}
COMPARE = {"==": numpy.equal, "<": numpy.less, "<=": numpy.less_equal}
FINEST = 64  # what a fraction of sizes is divided by, at most


def decided(bounds):
    """Return why the program, rather than an operator that refuses its operands, is another one outside of bounds."""
    return [reason for reason in bounds.reasons if NO_LONGER in reason or "other operators" in reason]


class Condition:
    """That one number stood in a relation to another, or did not.

    Parameters
    ----------
    relation : str
        "==", "<" or "<=".
    held : bool
        Whether it did.
    one, other : Union[int, Size]
        The numbers.
    told : str
        What the program says of it.

    """

    __slots__ = ("relation", "held", "one", "other", "told")

    def __init__(self, relation, held, one, other, told):
        self.relation, self.held, self.one, self.other, self.told = relation, held, one, other, told


def _whole(samples):
    """Return numbers without fractions, and what they were divided by; None where nobody can tell."""
    if not all(map(math.isfinite, samples)):
        return None
    found = [fractions.Fraction(sample).limit_denominator(FINEST) for sample in samples]
    if any(float(number) != float(sample) for number, sample in zip(found, samples)):
        return None
    divisor = numpy.lcm.reduce([number.denominator for number in found], dtype="int64")
    return [int(number * int(divisor)) for number in found], int(divisor)


def conditions_of(procedure, arguments):
    """Return what a program decided by sizes, with the numbers that it compared in each of its captures.

    Parameters
    ----------
    procedure : dragon._C.Procedure
        The program.
    arguments : list of list of Tensor
        Its arguments in each capture.

    Returns
    -------
    list of Condition
        Those whose numbers follow sizes; a number that is no fraction of sizes is None.

    """
    wanted = sorted({number for decision in procedure.decisions for number in decision[2:]})
    rows = [procedure.numbers_at(given, wanted) for given in arguments] if wanted else []
    numbers = {number: [row[place] for row in rows] for place, number in enumerate(wanted)}
    found = {}
    for (relation, held, *pair), told in zip(procedure.decisions, procedure.conditions):
        key = relation, held, *(tuple(numbers[number]) for number in pair)
        if key in found or all(len(set(samples)) == 1 for samples in key[2:]):
            continue
        one, other = map(_whole, key[2:])
        if one is None or other is None:
            found[key] = Condition(relation, held, None, None, told)
            continue
        scaled = [make_size(number * part[1] for number in whole[0]) for whole, part in ((one, other), (other, one))]
        found[key] = Condition(relation, held, *scaled, told)
    return list(found.values())


def _range_of(expression, range_of_term):
    """Return the least and greatest that an expression may be, by what its terms may be."""
    kind, *parts = expression
    if kind == "number":
        return parts[0], parts[0]
    if kind == "term":
        return range_of_term(parts[0])
    (low, high), (least, most) = (_range_of(part, range_of_term) for part in parts)
    if kind == "add":
        return low + least, high + most
    if kind in ("min", "max"):
        choose = {"min": min, "max": max}[kind]
        return choose(low, least), choose(high, most)
    if kind == "mul":
        ends = [one * other if one and other else 0 for one in (low, high) for other in (least, most)]
        return min(ends), max(ends)
    # Both are divided by numbers above 0 only.
    return (0, most - 1) if kind == "mod" else tuple(
        end if math.isinf(end) else end // least for end in (low, high))


def _holds_for(condition, low, high):
    """Return whether a condition holds where the other number is the one and between so much and so much more."""
    if condition.relation == "==":
        return low == high == 0 if condition.held else low > 0 or high < 0
    is_strict = (condition.relation == "<") == condition.held
    return low >= is_strict if condition.held else -high >= is_strict


def _is_within_bounds(condition, one, other, name, bounds):
    """Return whether a condition on one symbol holds at all sizes within its bounds."""
    high = FARTHEST + 1 if bounds.high is None else bounds.high
    sizes = {name: numpy.arange(bounds.snapped(max(bounds.low, 2)), high + 1, bounds.multiple)}
    return bool((COMPARE[condition.relation](evaluate(one, sizes), evaluate(other, sizes)) == condition.held).all())


class Checks:
    """Nodes that fail where a model does not hold.

    Parameters
    ----------
    w : Writer
        The graph, with all its calls.
    program : Program
        What was written.

    """

    def __init__(self, w, program):
        self.w, self.program, self.samples = w, program, len(next(iter(w.symbols.values()), ()))
        self.texts, self.unsaid, self._passed = [], [], []
        self._told = {(value.name, axis): samples for samples, (value, axis) in w.told.items()}
        w.call, w.scope = None, ""
        for name, bounds in program.bounds.items():
            if decided(bounds) and not bounds.is_fixed and name in w.sources:
                self._bound(name, bounds)
        for condition in program.conditions:
            self._condition(condition)

    def _bound(self, name, bounds):
        w, size, outside = self.w, self.w.size_of(*self.w.sources[name]), []
        if bounds.low > 2:
            outside.append(w.Less(size, [bounds.low]))
        if bounds.high is not None:
            outside.append(w.Greater(size, [bounds.high]))
        if bounds.multiple > 1:
            outside.append(w.Not(w.Equal(w.Mod(size, [bounds.multiple]), [bounds.low % bounds.multiple])))
        if outside:
            self._pass(functools.reduce(w.Or, outside), f"{name}: {bounds}")

    def _condition(self, condition):
        w, program = self.w, self.program
        if condition.one is None:
            self.unsaid.append(condition.told)
            return
        difference = self._by_symbols(condition.other - condition.one)
        if difference and _holds_for(condition, *_range_of(difference, self._range_of_term)):
            return
        try:
            (one, places), (other, further) = map(self._explained, (condition.one, condition.other))
        except HardCodedError:
            self.unsaid.append(condition.told)
            return
        apart = difference or ("add", other, ("mul", one, ("number", -1)))
        if _holds_for(condition, *_range_of(apart, self._range_of_term)):
            return
        names = terms_of(one) | terms_of(other)
        name = next(iter(names))
        if len(names) == 1 and name in program.symbols and _is_within_bounds(
                condition, one, other, name, program.bounds[name]):
            return
        relation = condition.relation if condition.held else NEGATED[condition.relation]
        text = f"{text_of(one)} {relation} {text_of(other)}"
        if text in self.texts:
            return
        self.texts.append(text)
        # What is otherwise for 1 alone is told only.
        if not _holds_for(condition, *_range_of(apart, functools.partial(self._range_of_term, smallest=2))):
            holds = w.add(OPERATORS[condition.relation], w.computed(one, places), w.computed(other, further))
            self._pass(w.Not(holds) if condition.held else holds, text)

    def _range_of_term(self, term, smallest=1):
        """Return the least and greatest of a symbol, or of a size that follows symbols."""
        bounds = self.program.bounds.get(term)
        if bounds is not None:
            return max(bounds.low, smallest), math.inf if bounds.high is None else bounds.high
        followed = self._by_symbols(Size(self._told[term])) if term in self._told else None
        return (0, math.inf) if followed is None else _range_of(
            followed, functools.partial(self._range_of_term, smallest=smallest))

    def _samples_of(self, number):
        return number.samples if isinstance(number, Size) else [number] * self.samples

    def _by_symbols(self, number):
        return Explainer(self.w.symbols, {}).explain(self._samples_of(number))

    def _explained(self, number):
        """Return the expression of a number: of symbols if there is one, else of sizes of what was computed, too."""
        found = self._by_symbols(number)
        return (found, {}) if found else self.w.explained(self._samples_of(number))

    def _pass(self, fails, text):
        """Write a node that fails where something is true; its result is 0."""
        w = self.w
        made = w.Gather(w.constant([0], "int64"), w.cast(fails, "int64"))
        w.nodes[-1].name = f"the model holds where {text}"  # what a runtime says where it fails
        self._passed.append(made)

    def guard(self):
        """Let each result depend on all of them, since a runtime may be asked for any: their shapes are their own."""
        if not self._passed:
            return
        w, passed = self.w, functools.reduce(self.w.Add, self._passed)
        for value in {id(value): value for value in self.program.outputs}.values():
            result = w.resolve(value)
            w.bind(value, w.Reshape(result, w.Add(w.Shape(result), passed)))
