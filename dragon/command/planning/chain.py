"""A model as a chain of units, which pipelines cut and tensor parallelism shares out."""
import bisect
from dataclasses import dataclass, field

SEQUENCES = ("Sequential", "ModuleList")
PRODUCTS = ("Linear", "NonDynamicallyQuantizableLinear", "Conv1D")


@dataclass
class Unit:
    """A part of a model that runs as a whole. Bytes and seconds are those of one step of the program.

    `split` are those that tensor parallelism shares out, of the bytes and seconds beside them; `sums` the bytes of what
    is summed over its processes in the forward pass.
    """

    name: str
    kind: str = ""
    parameters: float = 0
    gradients: float = 0
    state: float = 0
    saved: float = 0
    output: float = 0
    forward: float = 0.0
    backward: float = 0.0
    calls: int = 0
    split: dict = field(default_factory=lambda: dict.fromkeys(
        ("parameters", "gradients", "state", "saved", "forward", "backward"), 0.0))
    sums: float = 0
    sum_count: int = 0

    def add(self, what, number, is_split=False):
        """Add to one of the numbers."""
        setattr(self, what, getattr(self, what) + number)
        if is_split:
            self.split[what] += number

    def shared(self, what, count):
        """Return a number of one of so many processes that share the unit out."""
        return getattr(self, what) - self.split[what] * (1 - 1 / count)


class Tree:
    """Paths of modules that were called, and which lies within which.

    Parameters
    ----------
    step : dict
        Of a dry run.

    """

    def __init__(self, step):
        self.paths, self.kinds = step["paths"], dict(zip(step["paths"], step["kinds"]))
        self.called = list(dict.fromkeys(self.paths[number] for number, _ in step["modules"]))
        self.outputs = {}
        for number, size in step["modules"]:
            self.outputs[self.paths[number]] = self.outputs.get(self.paths[number], 0) + size
        self._known = set(self.called)
        self.sizes = {}
        for name, _, size, _, _ in step["parameters"]:
            for path in self.above(name):
                self.sizes[path] = self.sizes.get(path, 0) + size
        self.children = {}
        for path in self.called:
            above = next((one for one in self.above(path)), None)
            self.children.setdefault(above, []).append(path)

    def above(self, path):
        """Yield the called modules around a path, the nearest first."""
        while True:
            cut = max(path.rfind("."), path.rfind("/"))
            if cut < 0:
                return
            path = path[:cut]
            if path in self._known:
                yield path

    def units(self):
        """Return the paths of the chain, in the order in which they are called."""
        roots = self.children.get(None, [])
        root = max(roots, key=lambda path: self.sizes.get(path, 0), default=None)
        if root is None:
            return []
        total = self.sizes.get(root, 0)
        return self._expand(root, total) or [root]

    def _expand(self, path, total):
        found = []
        for child in self.children.get(path, []):
            is_whole = self.kinds[child] in SEQUENCES or self.sizes.get(child, 0) > total / 2
            inner = self._expand(child, total) if is_whole else []
            found += inner if inner else [child]
        return found

    def rows(self):
        """Return {module of products: the module around it} where tensor parallelism sums: the last of each module."""
        found = {}
        for parent, children in self.children.items():
            inner = [child for child in children if self.kinds[child] in PRODUCTS]
            if parent is not None and len(inner) > 1:
                found[inner[-1]] = parent
            if parent is not None and self.kinds[parent] == "MultiheadAttention":
                found[parent] = parent
        return found


def make_chain(step, costs):
    """Return the units of a step, in the order of the forward pass.

    Parameters
    ----------
    step : dict
        Of a dry run.
    costs : Union[Table, Roofline]
        What calls cost.

    Returns
    -------
    List[Unit]
        At least one.

    """
    tree = Tree(step)
    names = tree.units() or ["program"]
    units = [Unit(name, tree.kinds.get(name, ""), output=tree.outputs.get(name, 0)) for name in names]
    places = {name: place for place, name in enumerate(names)}
    split = {path for path in tree.rows().values()}

    def place_of(path):
        return next((places[one] for one in (path, *tree.above(path)) if one in places), None)

    def is_split(path):
        around = [path, *tree.above(path)]
        return any(one in split for one in around) and "Norm" not in tree.kinds.get(around[0], "")
    for name, shape, size, state, trained in step["parameters"]:
        unit = units[place_of(name) or 0]
        shares = is_split(name) and len(shape) > 1
        for what, number in (("parameters", size), ("gradients", size if trained else 0), ("state", state)):
            unit.add(what, number, shares)
    for path, size, _ in step["saved"]:
        path = step["paths"][path]
        units[_or_last(place_of(path), units, path)].add("saved", size, is_split(path))
    _add_seconds(step, costs, units, place_of, is_split)
    for row in tree.rows():
        unit = units[place_of(row) or 0]
        unit.sums += tree.outputs.get(row, 0)
        unit.sum_count += 1
    return units


def _or_last(place, units, path):
    """Return the place of what stands in no unit: with the last, where losses are; but the first before all modules."""
    return place if place is not None else (len(units) - 1 if path else 0)


def _add_seconds(step, costs, units, place_of, is_split):
    last = 0
    for call in step["calls"]:
        path, phase = step["paths"][call[1]], call[2]
        if phase == "update":
            continue
        place = place_of(path)
        last = place if place is not None else (len(units) - 1 if path and "/" not in path else last)
        units[last].add("forward" if phase == "forward" else "backward", costs.seconds(call), is_split(path))
        units[last].calls += 1


def cut(units, count):
    """Return the units in so many runs that follow each other, the longest of which takes as little as can be.

    Parameters
    ----------
    units : Sequence[Unit]
        The chain.
    count : int
        How many runs; not more than there are units.

    Returns
    -------
    List[List[Unit]]
        The runs.

    """
    sums = [0.0]
    for unit in units:
        sums.append(sums[-1] + unit.forward + unit.backward)
    low, high = max(after - before for before, after in zip(sums, sums[1:])), sums[-1]
    for _ in range(60):  # halve the interval in which the bound lies
        middle = (low + high) / 2
        if len(_cuts(sums, middle, count)) <= count:
            high = middle
        else:
            low = middle
    ends = _cuts(sums, high, count)
    while len(ends) < count:  # fewer are enough: halve the longest that can be
        start, end = max(((a, b) for a, b in zip([0] + ends, ends) if b - a > 1),
                         key=lambda pair: sums[pair[1]] - sums[pair[0]])
        ends = sorted(ends + [start + (end - start) // 2])
    return [list(units[start:end]) for start, end in zip([0] + ends, ends)]


def _cuts(sums, bound, count):
    """Return the ends of runs that are as long as a bound allows."""
    ends, start = [], 0
    while start < len(sums) - 1:
        end = bisect.bisect_right(sums, sums[start] + bound * (1 + 1e-12)) - 1
        start = max(end, start + 1)
        ends.append(start)
    return ends
