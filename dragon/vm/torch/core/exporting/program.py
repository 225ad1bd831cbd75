"""An exported program from a module: traced, its sizes understood, its graph described."""
from dragon.vm.torch._dynamo.exc import UserError, UserErrorType
from dragon.vm.torch.core.exporting.dynamic_shapes import asked_axes, symbols_of
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.ranges import Fit, Ranges
from dragon.vm.torch.core.exporting.replay import is_graph, plain_shape
from dragon.vm.torch.core.exporting.symbols import Expression, SymInt, ValueRanges
from dragon.vm.torch.core.exporting.program_trace import ProgramTrace
from dragon.vm.torch.core.exporting.unbacked_symbols import UnbackedSymbols, check_is_open, check_unknowns, traced_with
from dragon.vm.torch.core.exporting.fake_tensor import FakeTensor
from dragon.vm.torch.core.exporting.constraint_violations import ConstraintViolations
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.dims import _DimHint
from dragon.vm.torch.fx.node import Node


class Described:
    """A traced call of which the sizes are known.

    Parameters
    ----------
    traced : Traced
        The call.
    axes : List[Axis]
        Of its inputs, those that vary.
    ranges : Dict[Expression, ValueRanges]
        From where to where.
    guards : List[str]
        What the program decided beside that, for people.

    """

    def __init__(self, traced, axes, ranges, guards):
        self.traced, self.axes, self.ranges, self.guards = traced, axes, ranges, guards


def describe_program(module, args, kwargs, dynamic_shapes, preserved=(), make=ProgramTrace):
    """Return the Described of a module's call.

    Parameters
    ----------
    module : Module
        The module.
    args, kwargs : tuple, dict
        What it is called with.
    dynamic_shapes : Any
        Which sizes may vary.
    preserved : Sequence[str]
        Modules whose calls are kept.
    make : Callable, optional, default=ProgramTrace
        Makes the tracing.

    Returns
    -------
    Described
        The call.

    """
    asked = asked_axes(module, args, kwargs, dynamic_shapes)

    def trace(open_axes, sizes, unknowns=None):
        return traced_with(lambda unknowns: make(module, args, kwargs, open_axes, sizes, preserved, unknowns),
                           unknowns).traced
    return _described(trace, asked)


def open_unknowns(traced, hints, declared):
    """Add the numbers that depend on what lies in tensors to symbols and what is known of them."""
    hints.update({name: traced.unknowns.hint(name) for name in traced.unknowns.names})
    declared.update(traced.unknowns.ranges())


def _described(trace, asked):
    for _ in range(len(asked) + 1):
        axes, hints, declared, dims = symbols_of(asked)
        traced = trace(_by_leaf(axes), {})
        traced.owner = traced.tracer.modules
        open_unknowns(traced, hints, declared)
        ranges = Ranges(traced, axes, hints, declared)
        _check_replay(ranges)
        check_unknowns(ranges)
        closed = _solve(ranges, axes, dims)
        if not closed:
            break
        asked = {place: item for place, item in asked.items() if place not in closed}
    found = ranges.bounds()
    _check_bounds(ranges, axes, dims)
    _fit(traced, ranges, axes)
    _check_again(trace, traced, ranges, axes)
    constraints = {}
    for axis in axes:
        made = axis.expression = axis.expression.replaced(ranges.known)
        (name,) = made.symbols() or [None]
        if name is not None:
            low, high = found[name].lower, found[name].upper
            constraints[str(made)] = made, _moved_range(made, name, low, high)
            constraints.setdefault(name, (Expression.symbol(name), ValueRanges(low, high)))
    for name in traced.unknowns.names:
        if name in ranges.roots:
            constraints[name] = Expression.symbol(name), found[name]
    return Described(traced, axes, dict(constraints.values()), [])


def _moved_range(expression, name, low, high):
    factor, offset = expression.linear()[0][name], expression.linear()[1]
    return ValueRanges(low * factor + offset, high * factor + offset)


def _by_leaf(axes):
    found = {}
    for axis in axes:
        found.setdefault(axis.place[0], []).append(axis.place[1])
    return found


def _check_replay(ranges):
    """Check that the graph gives what the program gave, in shapes and dtypes."""
    values = ranges.values({})
    if isinstance(values, Exception):
        raise ExportError(f"torch.export: the graph of the program's calls cannot be run: {values}") from values
    for node, value in values.items():
        known = node.meta.get("example")
        if isinstance(known, Tensor) and isinstance(value, Tensor) and node.op == "call_function":
            if plain_shape(known) != plain_shape(value) or known.dtype != value.dtype:
                raise ExportError(f"torch.export: {node.target} gives {tuple(value.shape)} {value.dtype}, the "
                                  f"program's call {plain_shape(known)} {known.dtype}; this is a mistake of Dragon's")


