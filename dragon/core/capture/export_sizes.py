"""One graph for many sizes, to be kept: sizes of arguments become symbols that the graph's numbers follow."""
import collections
import itertools
import random
import types

from dragon import _C
from dragon.core import modes
from dragon.core.capture.probes import Probes, phantoms_at
from dragon.core.capture.procedure import doubt_of, write_down
from dragon.core.capture.structure import Template

BATCH = "batch"
# Calls of operators, counted so that a call has the same graph on each machine, however fast:
STEPS = 30_000  # for each group of axes, to find between which sizes the call is the same
PATIENCE = 500_000  # in all, after which sizes that are hard to tell stay as they are
MOST_KEPT = 128  # captures that may be asked for again
MOST_TOGETHER = 12  # sizes drawn for all symbols together
MOST_CORNERS = 8  # at which what several sizes decide together is looked after
FEW = (3, 1, 2, 40, 517, 70001)  # distances of other sizes, where numbers follow sizes in lines
# Distances where numbers follow sizes in steps, not in lines.
MANY = (*range(1, 9), 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 256, 320, 640, 1283, 5003, 70001)


def graph_for_sizes(function, arguments, inputs, captured):
    """Return the graph of a call with as many sizes of its arguments as symbols as may be others.

    The call is written down as the program makes it, and done again at other sizes: the operators say what they make
    of them. A size that decides something in the program is bounded by that; one that numbers follow as no expression
    does stays as it is.

    Parameters
    ----------
    function : Callable
        What was called.
    arguments : Template
        Its arguments.
    inputs : List[Tensor]
        The tensors among them.
    captured : _C.Capture
        What the call came to.

    Returns
    -------
    Optional[_C.Graph]
        With a symbol for each size that may be another one; None where there is none.

    """
    axes = [(number, axis) for number, tensor in enumerate(inputs) if tensor.is_contiguous()
            for axis, size in enumerate(tensor.shape) if size > 1]
    procedure = _procedure_of(function, arguments, inputs, axes) if axes else None
    if procedure is None or doubt_of(procedure, inputs, captured):
        return None
    return _Sizes(procedure, inputs, captured, set(axes).difference(procedure.fixed_sizes)).graph()


def _procedure_of(function, arguments, inputs, axes):
    """Return what the call is as the program makes it, or None."""
    def call(*args, **kwargs):
        return [tensor.clone() for tensor in Template(function(*args, **kwargs)).tensors]
    args, kwargs = arguments.fill(inputs)
    with modes.no_grad():
        recording = types.SimpleNamespace(function=call, args=args, kwargs=kwargs, inputs=inputs, met=None)
        written = write_down(recording, axes, is_trace=True)
    return None if isinstance(written, str) else written[0]


def whole(number):
    """Return a number without a fraction, or raise."""
    if number != int(number):
        raise ValueError(f"sizes: got {number}, which something is decided by, expected a whole number")
    return int(number)


