"""A picture of a graph: calls in layers from top to bottom, drawn as SVG with nothing but text."""
import html

from dragon import _C
from dragon.core.capture.scopes import split_scope

_WIDTH_OF_LETTER, _LINE, _PADDING = 6.7, 15, 8
_GAP_ACROSS, _GAP_DOWN, _MARGIN, _SWEEPS = 18, 34, 16, 6
_FILLS = {"input": "#e3edf7", "output": "#e3edf7", "view": "#f4f4f1", "pointwise": "#e8f3e6", "random": "#fbeede",
          "other": "#efe9f7"}


class _Node:
    """A box of the picture, or a bend of a line that passes a layer (no text)."""

    def __init__(self, kind, lines, hint="", scope=""):
        self.kind, self.lines, self.hint, self.scope = kind, lines, hint, scope
        self.layer, self.x = 0, 0.0
        self.above, self.below = [], []
        self.width = 2 * _PADDING + _WIDTH_OF_LETTER * max(map(len, lines)) if lines else 4
        self.height = 2 * _PADDING + _LINE * len(lines) - 4 if lines else 0


def draw_graph(graph):
    """Draw a graph.

    Parameters
    ----------
    graph : dragon._C.Graph
        The graph.

    Returns
    -------
    str
        An SVG document.

    """
    nodes, edges = _make_nodes(graph)
    layers = _arrange(_assign_layers(nodes, edges), edges)
    _place(layers)
    return _write(graph.name, layers, edges)


def list_boxes(graph):
    """Return what a picture of a graph shows.

    Parameters
    ----------
    graph : dragon._C.Graph
        The graph.

    Returns
    -------
    Tuple[List[Tuple[str, List[str], str, str]], List[Tuple[int, int]]]
        Of each box its kind, lines of text, what hovering tells and the scope of its call; and which box stands above
        which.

    """
    nodes, edges = _make_nodes(graph)
    places = {id(node): place for place, node in enumerate(nodes)}
    return ([(node.kind, node.lines, node.hint, node.scope) for node in nodes],
            [(places[id(source)], places[id(target)]) for source, target in edges])


class Picture:
    """Boxes in layers, and the lines between them, with their places.

    Parameters
    ----------
    name : str
        The title.
    boxes : Sequence[Tuple[str, Sequence[str]]]
        A kind ("input", "other" ...) and the lines of text of each.
    edges : Sequence[Tuple[int, int]]
        Which box stands before which.
    direction : {"TB", "BT", "LR", "RL"}, optional, default="TB"
        From where to where: from top to bottom, from left to right ...

    """

    def __init__(self, name, boxes, edges, direction="TB"):
        nodes = [_Node(kind, list(lines)) for kind, lines in boxes]
        self._direction, self._is_flat = direction, direction in ("LR", "RL")
        if self._is_flat:  # laid out from top to bottom, the picture is turned then
            for node in nodes:
                node.width, node.height = node.height, node.width
        ranks = _sorted_ranks(len(nodes), edges)
        self.name = name
        self.edges = [(nodes[a], nodes[b]) for a, b in sorted(edges, key=lambda edge: ranks[edge[0]])]
        self._layers = _arrange(_assign_layers(nodes, self.edges), self.edges)
        _place(self._layers)
        self.tops, across, along = _measure(self._layers)
        self.width, self.height = (along, across) if self._is_flat else (across, along)

    def boxes(self):
        """Return (left, top, width, height, kind, lines) of each box."""
        made = []
        for node in (node for layer in self._layers for node in layer if node.lines):
            top = self.tops[node.layer]
            corners = [self._turned(node.x + side * node.width / 2, top + down * node.height)
                       for side, down in ((-1, 0), (1, 1))]
            (left, right), (upper, lower) = map(sorted, zip(*corners))
            made.append((left, upper, right - left, lower - upper, node.kind, node.lines))
        return made

    def _turned(self, x, y):
        """Return where a point of a picture from top to bottom is."""
        if self._direction in ("BT", "RL"):
            y = (self.width if self._is_flat else self.height) - y
        return (y, x) if self._is_flat else (x, y)

    def lines(self):
        """Return the lines as four points of a curve each, or two of a straight one."""
        made = []
        for node in (node for layer in self._layers for node in layer):
            top = self.tops[node.layer]
            start = top + node.height
            if not node.lines:
                made.append([(node.x, top), (node.x, start)])
            for below in node.below:
                end = self.tops[below.layer]
                middle = (start + end) / 2
                made.append([(node.x, start), (node.x, middle), (below.x, middle), (below.x, end)])
        return [[self._turned(*point) for point in points] for points in made]

    def svg(self):
        """Return the picture as an SVG document."""
        if self._direction == "TB":
            return _write(self.name, self._layers, self.edges)
        parts = _opening(self.name, self.width, self.height)
        for (x, y), *others in self.lines():
            letter = "C" if len(others) > 1 else "L"
            parts.append(f'<path d="M{x:.1f} {y:.1f}{letter}{" ".join(f"{a:.1f} {b:.1f}" for a, b in others)}"/>')
        parts.append("</g>")
        for left, top, width, height, kind, lines in self.boxes():
            node = _Node(kind, lines)
            node.x, node.width, node.height = left + width / 2, width, height
            parts.append(_write_box(node, top))
        return "\n".join(parts + ["</svg>"])


