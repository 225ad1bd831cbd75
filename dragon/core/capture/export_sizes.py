"""One graph for many sizes, to be kept: sizes of arguments become symbols that the graph's numbers follow."""
import collections
import types

from dragon import _C
from dragon.core import modes
from dragon.core.capture.procedure import doubt_of, write_down
from dragon.core.capture.structure import Template

BATCH = "batch"


def graph_for_sizes(function, arguments, inputs, captured):
    """Return the graph of a call with as many sizes of its arguments as symbols as may be others.

    The call is written down as the program makes it, and done again at other sizes: the operators say what they make
    of them. A size that decides something in the program, or that numbers follow in no straight line, stays as it is.

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
    previous = modes.set_recording(False)
    try:
        recording = types.SimpleNamespace(function=call, args=args, kwargs=kwargs, inputs=inputs, met=None)
        written = write_down(recording, axes, is_trace=True)
    finally:
        modes.set_recording(previous)
    return None if isinstance(written, str) else written[0]


class _Sizes:
    """Which sizes of a call's arguments may be others, and what the call comes to there."""

    def __init__(self, procedure, inputs, captured, axes):
        self.procedure, self.inputs, self.captured = procedure, inputs, captured
        self.groups = self._grouped(sorted(axes))

    def graph(self):
        """Return the graph for all sizes that leave one, those that leave none taken away one by one."""
        groups = dict(self.groups)
        while groups:
            try:
                return _C.unify(list(self._samples(groups)), list(groups))
            except (ValueError, RuntimeError, NotImplementedError):
                groups = self._without_worst(groups)
        return None

    def _without_worst(self, groups):
        """Return the groups without one that has no graph of its own, or without the last."""
        for name in reversed(groups):
            try:
                _C.unify(list(self._samples({name: groups[name]})), [name])
            except (ValueError, RuntimeError, NotImplementedError):
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
        return any(not self.procedure.refusal(self._phantoms({place: size for place in group}))
                   for size in self._choices(group)[:2])

    def _choices(self, group):
        """Return other sizes for axes of one size: near, far, and multiples, as halving wants them."""
        size = self.inputs[group[0][0]].shape[group[0][1]]
        return [2 * size, 2 * size + 3, size + 1, 3 * size, 5 * size + 1, 4 * size]

    def _phantoms(self, sizes):
        shapes = [tuple(sizes.get((number, axis), size) for axis, size in enumerate(tensor.shape))
                  for number, tensor in enumerate(self.inputs)]
        return [_C.phantom_like(tensor, shape) for tensor, shape in zip(self.inputs, shapes)]

    def _samples(self, groups):
        """Yield (capture, sizes): as it was, with each symbol alone at another size, and with all of them twice."""
        base = {name: self.inputs[group[0][0]].shape[group[0][1]] for name, group in groups.items()}
        yield self.captured, list(base.values())
        chosen = {name: [size for size in self._choices(group)
                         if not self.procedure.refusal(self._phantoms({place: size for place in group}))]
                  for name, group in groups.items()}
        for name in groups:
            if len(chosen[name]) < 3:
                raise ValueError(f"{name}: got too few sizes at which the call is the same")
            yield self._sample(groups, {**base, name: chosen[name][0]})
        for place in (1, 2):
            yield self._sample(groups, {name: sizes[place] for name, sizes in chosen.items()})

    def _sample(self, groups, sizes):
        phantoms = self._phantoms({place: sizes[name] for name, group in groups.items() for place in group})
        return self.procedure.traced(phantoms, self.captured), list(sizes.values())