class _Sizes:
    """Which sizes of a call's arguments may be others, and what the call comes to there."""

    def __init__(self, procedure, inputs, captured, axes):
        self.procedure, self.inputs, self.captured = procedure, inputs, captured
        self._kept, self._steps, self._calls = {}, 0, max(len(captured.graph.calls), 1)
        self.base = self._at({})
        self.bounds = {}  # of each group of axes that was found to vary
        self.groups = self._grouped(sorted(axes))

    def graph(self):
        """Return the graph for all sizes that leave one, those that leave none taken away one by one."""
        groups = dict(self.groups)
        while groups:
            found = self._unified(groups)
            if found is not None:
                for name, axes in groups.items():
                    bounds = self.bounds[tuple(axes)]
                    found.bound(name, bounds.low, bounds.high, bounds.multiple)
                return found
            groups = self._without_worst(groups)
        return None

    def _unified(self, groups):
        """Return the graph for some groups of sizes, or None; where few samples say too little, of more of them."""
        for distances in (FEW, MANY):
            try:
                return self._fitted(groups, distances)
            except (ValueError, RuntimeError, NotImplementedError):
                if self._is_late:
                    break
        return None

    def _without_worst(self, groups):
        """Return the groups without one that has no graph of its own, or without the last."""
        for name in reversed(groups) if not self._is_late else ():
            if self._unified({name: groups[name]}) is None:
                return {other: axes for other, axes in groups.items() if other != name}
        return dict(list(groups.items())[:-1])

    def _grouped(self, axes):
        """Return {symbol: axes}: axes that may be other sizes alone, and otherwise those of one size together."""
        by_size = collections.defaultdict(list)
        for number, axis in axes:
            by_size[self.inputs[number].shape[axis]].append((number, axis))
        groups = []
        for same in by_size.values():
            first = [place for place in same if place[1] == 0]  # the batch is one, whatever else has its size
            rest = [place for place in same if place[1]]
            groups += [first] if first and self._may_vary(first) else []
            alone = [[place] for place in rest if self._may_vary([place])]
            groups += alone
            left = [place for place in rest if [place] not in alone]
            if first and not self._may_vary(first):
                left = same
            if len(left) > 1 and self._may_vary(left):
                groups.append(left)
        groups.sort(key=lambda group: (group[0][1], group[0][0]))
        return {self._name(group, number): group for number, group in enumerate(groups)}

    def _name(self, group, number):
        if number == 0 and group[0][1] == 0:
            return BATCH
        return f"size{group[0][1]}_of_input{group[0][0]}"

    def _may_vary(self, group):
        key = tuple(group)
        if key not in self.bounds:
            probes = Probes(lambda sizes: self._refusal(dict.fromkeys(group, sizes[BATCH])),
                            {BATCH: self._size_of(group)}, self.procedure.conditions, STEPS, calls=self._calls)
            self.bounds[key] = probes.bounds[BATCH]
        bounds = self.bounds[key]
        return not bounds.is_fixed and bounds.low % bounds.multiple == 0

    _is_late = property(lambda self: self._steps > PATIENCE)

    def _size_of(self, group):
        number, axis = group[0]
        return self.inputs[number].shape[axis]

    def _refusal(self, sizes):
        """Return why the call asks for something else at other sizes, or comes to other calls; empty if it does not."""
        try:
            return _C.unlike(self.base, self._at(sizes))
        except (ValueError, RuntimeError, NotImplementedError) as error:
            return str(error)

    def _phantoms(self, sizes):
        return phantoms_at(self.inputs, sizes)

    def _at(self, sizes):
        """Return what the call comes to at other sizes of axes; kept, since the same are asked for in several ways."""
        shapes = tuple(tuple(phantom.shape) for phantom in self._phantoms(sizes))
        if shapes not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._steps += self._calls
            self._kept[shapes] = self.procedure.traced(self._phantoms(sizes), self.captured, apart=True)
        return self._kept[shapes]

    def _fitted(self, groups, distances):
        """Return the graph of what the call comes to at some sizes, with what it decided by them."""
        chosen = self._chosen(groups, distances)
        self._steps += len(chosen) * self._calls  # what each number follows is looked for in all of them
        places = [{place: sizes[name] for name, group in groups.items() for place in group} for sizes in chosen]
        samples = [(self._at(sizes), list(named.values())) for sizes, named in zip(places, chosen)]
        decisions = self.procedure.decisions
        wanted = sorted({number for decision in decisions for number in decision[2:]})
        numbers = [self.procedure.numbers_at(self._phantoms(sizes), wanted) for sizes in places] if wanted else []
        told = {number: [found[place] for found in numbers] for place, number in enumerate(wanted)}
        follows = {number for number, found in told.items() if any(other != found[0] for other in found)}
        return _C.unify(samples, list(groups), [
            (relation, held, list(map(whole, told[one])), list(map(whole, told[other])))
            for relation, held, one, other in decisions if follows & {one, other}])

    def _chosen(self, groups, distances):
        """Return sizes: as they were, with each symbol alone at another, with all at others, and at corners."""
        base = {name: self._size_of(group) for name, group in groups.items()}
        bounds = {name: self.bounds[tuple(group)] for name, group in groups.items()}
        near = {name: bounds[name].near(base[name], distances) for name in groups}
        chosen = [base] + [{**base, name: near[name][0]} for name in groups]
        draw = random.Random(0)  # any of them together: odd with odd, small with large
        more = [{name: draw.choice(sizes) for name, sizes in near.items()} for _ in range(MOST_TOGETHER)]
        more += [{name: sizes[place % len(sizes)] for name, sizes in near.items()}
                 for place in range(max(map(len, near.values())))]
        ends = itertools.product(*(bounds[name].ends for name in groups))
        more += [dict(zip(groups, corner)) for corner in itertools.islice(ends, MOST_CORNERS)]
        return chosen + [sizes for sizes in more if not self.procedure.refusal(self._phantoms(
            {place: sizes[name] for name, group in groups.items() for place in group}))]