def _sorted_ranks(count, edges):
    """Return a number for each box that is larger than those of the boxes above it."""
    above, ranks = [[] for _ in range(count)], {}
    for source, target in edges:
        above[target].append(source)
    for start in range(count):
        waiting = [start]
        while waiting:
            box = waiting[-1]
            missing = [source for source in above[box] if source not in ranks]
            if missing:
                waiting += missing
                continue
            ranks.setdefault(box, len(ranks))
            waiting.pop()
    return ranks


def _describe(value):
    """Return a value's type in a few letters: float32[batch, 3]."""
    sizes = [str(value.symbolic.get(axis, size)) for axis, size in enumerate(value.shape)]
    return f"{value.dtype}[{', '.join(sizes)}]"


def _kind_of(call):
    """Return the key of a call's colour."""
    schema = _C.schema(call.op)
    return ("random" if call.is_random else "view" if schema["view"] else
            "pointwise" if schema["pointwise"] else "other")


def _explain(call, values, constants):
    """Return what hovering over a call tells: arguments that are no edges of the picture."""
    told = [f"{name} = {value!r}" for name, value in call.attrs.items()]
    told += [f"{name}: {_describe(values[number])} {values[number].name}".rstrip()
             for name, number in call.tensors.items() if isinstance(number, int) and number in constants]
    module, line = split_scope(call.scope)
    where = [f"in {module}"] if module else []
    where += [f"at {line}"] if line else []
    return "\n".join([f"%{', %'.join(map(str, call.outputs))} = {call.op}"] + told + where)


def _list_bodies(call):
    """Return the operators of the graphs within a call, a few to a line."""
    names = [inner.op for value in call.attrs.values() if isinstance(value, _C.GraphBody)
             for inner in value.graph.calls]
    return [", ".join(names[start:start + 4]) for start in range(0, len(names), 4)]


def _make_nodes(graph):
    """Return the boxes, and the lines as (from, to) pairs of boxes; constants are told in the boxes that read them."""
    values, constants = graph.values, graph.constants
    made, nodes, edges = {}, [], []
    for number in graph.inputs:
        made[number] = _Node("input", [values[number].name or f"%{number}", _describe(values[number])])
        nodes.append(made[number])
    for call in graph.calls:
        first = next((number for number in call.outputs if number is not None), None)
        lines = [call.op] + _list_bodies(call) + ([_describe(values[first])] if first is not None else [])
        node = _Node(_kind_of(call), lines, _explain(call, values, constants), call.scope)
        nodes.append(node)
        sources = dict.fromkeys(made[number] for number in call.inputs if number in made)
        edges += [(source, node) for source in sources]
        made.update((number, node) for number in call.outputs if number is not None)
    updates = [(number, f"-> {values[graph.inputs[position]].name or '%%%d' % graph.inputs[position]}")
               for position, number in graph.updates]
    for number, text in [(number, values[number].name or f"%{number}") for number in graph.outputs] + updates:
        node = _Node("output", [text])
        nodes.append(node)
        if number in made:
            edges.append((made[number], node))
    return nodes, edges


def _assign_layers(nodes, edges):
    """Put each box below all it reads, and inputs right above their first reader; return the boxes by layer."""
    readers = {}
    for source, target in edges:  # sources come before their readers: one walk finds the longest way
        target.layer = max(target.layer, source.layer + 1)
        readers.setdefault(source, []).append(target)
    for node in nodes:
        if node.kind == "input" and node in readers:
            node.layer = min(reader.layer for reader in readers[node]) - 1
    layers = [[] for _ in range(max((node.layer for node in nodes), default=-1) + 1)]
    for node in nodes:
        layers[node.layer].append(node)
    return layers


