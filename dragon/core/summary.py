"""Tables of models and graphs: what their parts give out, how many numbers they hold, and what they cost."""
import math
import shutil

from dragon import _C
from dragon.core.capture.scopes import split_scope
from dragon.core.costs import multiply_adds
from dragon.core.pictures.page import Page, shorten, table
from dragon.core.units import count_bytes
from dragon.core.watching import complete, watch

_NARROWEST = 24  # letters of a name


class Row:
    """A part of a model: a module, or a module's name in a graph.

    Attributes
    ----------
    name : str
        Its dotted path.
    kind : str
        Its class, or its operators.
    depth : int
        How many parts are around it.
    output : str
        What it gives out, as text.
    parameters : int
        Numbers in its parameters and those of its parts, each counted once.
    multiply_adds : int
        Those of all its calls, in it and in its parts.
    bytes : int
        What its own operators made that nobody made before.
    calls : int
        How often it was called.
    is_shared : bool
        Whether all of its parameters belong to a part above as well.

    """

    def __init__(self, name, kind, depth):
        self.name, self.kind, self.depth = name, kind, depth
        self.output, self.parameters, self.multiply_adds, self.bytes = "", 0, 0, 0
        self.calls, self.is_shared = 0, False

    def label(self):
        """Return the name and the kind, indented."""
        last = self.name.rpartition(".")[2]
        times = f" x{self.calls}" if self.calls > 1 else ""
        return "  " * self.depth + (f"{last} ({self.kind})" if last else self.kind) + times

    def cells(self):
        """Return the texts of the columns."""
        count = f"{self.parameters:,}" if self.parameters else "-"
        return (self.label(), self.output or "not called", f"({count})" if self.is_shared else count,
                f"{self.multiply_adds:,}" if self.multiply_adds else "-")


class Summary(Page):
    """The table of a model or graph: `print` shows it, a notebook draws it, the attributes are for programs.

    Attributes
    ----------
    rows : List[Row]
        The parts, in the order of their first calls.
    total_parameters, trainable_parameters : int
        Numbers in the parameters, each counted once.
    total_buffers : int
        Numbers in the buffers: running statistics, say.
    total_multiply_adds : int
        Those of one call: products of matrices, convolutions, recurrent steps.
    parameter_bytes, input_bytes, made_bytes : int
        The memory of parameters and buffers, of the inputs, and of all that is made on the way.

    """

    head = ("Part (type)", "Output", "Parameters", "Multiply-adds")

    def __init__(self, title, rows, totals, depth=None):
        self.rows = rows
        (self.total_parameters, self.trainable_parameters, self.total_buffers, self.total_multiply_adds,
         self.parameter_bytes, self.input_bytes, self.made_bytes) = totals
        self._shown = [row for row in rows if depth is None or row.depth <= depth]
        super().__init__(title, self._draw(title), self._write(title), height=min(120 + 26 * len(self._shown), 700))

    def _totals(self):
        fixed = self.total_parameters - self.trainable_parameters
        yield "parameters", f"{self.total_parameters:,} ({self.trainable_parameters:,} trainable, {fixed:,} not)"
        if self.total_buffers:
            yield "buffers", f"{self.total_buffers:,}"
        yield "multiply-adds", f"{self.total_multiply_adds:,}"
        yield "memory", (f"parameters and buffers {count_bytes(self.parameter_bytes)}, inputs "
                         f"{count_bytes(self.input_bytes)}, made on the way {count_bytes(self.made_bytes)}")

    def _draw(self, title):
        from dragon.core.pictures.page import escape
        below = "".join(f"<p><b>{escape(name)}</b> {escape(text)}</p>" for name, text in self._totals())
        rows = [[cell.replace("  ", "\u2003") for cell in row.cells()] for row in self._shown]
        return f"<h1>{escape(shorten(title))}</h1>{table(self.head, rows, (2, 3))}{below}"

    def _write(self, title):
        """Return the table as text, no wider than the terminal where names can give way."""
        rows = [self.head, *(row.cells() for row in self._shown)]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        columns = shutil.get_terminal_size((120, 24)).columns
        spare = columns - sum(widths) - 6
        for place in (0, 1):
            if spare < 0:
                given = min(-spare, max(widths[place] - _NARROWEST, 0))
                widths[place], spare = widths[place] - given, spare + given
        rule = "-" * (sum(widths) + 6)
        lines = [shorten(title, len(rule)), rule]
        for number, row in enumerate(rows):
            cells = [shorten(cell, width) for cell, width in zip(row, widths)]
            lines.append(f"{cells[0]:{widths[0]}}  {cells[1]:{widths[1]}}  {cells[2]:>{widths[2]}}  "
                         f"{cells[3]:>{widths[3]}}".rstrip())
            if not number:
                lines.append(rule)
        return "\n".join([*lines, rule, *(f"{name}: {text}" for name, text in self._totals())])

    def __repr__(self):
        return self.text


