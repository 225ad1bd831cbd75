"""What runs a graph: sources give samples, threads carry each through its operators, batches are put together.

A sample asks its outputs for what they need, so a branch that is not taken costs nothing. Operators of whole batches
cut the graph into stages: below them all samples wait for each other.
"""
from collections import Counter

import numpy as np

from dragon.io import Draws, Team
from dragon.io.failure import Failure
from dragon.vm.dali.core.graph import DataNode
from dragon.vm.dali.core.kinds import to_dali_type
from dragon.vm.dali.core.onepass import Chain
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Context, Laid

# What NumPy and Python raise about numbers and shapes, which says nothing of operators.
PLAIN = (ValueError, TypeError, IndexError, ZeroDivisionError, AttributeError, OverflowError, EOFError)


class Sample:
    """What is known of one sample of a batch: the results of the operators that were asked so far."""

    __slots__ = ("number", "results")

    def __init__(self, number):
        self.number, self.results = number, {}


class Values:
    """The results of one node for one sample.

    Parameters
    ----------
    arrays : Sequence[numpy.ndarray]
        The results.
    layouts : Sequence[str]
        Theirs.
    source : str, optional
        Where it came from.

    """

    __slots__ = ("arrays", "layouts", "source")

    def __init__(self, arrays, layouts, source=""):
        self.arrays, self.layouts, self.source = arrays, layouts, source


class Graph:
    """The nodes that some outputs need.

    Parameters
    ----------
    outputs : Sequence[DataNode]
        What a run gives.
    sinks : Sequence[DataNode], optional
        What runs too, for what it does.
    seed : int
        Where random numbers start from.

    """

    def __init__(self, outputs, sinks=(), seed=0):
        self.outputs, self.sinks, self.seed = list(outputs), list(sinks), seed
        self.nodes = sort([handle.node for handle in (*outputs, *sinks)])
        self.sources = [node for node in self.nodes if node.operator.kind == "source"]
        self.whole = [node for node in self.nodes if node.operator.kind == "batch"]
        # Random numbers go by the node's place in its own graph, so that the same program draws the same ones.
        self.places = {node: place for place, node in enumerate(self.nodes)}
        self.chains = self._find_chains()

    def _find_chains(self):
        """Return {last node: chain} of the calls that are done in one pass."""
        handles = [*self.outputs, *self.sinks, *(handle for node in self.nodes
                                                 for handle in (*node.inputs, *node.varying.values()))]
        users = Counter(handle.node for handle in handles if isinstance(handle, DataNode))
        chains = ((node, Chain.find(node, users)) for node in self.nodes)
        return {node: chain for node, chain in chains if chain is not None}

    def value(self, node, sample):
        """Return what a node gives for a sample."""
        known = sample.results.get(node)
        if known is None:
            known = sample.results[node] = self._compute(node, sample)
        elif isinstance(known, Waiting):
            known = sample.results[node] = known.read(node)
        return known

    def _compute(self, node, sample):
        if node.operator.name == "_conditional.merge":
            return self._merge(node, sample)
        if node in self.chains:
            made = self._run_chain(self.chains[node], sample)
            if made is not None:
                return made
        inputs = [self.value(handle.node, sample) for handle in node.inputs]
        arrays = [value.arrays[handle.index] for value, handle in zip(inputs, node.inputs)]
        layouts = [value.layouts[handle.index] for value, handle in zip(inputs, node.inputs)]
        arguments = self._arguments(node, sample)
        source = inputs[0].source if inputs else ""
        try:
            return run(node.operator, arrays, layouts, arguments, self.draws(node, sample.number), source)
        except Exception as error:
            raise explained(error, node)

    def _arguments(self, node, sample):
        """Return what a call is given by name for a sample."""
        arguments = dict(node.constants)
        for name, handle in node.varying.items():
            arguments[name] = self.value(handle.node, sample).arrays[handle.index]
        return arguments

    def _run_chain(self, chain, sample):
        """Return what a chain of calls gives for a sample; None where each call has to be made by itself."""
        handle = chain.decode.inputs[0]
        data = self.value(handle.node, sample)
        try:
            made = chain.run(data.arrays[handle.index], lambda node: self._arguments(node, sample),
                             lambda node: self.draws(node, sample.number))
        except PLAIN:
            return None
        if made is None:
            return None
        return Values([made], [chain.normalize.constants.get("output_layout", "CHW")], data.source)

    def _merge(self, node, sample):
        predicate, *branches = node.inputs
        chosen = branches[0 if truth(self.value(predicate.node, sample).arrays[predicate.index]) else 1]
        value = self.value(chosen.node, sample)
        return Values([value.arrays[chosen.index]], [value.layouts[chosen.index]], value.source)

    def draws(self, node, number):
        """Return the random numbers of one node for one sample."""
        return Draws(self.seed if node.seed is None else node.seed, self.places[node], number)

    def settle(self, sample, wanted):
        """Have the values of some handles for a sample computed."""
        for handle in wanted:
            self.value(handle.node, sample)

    def gather(self, node, samples, number):
        """Have an operator of whole batches work on all samples."""
        inputs = [[self.value(handle.node, sample) for sample in samples] for handle in node.inputs]
        arrays = [[value.arrays[handle.index] for value in column] for column, handle in zip(inputs, node.inputs)]
        layouts = [column[0].layouts[handle.index] if column else "" for column, handle in zip(inputs, node.inputs)]
        arguments = dict(node.constants)
        for name, handle in node.varying.items():
            arguments[name] = [self.value(handle.node, sample).arrays[handle.index] for sample in samples]
        try:
            context = Context(layouts, self.draws(node, number))
            columns = node.operator.function(*arrays, **arguments, context=context, count=len(samples))
            columns = columns if node.count > 1 or isinstance(columns, tuple) else (columns,)
            for sample, *values in zip(samples, *columns):
                sample.results[node] = as_values(values, layouts)
        except Exception as error:
            raise explained(error, node)


