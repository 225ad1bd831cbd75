"""A graph to look around in: folded into modules at first, each of which opens at a click."""
import collections
import os

from dragon.core.capture.scopes import split_scope
from dragon.core.drawing import draw_graph, list_boxes
from dragon.core.pictures.page import Page, embed, escape, shorten

_SHOWN = 60  # boxes at first
_LINES = 200  # of text in a terminal
_HINT = 1200  # letters about a call


class GraphPicture(Page):
    """A graph as a page: pan, zoom, search, fold and unfold.

    Parameters
    ----------
    graph : dragon.Graph
        The graph.

    """

    def __init__(self, graph):
        boxes, edges = list_boxes(graph)
        paths = _find_paths(boxes, edges)
        data = {"boxes": [[kind, [shorten(line, 60) for line in lines], shorten(hint, _HINT), path]
                          for (kind, lines, hint, _), path in zip(boxes, paths)],
                "edges": edges, "open": _choose_open(paths, [kind not in ("input", "output") for kind, *_ in boxes])}
        self._graph = graph
        title = f"Graph {shorten(graph.name)}"
        summary = (f"{len(graph)} calls, {len(graph.inputs)} inputs, {len(graph.constants)} constants, "
                   f"{len(graph.outputs)} outputs")
        body = (f"<h1>{escape(title)}</h1><p>{escape(summary)}</p>"
                '<div class="bar"><button type="button" id="in" aria-label="Zoom in">+</button>'
                '<button type="button" id="out" aria-label="Zoom out">−</button>'
                '<button type="button" id="fit">Fit</button><button type="button" id="unfold">Unfold all</button>'
                '<button type="button" id="fold">Fold all</button>'
                '<input id="search" type="search" placeholder="Search, e.g. conv" aria-label="Search calls">'
                '<span id="found"></span></div>'
                '<div class="stage" id="stage"></div><div class="bar" id="around"></div>'
                '<div class="tell" aria-live="polite">Point at a box to see its call; a click opens a module. '
                "Drag to move, turn the wheel to zoom.</div>"
                f'<script type="application/json" id="data">{embed(data)}</script>')
        super().__init__(title, body, _write_text(graph, summary), ["explorer.js"], None, 640)

    def svg(self):
        """Return the whole graph as an SVG document, nothing folded."""
        return draw_graph(self._graph)


def _write_text(graph, summary):
    lines = str(graph).splitlines()
    more = [f"... and {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    shown = [shorten(line, 300) for line in lines[:_LINES]]
    return "\n".join([f"graph {shorten(graph.name)}: {summary}", *shown, *more])


def _find_paths(boxes, edges):
    """Return the module that each box is in; what only one module reads or makes is in there, too."""
    paths = [split_scope(scope)[0] for _, _, _, scope in boxes]
    readers, makers = {}, {}
    for source, target in edges:
        readers.setdefault(source, []).append(paths[target])
        makers[target] = paths[source]
    first = True
    for place, (kind, lines, _, _) in enumerate(boxes):
        if kind == "input":
            if not first:  # the first one is what the graph is about
                paths[place] = _common(readers.get(place, [""]))
            first = False
        elif kind == "output" and lines[0].startswith("-> "):
            paths[place] = makers.get(place, "")
    return paths


def _common(paths):
    """Return the module that all paths are in."""
    parts = os.path.commonprefix([path.split(".") for path in paths])
    return ".".join(parts)


def _groups(path):
    """Return a module and those around it, the outermost first."""
    parts = path.split(".") if path else []
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _choose_open(paths, are_calls):
    """Return the modules of several calls that are open at first: as deep as the picture stays small."""
    trails = [_groups(path) for path in paths]
    calls = collections.Counter(group for trail, is_call in zip(trails, are_calls) if is_call for group in trail)
    chosen = set()
    for depth in range(max(map(len, trails), default=0)):
        deeper = chosen | {trail[depth] for trail in trails if len(trail) > depth and calls[trail[depth]] > 1}
        visible = {next((group for group in trail if group not in deeper), place) for place, trail in enumerate(trails)}
        if len(visible) > _SHOWN:
            break
        chosen = deeper
    return sorted(chosen)