def describe(value):
    """Return what a module gave out as text: float32[2, 3], and so on within tuples and dictionaries."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        dtype = str(getattr(value.dtype, "name", value.dtype)).rpartition(".")[2]
        return f"{dtype}[{', '.join(map(str, tuple(value.shape)))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {describe(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(describe, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return type(value).__name__


def _bytes_of(tensors):
    return sum(math.prod(tuple(tensor.shape)) * tensor.itemsize for tensor in tensors)


def summarize_module(module, call, inputs, depth=None):
    """Return the table of a module of any face.

    Parameters
    ----------
    module : dragon.core.module.Module
        The module.
    call : Callable[[], Any]
        Calls it with the example.
    inputs : Sequence[dragon._C.Tensor]
        The tensors of the example.
    depth : int, optional
        How deep parts are shown; all by default.

    Returns
    -------
    Summary
        The table.

    """
    complete(module, call)
    rows, order, names = {}, [], {}
    for path, part in module.named_modules():
        name = names[path] = _name_of(path, part, names)
        row = rows[id(part)] = Row(name, type(part).__name__, name.count(".") + 1 if name else 0)
        order.append((part, row))
    calls = watch(module, call)
    for part, (count, output) in calls.outputs.items():
        rows[part].calls, rows[part].output = count, describe(output)
    for path, op, shapes, results, made in calls.events:
        cost = multiply_adds(op, shapes, results) or 0
        for part in path:
            rows[part].multiply_adds += cost
        if path:
            rows[path[-1]].bytes += made
    _count_parameters(order)
    parameters, buffers = list(module.parameters()), list(module.buffers())
    ranks = {part: place for place, part in enumerate(calls.outputs)}
    found = [row for row in _sort(order, ranks) if row.calls or row.parameters or row.multiply_adds]
    return Summary(type(module).__name__, found,
                   (_count(parameters), _count(one for one in parameters if one.requires_grad), _count(buffers),
                    rows[id(module)].multiply_adds, _bytes_of(parameters + buffers),
                    _bytes_of(inputs), sum(made for *_, made in calls.events)), depth)


def _name_of(path, part, names):
    """Return what a part is called: Keras's layers have a name, others that of the attribute which holds them."""
    around, _, last = path.rpartition(".")
    own = getattr(part, "name", None)
    last = own.replace(".", "_") if path and isinstance(own, str) and own else last
    around = names.get(around, around)
    return f"{around}.{last}" if around else last


def _count(tensors):
    return sum(math.prod(tuple(tensor.shape)) for tensor in tensors)


def _count_parameters(order):
    """Say how many numbers each part holds, and which hold none of their own."""
    seen = set()
    for part, row in order:
        own = {id(parameter): parameter for parameter in part.parameters()}
        row.parameters = _count(own.values())
        direct = {id(parameter) for parameter in part.parameters(recurse=False)}
        row.is_shared = bool(direct) and direct <= seen
        seen |= direct


def _sort(order, ranks):
    """Return the rows with parts below what they are part of, in the order in which they were called first."""
    below, top = {}, []
    for part, row in order:
        (below.setdefault(row.name.rpartition(".")[0], []) if row.name else top).append((part, row))
    found = []

    def walk(pairs):
        for part, row in sorted(pairs, key=lambda pair: first(pair[0], pair[1].name)):
            found.append(row)
            walk(below.get(row.name, []) if row.name else [])

    def first(part, path):
        inner = [ranks[id(other)] for other, row in order if row.name.startswith(f"{path}.") and id(other) in ranks]
        return min([ranks.get(id(part), len(ranks)), *inner])
    found.append(top[0][1])
    walk(below.get("", []))
    return found


def summarize_graph(graph, depth=None):
    """Return the table of a graph: by the modules that its calls know, or by call where they know none.

    Parameters
    ----------
    graph : dragon._C.Graph
        The graph.
    depth : int, optional
        How deep parts are shown; all by default.

    Returns
    -------
    Summary
        The table. Constants count as parameters, and so do inputs that only one module reads, but for the first.

    """
    values, rows = graph.values, {}
    held = set(graph.constants) | _weights_of(graph)
    counted, total, made = set(), 0, 0
    for number, call in enumerate(graph.calls):
        path = split_scope(call.scope)[0] or f"{number}"
        parts = path.split(".")
        trail = [rows.setdefault(".".join(parts[:end]), Row(".".join(parts[:end]), "", end - 1))
                 for end in range(1, len(parts) + 1)]
        result = next((values[value] for value in call.outputs if value is not None), None)
        shapes = [tuple(values[value].shape) for value in call.inputs if value is not None]
        size = math.prod(result.shape) if result is not None else 0
        cost = multiply_adds(call.op, shapes, size) or 0
        numbers = sum(math.prod(values[value].shape) for value in held.intersection(call.inputs) - counted)
        counted.update(call.inputs)
        total += cost
        made += 0 if _C.schema(call.op)["view"] else size * _item_size(result)
        for row in trail:
            row.multiply_adds += cost
            row.parameters += numbers
            row.output = describe(result) if result is not None else ""
            row.kind = call.op if not row.calls else row.kind if row.kind == call.op else "module"
            row.calls += 1
    for row in rows.values():
        row.calls = 1
    weights = sum(math.prod(values[value].shape) for value in held)
    data = [values[value] for value in graph.inputs if value not in held]
    return Summary(f"graph {graph.name}", list(rows.values()),
                   (weights, weights, 0, total, sum(_size(values[value]) for value in held), sum(map(_size, data)),
                    made),
                   depth)


def _weights_of(graph):
    """Return the inputs, but for the first, that only one module reads; its backward pass may read them as well."""
    readers = {}
    for call in graph.calls:
        module = split_scope(call.scope)[0].removeprefix("backward").removeprefix(".")
        for value in call.inputs if module else ():
            readers.setdefault(value, set()).add(module)
    return {value for value in graph.inputs[1:] if len(readers.get(value, ())) == 1}


def _item_size(value):
    from dragon.core.dtypes import NATIVE
    return NATIVE[str(value.dtype)].itemsize if value is not None else 0


def _size(value):
    return math.prod(value.shape) * _item_size(value)
