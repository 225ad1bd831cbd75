"""Random programs that compute with sizes and decide by them, as text: grown at one size, right or wrong at any."""
import random
import warnings

import numpy

from dragon.core.capture.export import capture_graph, result_of
from dragon.core.feeds import read_sizes
from dragon.core.graph import Graph

STEPS = 7
SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17)


class SizeProgram:
    """A function of one or two tensors of random rank.

    Parameters
    ----------
    seed : int
        What it is grown from.
    torch : module
        Where the growing program is tried: only steps that work at the first sizes are kept.

    """

    def __init__(self, seed, torch):
        self.seed, self._random = seed, random.Random(seed)
        self.torch, self.lines = torch, []
        self.ranks = [self._random.randint(1, 3) for _ in range(self._random.randint(1, 2))]
        shapes = self.shapes(0)
        self.values = {f"x{number}": torch.from_numpy(numbers(shape, number)) for number, shape in enumerate(shapes)}
        self.names = list(self.values)
        for _ in range(STEPS):
            self._grow()
        self.text = "\n".join([f"def program({', '.join(name for name in self.names if name[0] == 'x')}):",
                               *(f"    {line}" for line in self.lines), f"    return {', '.join(self.names)},"])

    def shapes(self, call):
        """Return the shapes of the arguments of one call: usual ones first, then any."""
        chance = random.Random(f"{self.seed} {call}")
        pool = SIZES[3:] if call < 4 else SIZES
        return [tuple(chance.choice(pool) for _ in range(rank)) for rank in self.ranks]

    def function(self, torch):
        """Return the program as a function of one framework."""
        space = self._space(torch)
        exec(compile(self.text, f"program {self.text}", "exec"), space)
        return space["program"]

    def _space(self, torch):
        """Return the names that lines use."""
        return {"torch": torch, "F": torch.nn.functional}

    def _grow(self):
        for _ in range(20):  # tries
            line = self._line()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    space = {**self._space(self.torch), **self.values}
                    exec(line, space)
            except Exception:  # whatever the framework says to a step that does not fit
                continue
            name = f"y{len(self.lines)}"
            result = space["y"]
            if result.ndim > 4 or result.numel() > 20000:
                continue
            self.lines.append(line.replace("y =", f"{name} =", 1))
            self.values[name] = result
            self.names.append(name)
            return

    def _size(self, name):
        pick = self._random
        rank = self.values[name].ndim
        size = f"{name}.shape[{pick.randrange(-rank, rank)}]" if rank else "2"
        size = pick.choice((size, size, size, f"{name}.size(0)" if rank else "1", f"{name}.numel()", "x0.shape[0]"))
        constant = pick.randint(1, 6)
        return pick.choice((size, size, f"{size} // 2", f"({size} + 1) // 2", f"{size} - {constant}", f"{size} * 2",
                            f"min({size}, {constant})", f"max({size}, {constant})", f"{size} % {constant}",
                            f"{size} // {constant}", str(constant), f"-{constant}"))

    def _slice(self, name):
        pick = self._random
        return pick.choice((f"{self._size(name)}:", f":{self._size(name)}", f":-{pick.randint(1, 3)}",
                            f"{pick.randint(-4, 4)}:{self._size(name)}", "::2", f"{pick.randint(-3, 3)}", ":",
                            f"{self._size(name)}::{pick.randint(1, 3)}", "None", "..."))

    def _line(self):
        pick, name = self._random, self._random.choice(self.names)
        other, axis, size = pick.choice(self.names), pick.randint(-2, 1), self._size(name)
        part = f"{name}[{', '.join(self._slice(name) for _ in range(pick.randint(1, max(self.values[name].ndim, 1))))}]"
        return "y = " + pick.choice((
            part, part, f"{part} * 2 + 1", f"{name}.reshape({size}, -1)", f"{name}.reshape(-1, {size})",
            f"{name}.flatten()[:{size}]", f"{name}.t().reshape(-1)", f"{name}.transpose({axis}, 0).contiguous()",
            f"{name} + {other}", f"{name} * {other}[:1]", f"torch.cat([{name}, {other}], {axis})",
            f"torch.cat([{part}, {part}])", f"torch.stack([{name}, {name} * 2], {axis})",
            f"{name}.narrow({axis}, 0, {size})", f"{name}.expand({size}, *{name}.shape)", f"F.pad({name}, (0, {size}))",
            f"F.pad({name}, ({pick.randint(-2, 2)}, {pick.randint(-2, 2)}))", f"{name}.sum({axis})",
            f"{name}.mean({axis}, keepdim=True)", f"{name}.softmax({axis})", f"{name}.cumsum({axis})",
            f"{name} * {size}", f"{name} / ({size} + 7.5)", f"{name}.masked_fill({name} > 0, {size})",
            f"{name}.roll({size}, {axis})", f"{name}.flip({axis})",
            f"torch.zeros({size}, {pick.randint(1, 3)}) + {name}.sum()",
            f"torch.arange({size}) * {name}.max()", f"{name}.new_full(({size},), 2.0)", f"{name} @ {other}.t()",
            f"{name}.repeat({pick.randint(1, 3)}, *[1] * {name}.ndim)", f"{name}.tril({size})",
            f"{name}.diagonal({axis})",
            f"{name}.unfold({axis}, {pick.randint(1, 3)}, {pick.randint(1, 2)})", f"{name}.sort({axis}).values",
            f"{name}.chunk({pick.randint(1, 3)})[0]", f"{name}.split({pick.randint(1, 4)})[0]",
            f"({name} * 2 if {size} > {pick.randint(2, 8)} else {name} - 1)",
            f"({name} if {size} == {self._size(other)} else {name}.flatten())",
            f"torch.where({name} > 0, {name}, {size})", f"{name}.unsqueeze({axis})", f"{name}.squeeze({axis})",
            f"{name}.clone().index_fill_({axis}, torch.tensor([0]), {size})", f"{name}.clone().mul_({size})",
            f"{name}.detach().max({axis}).values", f"{name}.view(-1)[-{pick.randint(1, 5)}:]",
            f"torch.ones({size}).cumsum(0) * {name}.sum()", f"F.avg_pool1d({name}, 2)", f"{name}.relu().pow(2)"))


