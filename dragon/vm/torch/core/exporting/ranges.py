"""Which sizes of inputs are free, which follow others, which are fixed, and how far each may go: found by trying."""
import itertools
import math

from dragon.core.interrupts import is_interrupt
from dragon.vm.torch.core.exporting.replay import Replay
from dragon.vm.torch.core.exporting.symbols import Expression, ValueRanges

FAR = 1 << 20  # a size that is as good as any


class Axis:
    """One size of an input that may vary.

    Parameters
    ----------
    place : Tuple[int, int]
        (user input, axis).
    expression : Expression
        What it is in terms of symbols.
    hint : int
        What it was.
    dim : Any
        What the user said: a Dim, or a hint.
    source : str
        How letters call it.

    """

    def __init__(self, place, expression, hint, dim, source):
        self.place, self.expression, self.hint, self.dim, self.source = place, expression, hint, dim, source


class Ranges:
    """Finds out for a graph what its sizes are.

    Parameters
    ----------
    traced : Traced
        The graph.
    axes : List[Axis]
        Of its user inputs.
    hints : Dict[str, int]
        By symbol.
    declared : Dict[str, ValueRanges]
        By symbol, what the user allowed.

    """

    def __init__(self, traced, axes, hints, declared):
        self.replay, self.axes, self.hints, self.declared = Replay(traced), axes, dict(hints), declared
        self.traced, self.users = traced, [one.node for one in traced.user_inputs]
        self.known = {}  # symbol -> Expression that stands for it
        self.found = {}  # symbol -> ValueRanges
        self.step = self._step()
        self._tried = {}

    roots = property(lambda self: [name for name in self.hints if name not in self.known],
                     doc="List[str]: the symbols that nothing stands for.")

    def _step(self):
        """Return by how much sizes are moved: what keeps remainders that the program looks at."""
        step, origins = 1, self.traced.shape_env.origins
        for origin in origins.values():
            if origin.how in ("mod", "floordiv"):
                divisor = origins[origin.parts[1]]
                if divisor.how == "constant" and isinstance(divisor.value, int) and 1 < divisor.value <= 4096:
                    step = math.lcm(step, divisor.value)
        return step

    def bindings(self, moved):
        """Return the values of all symbols where some of the roots have others than in the example."""
        roots = {name: moved.get(name, self.hints[name]) for name in self.hints}
        values = {name: self.known[name].value(roots) if name in self.known else value for name, value in roots.items()}
        if self.traced.unknowns.places or len(self.traced.unknowns.names) > 1:
            sizes = {(self.users[axis.place[0]], axis.place[1]): axis.expression.value(values) for axis in self.axes}
            values.update(self.traced.unknowns.fitted(values, [*moved, *self.known], sizes))
        return values

    def values(self, moved):
        """Return what every node gives there, or the exception."""
        bindings = self.bindings(moved)
        key = tuple(bindings.values())
        if key not in self._tried:
            try:
                sizes = {axis.place: axis.expression.value(bindings) for axis in self.axes}
                if min(sizes.values(), default=0) < 0:
                    raise ValueError("a size below 0")
                self._tried[key] = self.replay.run(sizes, bindings)
            except Exception as error:  # whatever operators say to sizes that they refuse
                if is_interrupt(error):
                    raise
                self._tried[key] = error
        return self._tried[key]

    def holds(self, moved):
        """Return whether the program goes the same way there."""
        return not isinstance(self.values(moved), Exception)

    def _steps_of(self, name):
        """Return by how much a symbol is moved to see whether it may be moved."""
        low, high = self.declared[name].lower, self.declared[name].upper
        steps = [step * self.step for step in (1, -1, 2, -2, 3)]
        return [step for step in steps if max(low, 2) <= self.hints[name] + step <= high]

    def _moved(self, names, way):
        return {name: self.hints[name] + way for name in names}

    def solve(self):
        """Find what follows what; return [(symbol, Expression)] of those that are not free."""
        rest = [name for name in self.roots if self._steps_of(name) and not any(
            self.holds(self._moved([name], way)) for way in self._steps_of(name))]
        fixed = [name for name in self.roots if not self._steps_of(name)]
        while rest:
            group = self._group(rest)
            if group is None:
                for name in rest:
                    self.known[name] = Expression.of(self.hints[name])
                break
            first, *others = group
            for name in others:
                self.known[name] = Expression.symbol(first) + (self.hints[name] - self.hints[first])
            rest = [name for name in rest if name not in group]
        self._tried = {key: value for key, value in self._tried.items() if not isinstance(value, Exception)}
        return [(name, self.known[name]) for name in self.known], fixed

    def _group(self, rest):
        """Return symbols that move together only, the least of them; None where nothing moves."""
        ways = (self.step, -self.step, 2 * self.step)
        for left in range(len(rest) if len(rest) <= 6 else 1):
            for out in itertools.combinations(rest, left):
                group = [name for name in rest if name not in out]
                way = next((way for way in ways if len(group) > 1 and self.holds(self._moved(group, way))), None)
                if way is not None:
                    return self._least(group, way)
        return None

    def _least(self, group, way):
        keep = list(group)
        for name in group[1:]:
            fewer = [other for other in keep if other != name]
            if len(fewer) > 1 and self.holds(self._moved(fewer, way)):
                keep = fewer
        return keep

    # --- how far

    def bounds(self):
        """Return {symbol: ValueRanges} of the roots, found by trying."""
        unknown = self.traced.unknowns.names
        for name in self.roots:
            low, high = self.declared[name].lower, self.declared[name].upper
            if name in unknown:  # whatever it is, it is told only when the program runs
                self.found[name] = self.declared[name]
                continue
            hint = self.hints[name]
            lower = self._last(name, hint, max(low, min(2, hint)))
            upper = self._last(name, hint, high if high < FAR else max(FAR + hint % self.step, hint))
            self.found[name] = ValueRanges(low if lower <= max(low, 2) else lower,
                                           high if upper >= min(high, FAR // 2) else upper)
        return self.found

    def _last(self, name, good, end):
        """Return the last value on the way to an end for which the program goes the same way."""
        if good == end or self.holds({name: end}):
            return end
        end = good + abs(end - good) // self.step * self.step * (1 if end > good else -1)
        if good == end or self.holds({name: end}):
            return end
        bad = end
        while abs(bad - good) > self.step:
            middle = good + (bad - good) // 2 // self.step * self.step
            if middle == good:
                middle = good + (self.step if bad > good else -self.step)
            if self.holds({name: middle}):
                good = middle
            else:
                bad = middle
        return good

    # --- what sizes are

    def points(self):
        """Return the values of roots at which sizes are read off: the example's, each moved alone, all moved."""
        alone = {}
        for name in self.roots:
            ways = [way for way in self._steps_of(name) if self.holds({name: self.hints[name] + way})]
            if ways:
                alone[name] = ways
        points = [{}]
        for name, ways in alone.items():
            points += [{name: self.hints[name] + way} for way in ways[:3]]
        joint = {name: self.hints[name] + ways[number % len(ways)] for number, (name, ways) in
                 enumerate(alone.items())}
        if len(joint) > 1 and self.holds(joint):
            points.append(joint)
        return points


class Fit:
    """Finds the expression that gives some numbers at some values of symbols.

    Parameters
    ----------
    names : List[str]
        The symbols.
    points : List[Dict[str, int]]
        Their values; the first is the example's.
    taken : int, optional, default=0
        How many symbols u0, u1, ... there are.

    """

    def __init__(self, names, points, taken=0):
        self.names, self.points = names, points
        self._known = {values: Expression.symbol(name) for name in reversed(names)
                       if len(set(values := tuple(point[name] for point in points))) > 1}
        self._pool = [Expression.symbol(name) for name in names]
        self._unknown = itertools.count(taken)

    def expression(self, values):
        """Return the expression that has these values at the points, a fresh symbol where none is found."""
        values = tuple(values)
        if values not in self._known:
            made = self._line(values) or self._product(values) or self._part(values)
            if made is None:
                return self._known.setdefault(values, Expression.symbol(f"u{next(self._unknown)}"))
            self._known[values] = made
            if made.linear() is not None and made.constant is None and len(self._pool) < 40:
                self._pool.append(made)
        return self._known[values]

    def _agrees(self, made, values):
        return all(made.value(point) == value for point, value in zip(self.points, values))

    def _line(self, values):
        first, made = self.points[0], Expression.of(values[0])
        if len(set(values)) == 1:
            return made
        factors = {}
        for point, value in zip(self.points[1:], values[1:]):
            moved = [name for name in self.names if point[name] != first[name]]
            if len(moved) == 1 and moved[0] not in factors:
                factor, rest = divmod(value - values[0], point[moved[0]] - first[moved[0]])
                if rest:
                    return None
                factors[moved[0]] = factor
        for name, factor in factors.items():
            made = made + Expression.symbol(name) * factor - factor * first[name]
        return made if self._agrees(made, values) else None

    def _product(self, values):
        for one, another in itertools.combinations_with_replacement(self._pool, 2):
            made = one * another
            base = made.value(self.points[0])
            if base and values[0] % base == 0 and self._agrees(made * (values[0] // base), values):
                return made * (values[0] // base)
            if base and self._agrees(made + (values[0] - base), values):
                return made + (values[0] - base)
        return None

    def _part(self, values):
        for one in self._pool[:8]:
            base = one.value(self.points[0])
            for divisor in range(2, 65):
                for offset in range(-divisor, divisor):
                    rest = values[0] - (base + offset) // divisor
                    if rest not in (-1, 0, 1):
                        continue
                    made = Expression.function("floordiv", one + offset, Expression.of(divisor)) + rest
                    if self._agrees(made, values):
                        return made
        return None
