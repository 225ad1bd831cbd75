"""A place of one's own: named tensors, graphs and random state, nested, resettable, isolated from other places."""
import threading

from dragon import _C
from dragon.core.feeds import check_feeds, input_names, read_sizes
from dragon.core.scopes import contextmanager

_local = threading.local()


class Workspace:
    """Hold named tensors and graphs, and keep the random state of a `with` block apart from the surrounding one.

    Several threads may each have a workspace of their own entered, or the same one: which one is current is known to
    each thread alone.

    Parameters
    ----------
    name : str, optional, default=""
        How it is printed.
    seed : int, optional, default=0
        Where its random state starts.

    Examples
    --------
    >>> with dragon.Workspace("trial", seed=1) as place:
    ...     place["weights"] = dragon.random.randn(3, 3)

    """

    def __init__(self, name="", seed=0):
        self.name = name
        self.seed = seed
        self._lock = threading.RLock()
        self.reset()

    def reset(self):
        """Forget all tensors and graphs, and start the random state anew."""
        with self._lock:
            self._tensors, self._graphs, self._compiled = {}, {}, {}
            if not hasattr(self, "generator"):
                self.generator = _C.Generator(self.seed)
            # The same generator starts anew, since a `with` block that is entered now draws from it.
            self.generator.manual_seed(self.seed)

    @contextmanager
    def as_default(self):
        """Make this the current workspace of the calling thread within a `with` block.

        Yields
        ------
        Workspace
            This workspace.

        """
        with self:
            yield self

    def __enter__(self):
        # The guard makes the generator current for this thread for as long as it lives.
        _stack().append((self, _C.GeneratorGuard(self.generator)))
        return self

    def __exit__(self, *_):
        stack = _stack()
        if stack[-1][0] is not self:
            raise RuntimeError(f"Workspace: got the end of {self!r}, expected that of {stack[-1][0]!r} first")
        stack.pop()

    def get_tensor(self, name):
        """Return the tensor that was set under a name, itself and no copy."""
        return _find(self._tensors, name, "tensor", self)

    def set_tensor(self, name, tensor):
        """Hold a tensor, which is not copied, under a name; what stood there before is forgotten."""
        _check_name(name, "set_tensor")
        self._tensors[name] = tensor

    def has_tensor(self, name):
        """Return whether there is a tensor of this name."""
        return name in self._tensors

    def get_graph(self, name):
        """Return the graph that was set under a name, itself and no copy."""
        return _find(self._graphs, name, "graph", self)

    def set_graph(self, name, graph):
        """Hold a graph under a name, to be run by it.

        Parameters
        ----------
        name : str
            The name; what stood under it before is forgotten.
        graph : dragon.Graph
            The graph. It is compiled when it first runs: edit it before, or set it again.

        """
        _check_name(name, "set_graph")
        if not isinstance(graph, _C.Graph):
            raise TypeError(f"Workspace.set_graph: got {type(graph).__name__} for {name!r}, expected a graph")
        with self._lock:
            self._graphs[name] = graph
            self._compiled = {key: plan for key, plan in self._compiled.items() if key[0] != name}

    def has_graph(self, name):
        """Return whether there is a graph of this name."""
        return name in self._graphs

    def tensors(self):
        """Return the names of the tensors, in the order in which they came."""
        return list(self._tensors)

    def graphs(self):
        """Return the names of the graphs, in the order in which they came."""
        return list(self._graphs)

    def run(self, name, feeds=None, level=3):
        """Run a graph by its name.

        Parameters
        ----------
        name : str
            The name of the graph.
        feeds : Dict[str, dragon.Tensor], optional
            Tensors for the graph's inputs, by their names. An input without a feed is the workspace's tensor of that
            name.
        level : int, optional, default=3
            How far to optimise it: 0 to 3.

        Returns
        -------
        List[dragon.Tensor]
            The graph's outputs, in its order.

        """
        graph, feeds = self.get_graph(name), dict(feeds or {})
        for wanted in input_names(graph):
            if wanted not in feeds and wanted in self._tensors:
                feeds[wanted] = self._tensors[wanted]
        who = f"Workspace.run({name!r})"
        tensors = check_feeds(who, graph, feeds)
        sizes = read_sizes(who, graph, tensors)
        key = name, level, tuple(sizes.items())
        with self._lock:
            if key not in self._compiled:
                self._compiled[key] = _C.Plan(graph.at(**sizes) if sizes else graph, level)
            plan = self._compiled[key]
        with self:
            return list(plan.run(tensors))

    def merge_from(self, other, prefix="", conflict="error"):
        """Take over the tensors and graphs of another workspace, which keeps them too; nothing is copied.

        Parameters
        ----------
        other : Workspace
            Where they come from. Its random state stays its own.
        prefix : str, optional, default=""
            What is set before their names here.
        conflict : {"error", "keep", "replace"}, optional, default="error"
            What becomes of a name that stands for something else here: a ValueError that tells all such names, and
            nothing is taken; this workspace's stays; the other's comes.

        """
        if not isinstance(other, Workspace):
            raise TypeError(f"Workspace.merge_from: got {type(other).__name__}, expected a Workspace")
        if conflict not in ("error", "keep", "replace"):
            raise ValueError(f"Workspace.merge_from: got conflict {conflict!r}, expected 'error', 'keep' or 'replace'")
        pairs = ((self._tensors, dict(other._tensors), self.set_tensor, "tensor"),
                 (self._graphs, dict(other._graphs), self.set_graph, "graph"))
        clashes = [f"{kind} {prefix + name!r}" for mine, theirs, _, kind in pairs for name, value in theirs.items()
                   if mine.get(prefix + name, value) is not value]
        if clashes and conflict == "error":
            raise ValueError(f"Workspace.merge_from: got {', '.join(clashes)} on both sides, expected other names, a "
                             "prefix, or conflict='keep' or 'replace'")
        for mine, theirs, put, _ in pairs:
            for name, value in theirs.items():
                if conflict != "keep" or prefix + name not in mine:
                    put(prefix + name, value)

    def __getitem__(self, name):
        return self.get_tensor(name)

    def __setitem__(self, name, tensor):
        self.set_tensor(name, tensor)

    def __delitem__(self, name):
        self.get_tensor(name)
        del self._tensors[name]

    def __contains__(self, name):
        return name in self._tensors

    def __iter__(self):
        return iter(self._tensors)

    def __len__(self):
        return len(self._tensors)

    def __repr__(self):
        graphs = f", {len(self._graphs)} graphs" if self._graphs else ""
        return f"dragon.Workspace({self.name!r}, {len(self)} tensors{graphs})"


def _find(shelf, name, kind, place):
    """Return what stands under a name, or raise a KeyError that tells the names there are."""
    try:
        return shelf[name]
    except KeyError:
        known = f"one of {sorted(shelf)}" if shelf else f"a name that was set, and {place!r} has no {kind}s"
        raise KeyError(f"Workspace: got {kind} {name!r}, expected {known}") from None


def _check_name(name, who):
    if not isinstance(name, str) or not name:
        raise TypeError(f"Workspace.{who}: got {name!r}, expected a name")


def _stack():
    """Return this thread's entered workspaces with their guards."""
    if not hasattr(_local, "stack"):
        _local.stack = [(Workspace("default"), None)]
    return _local.stack


def current_workspace():
    """Return the workspace of the innermost `with` block, or this thread's default one."""
    return _stack()[-1][0]