def _arrange(layers, edges):
    """Bend lines that pass layers, and sort each layer so that few lines cross."""
    for source, target in edges:
        for layer in range(source.layer + 1, target.layer):
            bend = _Node("bend", [])
            bend.layer = layer
            layers[layer].append(bend)
            source.below.append(bend)
            bend.above.append(source)
            source = bend
        source.below.append(target)
        target.above.append(source)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            rank = {id(node): place for place, node in enumerate(layer)}
            layer.sort(key=lambda node: _mean([other.x for other in (node.above if down else node.below)],
                                              rank[id(node)]))
            for place, node in enumerate(layer):
                node.x = float(place)
    return layers


def _mean(numbers, otherwise):
    return sum(numbers) / len(numbers) if numbers else otherwise


def _place(layers):
    """Give boxes their centres: near the middle of what they are joined to, in the order of their layer."""
    for layer in layers:
        edge = 0.0
        for node in layer:
            node.x = edge + node.width / 2
            edge += node.width + _GAP_ACROSS
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else layers[::-1]:
            wanted = [_mean([other.x for other in (node.above if down else node.below)], node.x) for node in layer]
            pairs = list(zip(layer, wanted))
            from_left = _push(pairs, 1)
            from_right = _push([(node, -place) for node, place in reversed(pairs)], -1)[::-1]
            for node, left, right in zip(layer, from_left, from_right):
                node.x = (left + right) / 2
    left = min((node.x - node.width / 2 for layer in layers for node in layer), default=0)
    for layer in layers:
        for node in layer:
            node.x += _MARGIN - left


def _push(pairs, sign):
    """Return places no box of which overlaps the one before, each as near to its wish as that allows."""
    places, edge = [], float("-inf")
    for node, wish in pairs:
        places.append(max(wish, edge + node.width / 2))
        edge = places[-1] + node.width / 2 + _GAP_ACROSS
    return [sign * place for place in places]


def _write(name, layers, edges):
    """Return the document."""
    tops, width, height = _measure(layers)
    parts = _opening(name, width, height)
    parts += [_write_line(node, below, tops) for layer in layers for node in layer for below in node.below]
    parts.append("</g>")
    parts += [_write_box(node, tops[node.layer]) for layer in layers for node in layer if node.lines]
    return "\n".join(parts + ["</svg>"])


def _opening(name, width, height):
    """Return the document's first lines, up to those of the picture."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">',
            f"<title>{html.escape(name)}</title>", '<g fill="none" stroke="#8a8a86" stroke-width="1.2">']


def _measure(layers):
    """Return where each layer begins, and the picture's width and height; bends become as high as their layers."""
    tops, bottom = [], float(_MARGIN)
    for layer in layers:
        tops.append(bottom)
        tallest = max((node.height for node in layer), default=0)
        for node in layer:
            node.height = node.height or tallest  # a bend passes its whole layer
        bottom += tallest + _GAP_DOWN
    right = max((node.x + node.width / 2 for layer in layers for node in layer), default=0)
    return tops, right + _MARGIN, max(bottom - _GAP_DOWN, 0) + _MARGIN


def _write_line(source, target, tops):
    top, end = tops[source.layer], tops[target.layer]
    start = top + source.height
    middle = (start + end) / 2
    through = "" if source.lines else f"{top:.1f}V"
    return (f'<path d="M{source.x:.1f} {through}{start:.1f}C{source.x:.1f} {middle:.1f} {target.x:.1f} {middle:.1f} '
            f'{target.x:.1f} {end:.1f}"/>')


def _write_box(node, top):
    left = node.x - node.width / 2
    corner = node.height / 2 if node.kind in ("input", "output") else 4
    parts = [f'<g><rect x="{left:.1f}" y="{top:.1f}" width="{node.width:.1f}" height="{node.height}" rx="{corner:.0f}" '
             f'fill="{_FILLS.get(node.kind, _FILLS["other"])}" stroke="#55554f"/>']
    if node.hint:
        parts.append(f"<title>{html.escape(node.hint)}</title>")
    for index, line in enumerate(node.lines):
        weight = ' font-weight="bold"' if index == 0 else ' fill="#55554f"'
        baseline = top + _PADDING + _LINE * (index + 1) - 5
        parts.append(f'<text x="{node.x:.1f}" y="{baseline:.1f}" text-anchor="middle"{weight}>'
                     f"{html.escape(line)}</text>")
    return "".join(parts) + "</g>"