def numbers(shape, seed, draw=0):
    """Return random numbers of a shape, the same each time."""
    return numpy.random.default_rng([seed, draw, *shape]).standard_normal(shape).astype("float32")


def outcome(function, torch, shapes, gradient, draw=0):
    """Return the arrays of a call's results and its gradients, or "an error"."""
    inputs = [torch.from_numpy(numbers(shape, number, draw)) for number, shape in enumerate(shapes)]
    if gradient:
        inputs = [x.requires_grad_() for x in inputs]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(function(*inputs))
            if gradient:
                total = sum(((leaf * leaf).sum() for leaf in found if leaf.requires_grad), torch.zeros(()))
                if total.requires_grad:
                    grads = torch.autograd.grad(total, inputs, allow_unused=True)
                    found += [grad for grad in grads if grad is not None]
            return [leaf.detach().numpy() for leaf in found]  # PyTorch's may have a negative size
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError) as error:
        return f"an error: {error}"


def difference(mine, wanted):
    """Return how two outcomes differ, or None."""
    if isinstance(mine, str) or isinstance(wanted, str):
        return None if isinstance(mine, str) and isinstance(wanted, str) else f"{mine} instead of {wanted}"
    if len(mine) != len(wanted):
        return f"{len(mine)} tensors instead of {len(wanted)}"
    for one, other in zip(mine, wanted):
        if one.shape != other.shape or not numpy.allclose(one, other, 1e-3, 1e-3, equal_nan=True):
            return f"{one.shape}: {one} instead of {other.shape}: {other}"
    return None


def check(program, torch, calls, gradient):
    """Return what differs between eager calls of a program and compiled ones, and the compiled function.

    Parameters
    ----------
    program : SizeProgram
        What is called.
    torch : module
        Dragon's face of PyTorch.
    calls : int
        At how many shapes.
    gradient : bool
        Whether gradients are compared.

    Returns
    -------
    Tuple[Optional[str], Function]
        The first difference, with the shapes.

    """
    plain = program.function(torch)
    compiled = torch.compile(program.function(torch))
    for call in range(calls):
        shapes = program.shapes(call)
        for _ in range(1 + call % 3):  # a plan is made from the second time on
            found = difference(outcome(compiled, torch, shapes, gradient), outcome(plain, torch, shapes, gradient))
            if found:
                return f"at {shapes}: {found}\n{program.text}", compiled
    return None, compiled


def check_kept(program, torch, calls):
    """Return what differs between eager calls of a program and its graph as it is saved.

    Parameters
    ----------
    program : SizeProgram
        What becomes a graph, at the sizes of its first call.
    torch : module
        Dragon's face of PyTorch.
    calls : int
        At how many shapes, each of which the graph may refuse.

    Returns
    -------
    Tuple[Optional[str], dragon.Graph, int]
        The first difference, with the shapes; the graph; and how many shapes it took.

    """
    function, served = program.function(torch), 0
    examples = [torch.from_numpy(numbers(shape, number)) for number, shape in enumerate(program.shapes(0))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = Graph.from_bytes(capture_graph(function, tuple(examples))[0].to_bytes())
    for call in range(calls):
        shapes = program.shapes(call)
        inputs = [torch.from_numpy(numbers(shape, number)) for number, shape in enumerate(shapes)]
        try:
            sizes = read_sizes("kept graph", graph, inputs)
            at = graph.at(**sizes) if graph.symbols else graph
            if [tuple(at.value(number).shape) for number in at.inputs] != shapes:
                continue
        except ValueError:
            continue
        served += 1
        mine = outcome(lambda *inputs: result_of(graph, at.compile().run(inputs)), torch, shapes, False)
        found = difference(mine, outcome(function, torch, shapes, False))
        if found:
            return f"at {shapes}: {found}\n{program.text}\n{graph}", graph, served
    return None, graph, served