class Waiting:
    """What a source gives for one sample, to be read where the sample is worked on."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function

    def read(self, node):
        """Return the values."""
        try:
            return self.function()
        except Exception as error:
            raise explained(error, node)


def sort(nodes):
    """Return nodes and all that they need, each behind what it needs."""
    order, entered = {}, set()
    trail = [(node, False) for node in reversed(nodes)]
    while trail:
        node, ready = trail.pop()
        if ready:
            order.setdefault(node)
        elif node not in entered:
            entered.add(node)
            trail.append((node, True))
            trail += [(other, False) for other in reversed(node.sources())]
    return list(order)


def run(operator, arrays, layouts, arguments, draws=None, source=""):
    """Return what an operator of samples makes of one sample."""
    if operator.wants_context:
        arguments = {**arguments, "context": Context(layouts, draws, source)}
    try:
        results = operator.function(*arrays, **arguments)
    except PLAIN as error:
        raise told(error, operator, arrays, layouts)
    return as_values(results if isinstance(results, tuple) else (results,), layouts, source)


def told(error, operator, arrays, layouts):
    """Return an error as a letter that names what came, unless it is one, or is a function's of the user's."""
    if ": got" in str(error) or "function" in operator.arguments:
        return error
    came = ", ".join(f"{array.dtype} {array.shape}" + (f" of layout {layout!r}" if layout else "")
                     for array, layout in zip(map(np.asarray, arrays), layouts)) or "no inputs"
    letter = RuntimeError(got(f"fn.{operator.name}", f"inputs {came}", f"such as it can work on ({error})"))
    letter.__cause__ = error
    return letter


def as_values(results, layouts, source=""):
    """Return results as values: one without a layout has that of the first input, if it has as many axes."""
    inherited = layouts[0] if layouts else ""
    arrays, given = [], []
    for result in results:
        laid = isinstance(result, Laid)
        array = np.asarray(result.array if laid else result)
        layout = result.layout if laid else inherited
        arrays.append(array)
        given.append(layout if laid or len(layout or "") == array.ndim else "")
    return Values(arrays, given, source)


def truth(array):
    """Return whether a condition holds."""
    if array.ndim != 0:
        raise RuntimeError(got("if", f"a condition of shape {array.shape}", "a scalar for each sample"))
    return bool(array)


def explained(error, node):
    """Return an error that knows which operator of the user's it came from."""
    if not hasattr(error, "__notes__") and hasattr(error, "add_note"):
        where = f", which was used at {node.place}" if node.place else ""
        error.add_note(f"It came of the operator `nvidia.dali.fn.{node.operator.name}`{where}.")
    return error


class Batch:
    """A batch on its way.

    Parameters
    ----------
    samples : Sequence[Sample]
        Its samples.
    number : int
        Its number.

    """

    def __init__(self, samples, number):
        self.samples, self.number, self.missing = samples, number, 0


class Runner:
    """Carry batches through a graph in threads.

    Parameters
    ----------
    graph : Graph
        What is done.
    threads : int
        How many threads there are.

    """

    def __init__(self, graph, threads):
        self.graph, self.team = graph, Team(threads, lambda index: self._work, "dali")
        self.stages = list(_stages(graph))
        self._turn = 0

    def _work(self, task):
        stage, samples = task
        for sample in samples:
            self.graph.settle(sample, self.stages[stage])

    def begin(self, batch):
        """Have threads work on the first stage of a batch."""
        self._send(batch, 0)

    def _send(self, batch, stage):
        members = len(self.team.workers)
        size = -(-len(batch.samples) // members) or 1
        shares = [batch.samples[start:start + size] for start in range(0, len(batch.samples), size)]
        batch.missing = len(shares)
        for share in shares if self.stages[stage] else ():
            self.team.put(self._turn % members, batch, (stage, share))
            self._turn += 1
        if not self.stages[stage]:
            batch.missing = 0

    def finish(self, batch):
        """Return once a batch has been through all stages."""
        for stage in range(len(self.stages)):
            if stage:
                for node in self.graph.whole[stage - 1:stage]:
                    self.graph.gather(node, batch.samples, batch.number)
                self._send(batch, stage)
            failed = self._await(batch)
            if failed is not None:
                failed.reraise()

    def _await(self, batch):
        """Wait for all answers of a batch; those of later ones are counted on the way."""
        while batch.missing:
            _, other, answer = self.team.get()
            other.missing -= 1
            if isinstance(answer, Failure) and not hasattr(other, "failed"):
                other.failed = answer
        return vars(batch).pop("failed", None)

    def close(self):
        """End the threads."""
        self.team.close()


def _stages(graph):
    """Yield, for each operator of whole batches, what must be there before it, and at last the outputs."""
    for node in graph.whole:
        yield [*node.inputs, *node.varying.values()]
    yield [handle for handle in (*graph.outputs, *graph.sinks) if isinstance(handle, DataNode)]


def same_kind(arrays, name):
    """Raise unless all samples of an output have one type."""
    kinds = {array.dtype for array in arrays}
    if len(kinds) > 1:
        raise RuntimeError(got(name, f"samples of types {sorted(map(str, kinds))}", "one type in a batch"))
    return to_dali_type(kinds.pop()) if kinds else None
