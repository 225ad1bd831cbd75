"""Operators that run at once, on batches that are there: a graph of one call, whose sources are given."""
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dragon.vm.dali.core.execution import Graph, Sample, Values
from dragon.vm.dali.core.graph import DataNode, Node
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Operator

GIVEN = Operator("given", lambda: None, "source", 1)


class Given:
    """A batch that is there.

    Parameters
    ----------
    arrays : Sequence[numpy.ndarray]
        Its samples.
    layout : str, optional, default=""
        A letter for each axis of one.
    sources : Sequence[str], optional
        Where they came from.

    """

    def __init__(self, arrays, layout="", sources=None):
        self.arrays, self.layout, self.sources = arrays, layout, sources or [""] * len(arrays)


class Threads:
    """Threads that share out the samples of a batch; those of a parent process are none of a child's."""

    def __init__(self):
        self.count = None  # how many calls have from now on; as many as there are cores if None
        self._pools, self._owner = {}, None

    def run(self, function, samples):
        """Call a function with each sample; errors are raised as they are."""
        if len(samples) < 2 or self.count == 1:
            for sample in samples:
                function(sample)
            return
        if self._owner != os.getpid():
            self._pools, self._owner = {}, os.getpid()
        if self.count not in self._pools:
            self._pools[self.count] = ThreadPoolExecutor(self.count, "dali at once")
        list(self._pools[self.count].map(function, samples))


THREADS = Threads()


def run_at_once(make, inputs, arguments, size=None, seed=None, who="dali"):
    """Return what a call makes of batches: for each of its results, the samples and their layout.

    Parameters
    ----------
    make : Callable
        Takes handles in the place of batches, and returns handles.
    inputs : Sequence[Union[Given, Any]]
        What it is called with.
    arguments : Dict[str, Union[Given, Any]]
        By name.
    size : int, optional
        How many samples there are, where no batch says so; one by default.
    seed : int, optional
        Where random numbers start from; anywhere by default.
    who : str, optional
        Who speaks.

    Returns
    -------
    List[Tuple[List[numpy.ndarray], str]]
        The results.

    """
    batches = {}

    def handle(value):
        if not isinstance(value, Given):
            return value
        node = Node(GIVEN, (), {})
        batches[node] = value
        return DataNode(node)
    inputs, arguments = [handle(one) for one in inputs], {key: handle(value) for key, value in arguments.items()}
    sizes = {len(given.arrays) for given in batches.values()} or {size or 1}
    if len(sizes) > 1:
        raise ValueError(got(who, f"batches of {sorted(sizes)} samples", "equally many"))
    made = make(*inputs, **arguments)
    handles = made if isinstance(made, list) else [made]
    graph = Graph(handles, seed=int.from_bytes(os.urandom(6), "little") if seed is None else seed)
    samples = [Sample(place) for place in range(sizes.pop())]
    for node, given in batches.items():
        for sample, array, source in zip(samples, given.arrays, given.sources):
            sample.results[node] = Values([array], [given.layout], source)
    for node in graph.whole:
        graph.gather(node, samples, 0)
    THREADS.run(lambda sample: graph.settle(sample, handles), samples)
    results = []
    for one in handles:
        values = [graph.value(one.node, sample) for sample in samples]
        results.append(([np.asarray(value.arrays[one.index]) for value in values],
                        values[0].layouts[one.index] if values else ""))
    return results