def _solve(ranges, axes, dims):
    """Find what sizes follow; return the axes that are fixed, though the user left that open."""
    known, narrow = ranges.solve()
    sources = {name: _source(axes, name) for name in ranges.hints}
    violations, closed = ConstraintViolations(dims, sources), set()
    for name, expression in known:
        value = expression.constant
        if name not in dims:
            check_is_open(name, value)
            continue
        hint = isinstance(dims[name], _DimHint)
        if value is not None:
            if hint and dims[name].kind == "AUTO":
                closed |= {axis.place for axis in axes if name in axis.expression.symbols()}
            else:
                violations.fixed(name, value)
        elif not hint:
            (root,) = expression.symbols()
            if isinstance(dims.get(root), _DimHint):  # the one with a name leads
                continue
            violations.follows(name, expression)
    for name in narrow:  # no other size is allowed, or 0 and 1
        if isinstance(dims.get(name), _DimHint):
            if dims[name].kind == "AUTO":
                closed |= {axis.place for axis in axes if name in axis.expression.symbols()}
            elif ranges.hints[name] < 2:
                raise ValueError("Found the following conflicts between user-specified ranges and inferred ranges from "
                                 f"model tracing:\n- Received user-specified dim hint Dim.{dims[name].kind}(min="
                                 f"{dims[name].min}, max={dims[name].max}), but export 0/1 specialized due to hint of "
                                 f"{ranges.hints[name]} for dimension {sources[name]}.")
    for name, hint in ranges.hints.items():
        if hint < 2 and name not in ranges.known and name in dims:
            if isinstance(dims[name], _DimHint) and dims[name].kind == "AUTO":
                closed |= {axis.place for axis in axes if name in axis.expression.symbols()}
            elif not isinstance(dims[name], _DimHint):
                violations.fixed(name, hint, " Sizes of 0 and 1 are constants; give an example of size 2 or more.")
            else:
                raise ValueError("Found the following conflicts between user-specified ranges and inferred ranges from "
                                 f"model tracing:\n- Received user-specified dim hint Dim.{dims[name].kind}(min="
                                 f"{dims[name].min}, max={dims[name].max}), but export 0/1 specialized due to hint of "
                                 f"{hint} for dimension {sources[name]}.")
    violations.check()
    return closed


def _source(axes, name):
    return next((axis.source for axis in axes if name in axis.expression.symbols()), name)


def _check_bounds(ranges, axes, dims):
    violations = ConstraintViolations(dims, {name: _source(axes, name) for name in ranges.hints})
    for name, found in ranges.found.items():
        if name not in dims or isinstance(dims[name], _DimHint):
            continue
        declared = ranges.declared[name]
        if ranges.step > 1 and not ranges.holds({name: ranges.hints[name] + 1}):
            violations.stepped(name, ranges.step, ranges.hints[name] % ranges.step)
        elif found.lower > max(declared.lower, 2) or found.upper < declared.upper:
            violations.narrower(name, declared, found)
    violations.check()


def _fit(traced, ranges, axes):
    """Give every node an example of its value, with sizes in terms of symbols."""
    points = ranges.points()
    runs = [ranges.values(point) for point in points]
    bindings = [ranges.bindings(point) for point in points]
    fit = Fit(ranges.roots, bindings, len(traced.unknowns.names))

    def size(numbers):
        made = fit.expression(numbers)
        return made.constant if made.constant is not None else SymInt(made, int(numbers[0]))

    def described(values):
        first = values[0]
        if isinstance(first, Tensor):
            shapes = [plain_shape(value) for value in values]
            if any(len(shape) != len(shapes[0]) for shape in shapes):
                raise ExportError("torch.export: the number of axes of a result follows sizes")
            return FakeTensor.like(first, tuple(map(size, zip(*shapes))))
        if isinstance(first, (list, tuple)):
            return type(first)(map(described, zip(*values))) if type(first) in (list, tuple) else tuple(
                map(described, zip(*values)))
        if isinstance(first, int) and not isinstance(first, bool):
            return size(tuple(map(int, values)))
        return first
    for node in dict.fromkeys((*traced.graph.nodes, *runs[0])):
        example = node.meta.pop("example", None)
        if node in runs[0] and not is_graph(runs[0][node]):
            node.meta["val"] = described([run[node] for run in runs])
            if isinstance(example, Tensor) and isinstance(node.meta["val"], FakeTensor):
                node.meta["val"].stands_for = example.requires_grad
    return fit


def _check_again(trace, traced, ranges, axes):
    """Trace at other sizes: the calls must be the same ones, and numbers that differ have their nodes."""
    point = ranges.points()[-1]
    if not point:
        return
    bindings = ranges.bindings(point)
    sizes = {axis.place: axis.expression.value(bindings) for axis in axes}
    unknowns = UnbackedSymbols({name: bindings[name] for name in traced.unknowns.names}, traced.unknowns.claims,
                               traced.unknowns.opaque)
    other = trace(_by_leaf(axes), sizes, unknowns)
    mine = [node for node in traced.graph.nodes if node.op != "output"]
    theirs = [node for node in other.graph.nodes if node.op != "output"]
    same = dict(zip(theirs, mine))
    for one, another in zip(mine, theirs):
        if one.op != another.op or one.target != another.target:
            raise _taken(axes, one, f"it asks for {one.target} here and {another.target} there")
        left, right = (one.args, one.kwargs), (another.args, another.kwargs)
        if not _equal(left, right, same):
            raise _taken(axes, one, f"it is called with {right} there")
    if len(mine) != len(theirs):
        raise _taken(axes, mine[-1], f"it makes {len(mine)} calls here and {len(theirs)} there")


def _equal(one, another, same):
    if isinstance(one, Node):
        return isinstance(another, Node) and same.get(another) is one
    if isinstance(one, dict):
        return isinstance(another, dict) and list(one) == list(another) and all(
            _equal(one[key], another[key], same) for key in one)
    if isinstance(one, (list, tuple)):
        return isinstance(another, (list, tuple)) and len(one) == len(another) and all(
            _equal(left, right, same) for left, right in zip(one, another))
    if isinstance(one, slice):
        return isinstance(another, slice) and _equal((one.start, one.stop, one.step),
                                                     (another.start, another.stop, another.step), same)
    if isinstance(one, float) and one != one:
        return another != another
    return type(one) is type(another) and (one is another or one == another)


def _taken(axes, node, why):
    names = ", ".join(sorted({axis.source for axis in axes}))
    place = node.meta.get("stack_trace", "").strip()
    return UserError(UserErrorType.CONSTRAINT_VIOLATION, f"Constraints violated! The program takes a size ({names}) "
                     f"for a plain number: at another size, {node.name} differs: {why}. {place}")
