"""What the engine's calls come to at other sizes: the program runs at several, and its numbers are told from these."""
from dragon import _C
from dragon.core.capture.source_lines import user_line
from dragon.core.graph import Graph
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack

DISTANCES = (3, 1, 2, 40, 517, 70001)  # of the sizes that are tried, from those of the example


class Sizes:
    """A program at other sizes than the example's.

    Parameters
    ----------
    captured : _C.Capture
        What it came to at the example's.
    given : Sequence[Tensor]
        The tensors that it is called with, without numbers.
    axes : Sequence[Tuple[int, int]]
        Which of their axes may have other sizes: (place among them, axis).
    call : Callable[[List[Tensor]], List[Tensor]]
        The program, of tensors in their places.

    """

    def __init__(self, captured, given, axes, call):
        self.captured, self.given, self.call = captured, given, call
        self.shapes = [tuple(int(size) for size in tensor.shape) for tensor in given]
        self.groups = {f"size{number}": group for number, group in enumerate(self._grouped(axes))}

    def _at(self, sizes):
        """Return what the program comes to where some axes have other sizes."""
        shapes = [tuple(sizes.get((place, axis), size) for axis, size in enumerate(shape))
                  for place, shape in enumerate(self.shapes)]
        trace = _C.Trace()
        trace.set_place(user_line)
        tensors = [_C.phantom_like(tensor, shape) for tensor, shape in zip(self.given, shapes)]
        for tensor in tensors:
            trace.add_input(tensor)
        with ExitStack() as exits:
            exits.callback(trace.restore_gradients)
            exits.callback(trace.stop)
            trace.start()
            results = self.call(tensors)
        return trace.finish(results)

    def _may_vary(self, group):
        place, axis = group[0]
        found = self._tried(dict.fromkeys(group, self.shapes[place][axis] + DISTANCES[0]))
        return found is not None

    def _tried(self, sizes):
        """Return what the program comes to at other sizes, None where it takes none or makes other calls."""
        try:
            found = self._at(sizes)
            return None if _C.unlike(self.captured, found) else found
        except Exception as error:  # whatever the program, or an operator, says to sizes that it does not take
            if is_interrupt(error):
                raise
            return None

    def _grouped(self, axes):
        """Return lists of axes: those that may be other sizes alone, and those of one size that may together."""
        alone = [[place] for place in axes if self._may_vary([place])]
        left, same = [place for place in axes if [place] not in alone], {}
        for place, axis in left:
            same.setdefault(self.shapes[place][axis], []).append((place, axis))
        return alone + [group for group in same.values() if len(group) > 1 and self._may_vary(group)]

    def graph(self):
        """Return the graph whose numbers say which sizes they follow.

        Returns
        -------
        Tuple[Graph, Dict[str, List[tuple]]]
            The graph, and its symbols: the axes whose size each is. Axes that numbers follow as no expression says
            stay as they are.

        """
        groups = dict(self.groups)
        while groups:
            found = self._fitted(groups)
            if found is not None:
                return Graph(found), groups
            alone = [name for name in groups if len(groups) > 1 and self._fitted({name: groups[name]}) is None]
            groups = {name: group for name, group in groups.items() if name not in (alone or [list(groups)[-1]])}
        return Graph(self.captured.graph), {}

    def _fitted(self, groups):
        """Return the graph for some groups of axes, None where there is none."""
        base = {name: self.shapes[group[0][0]][group[0][1]] for name, group in groups.items()}
        chosen = [{**base, name: base[name] + DISTANCES[0]} for name in base]
        chosen += [{name: size + DISTANCES[(step + number) % len(DISTANCES)] for number, (name, size) in enumerate(
            base.items())} for step in range(len(DISTANCES))]
        samples = [(self.captured, list(base.values()))]
        for sizes in chosen:
            made = self._tried({place: sizes[name] for name, group in groups.items() for place in group})
            if made is not None:
                samples.append((made, list(sizes.values())))
        try:
            return _C.unify(samples, list(base), [])
        except (ValueError, RuntimeError):
            return None
