"""The passes as Python sees them: which there are, and running them on a graph by hand."""
from collections import namedtuple

from dragon import _C

Pass = namedtuple("Pass", "name level order doc")
PassReport = namedtuple("PassReport", "name nanoseconds calls_before calls_after")


def passes():
    """Return all passes, in the order in which they run.

    Returns
    -------
    List[Pass]
        Named tuples of `name`, the lowest `level` that runs it, its place in the `order`, and a sentence, `doc`.

    Examples
    --------
    >>> dragon.graph.passes()[0]
    Pass(name='prune', level=1, order=100, doc='Drop calls, constants and results that nobody needs.')

    """
    return [Pass(*entry) for entry in _C.pass_names()]


def optimize(graph, level=3, skip=(), verify=False):
    """Run the passes of a level on a graph, in place.

    Parameters
    ----------
    graph : dragon.Graph
        The graph.
    level : int, optional, default=3
        0 for none of them, to 3 for all.
    skip : Sequence[str], optional, default=()
        The names of passes to leave out.
    verify : bool, optional, default=False
        Check the graph after every pass. The environment variable `DRAGON_VERIFY_PASSES` turns this on everywhere.

    Returns
    -------
    List[PassReport]
        For every run of a pass its `name`, the `nanoseconds` it took, `calls_before` and `calls_after`.

    Examples
    --------
    >>> graph = dragon.Graph()
    >>> x = graph.add_input((2, 3))
    >>> unused, graph.outputs = graph.add_call("exp", [x]), graph.add_call("neg", [x])
    >>> reports = dragon.graph.optimize(graph, level=1)
    >>> len(graph), reports[0].calls_before, reports[0].calls_after
    (1, 2, 1)

    """
    return [PassReport(*entry) for entry in _C.optimize(graph, level, set(skip), verify)]
