"""Who imports whom in the package, wherever and however it says so.

Imports inside functions count, and so do modules that are named in strings. What counts as an arrow from a module:

* `import a.b` and `from a.b import name`: to `a.b`; to `a.b.name` where that is a module. A package's own file counts
  only where a name is taken from it, not because Python runs it on the way to what is below it.
* `torch.nn.functional` after `from dragon.vm import torch`: to the module that the words lead to.
* a string that is the full name of a module, "dragon.vm.torch.nn"; docstrings aside.
* a table of places, a dict whose keys all are modules as `dragon.vm.guest.lookup` understands them: to each of them. So
  a package's face has arrows to all that it shows, and what lies below may not take a name from that face.

Names that come from a file or a caller are data: who imports by them is listed in `test_circles.py`.
"""
import ast
import functools
import gc
import pathlib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "dragon"
GUESTS = "dragon.vm."
# What stands below the front door and imports nothing of the package.
ENGINE = "dragon._C"


@functools.cache
def parse(path):
    """Return the syntax tree of a file; looking for garbage meanwhile would take longer the more trees there are."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        if was_enabled:
            gc.enable()


@functools.cache
def list_nodes(path):
    """Return the nodes of a file's syntax tree as `ast.walk` does, in half the time: without how names are used."""
    nodes = [parse(path)]
    for node in nodes:
        for field in node._fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                nodes += [item for item in value if isinstance(item, ast.AST)]
            elif field != "ctx" and isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def list_calls(path):
    """Return [(the name of what is called, "a.b" or "" where it has none, the call)] of a file."""
    return [(name_of(node.func), node) for node in list_nodes(path) if isinstance(node, ast.Call)]


def name_of(node):
    """Return the dotted name that an expression is, "a.b"; "" for others."""
    words = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *words]) if isinstance(node, ast.Name) else ""


class Arrow(NamedTuple):
    """One module's need of another."""

    source: str
    target: str
    line: int


def list_modules():
    """Return {dotted name: path} of every module of the package."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def read_graph():
    """Return {module: {module that it needs: Arrow}} of the package."""
    modules = list_modules()
    graph = {}
    for name, path in modules.items():
        arrows = Reader(name, path, modules).read()
        graph[name] = {arrow.target: arrow for arrow in reversed(arrows) if arrow.target != name}
    return graph


class Reader:
    """What one file says of other modules.

    Parameters
    ----------
    name : str
        Its dotted name.
    path : pathlib.Path
        Where it is.
    modules : Container[str]
        The names of all modules.

    """

    def __init__(self, name, path, modules):
        self.name, self.modules = name, modules
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self.nodes = list_nodes(path)
        self.arrows = []
        self.bound = {}  # what a name of this file stands for, where it is a module

    def read(self):
        """Return the arrows, in the order of the lines."""
        documents = {id(node.body[0].value) for node in self.nodes
                     if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
                     and isinstance(node.body[0], ast.Expr)}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self.read_import(node)
            elif isinstance(node, ast.ImportFrom):
                self.read_from(node)
            elif isinstance(node, ast.Dict):
                self.read_table(node)
            elif isinstance(node, ast.Constant) and id(node) not in documents:
                self.read_string(node)
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                self.read_words(node)
        return sorted(self.arrows, key=lambda arrow: arrow.line)

    def add(self, target, node):
        """Note an arrow."""
        self.arrows.append(Arrow(self.name, target, node.lineno))

    def read_import(self, node):
        """`import a.b`."""
        for alias in node.names:
            if alias.name in self.modules:
                self.add(alias.name, node)
                self.bound[alias.asname or PACKAGE] = alias.name if alias.asname else PACKAGE

    def read_from(self, node):
        """`from a.b import c`."""
        base = node.module or ""
        if node.level:
            above = self.package.split(".")[:len(self.package.split(".")) - node.level + 1]
            base = ".".join(above + [base] * bool(base))
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            if whole in self.modules:
                self.add(whole, node)
                self.bound[alias.asname or alias.name] = whole
            elif base in self.modules and whole != ENGINE:
                self.add(base, node)

    def read_words(self, node):
        """`torch.nn.functional`, where `torch` is a module: an arrow to the last of the words that is one."""
        words = []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        whole = first = self.bound.get(node.id) if isinstance(node, ast.Name) else None
        while words and f"{whole}.{words[-1]}" in self.modules:
            whole = f"{whole}.{words.pop()}"
        if whole != first:
            self.add(whole, node)

    def read_string(self, node):
        """`"dragon.vm.torch.nn"`."""
        if isinstance(node.value, str) and "." in node.value and node.value in self.modules:
            self.add(node.value, node)

    def read_table(self, node):
        """`{".serialization": "save load"}`."""
        places = [self.place(key) for key in node.keys]
        if not places or None in places:
            return
        for key, place, value in zip(node.keys, places, node.values):
            words = value.value.split() if isinstance(value, ast.Constant) and isinstance(value.value, str) else [""]
            for word in words:
                below = f"{place}.{word.rpartition('=')[2]}"
                self.add(below if below in self.modules else place, key)

    def place(self, key):
        """Return the module that a key of a table means, or None."""
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        guest = ".".join(self.name.split(".")[:3]) if self.name.startswith(GUESTS) else PACKAGE
        tried = (self.name + key.value if key.value.startswith(".") else key.value, f"{self.name}.{key.value}",
                 f"{guest}.{key.value}")
        return next((name for name in tried if name in self.modules), None)


def find_knots(graph):
    """Return the sets of modules of which each needs, by whatever detour, each other one of its set.

    Tarjan's walk: a module's depth sinks to that of the oldest module on the trail that it leads back to.
    """
    depth, trail, knots = {}, [], []

    def walk(name):
        lowest = depth[name] = len(depth)
        trail.append(name)
        for target in graph[name]:
            if target not in depth:
                lowest = min(lowest, walk(target))
            elif target in trail:
                lowest = min(lowest, depth[target])
        if lowest == depth[name]:
            start = trail.index(name)
            if len(trail) - start > 1:
                knots.append(set(trail[start:]))
            del trail[start:]
        return lowest

    for name in graph:
        if name not in depth:
            walk(name)
    return knots


def find_circle(graph, knot):
    """Return the arrows of a shortest circle in a knot, for a reader to see."""
    best = None
    for start in sorted(knot):
        came = {start: None}
        queue = [start]
        for name in queue:
            for target, arrow in graph[name].items():
                if target == start:
                    circle = [arrow]
                    while came[circle[0].source]:
                        circle.insert(0, came[circle[0].source])
                    best = circle if best is None or len(circle) < len(best) else best
                    queue.clear()
                    break
                if target in knot and target not in came:
                    came[target] = arrow
                    queue.append(target)
    return best
