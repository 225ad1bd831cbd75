"""Which names code writes, reads and needs later: what the state of a branch or loop is."""
import ast

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def parameters(arguments):
    """Return the names of a function's parameters."""
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return [argument.arg for argument in every if argument is not None]


def composite(node):
    """Return the text of `a.b` or `a["b"]`, however deep, if it begins with a name; else None."""
    if isinstance(node, ast.Attribute):
        inner = node.value.id if isinstance(node.value, ast.Name) else composite(node.value)
        return inner and f"{inner}.{node.attr}"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name)):
        inner = node.value.id if isinstance(node.value, ast.Name) else composite(node.value)
        return inner and f"{inner}[{ast.unparse(node.slice)}]"
    return None


def root(node):
    """Return the name that a composite begins with."""
    while not isinstance(node, ast.Name):
        node = node.value
    return node.id


class _Writes(ast.NodeVisitor):
    """Collects what is written: plain names, and the trees of composite targets by their text."""

    def __init__(self):
        self.names, self.composites, self.outer = {}, {}, set()

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names.setdefault(node.id)

    def _target(self, node):
        text = composite(node) if isinstance(node.ctx, ast.Store) else None
        if text:
            self.composites.setdefault(text, node)
        self.generic_visit(node)

    visit_Attribute = visit_Subscript = _target

    def _definition(self, node):
        self.names.setdefault(node.name)
        for part in (*node.decorator_list, *getattr(node, "bases", ())):
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition

    def visit_Lambda(self, node):
        pass

    def _comprehension(self, node):
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                self.names.setdefault(part.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _import(self, node):
        for alias in node.names:
            self.names.setdefault(alias.asname or alias.name.split(".")[0])

    visit_Import = visit_ImportFrom = _import

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names.setdefault(node.name)
        self.generic_visit(node)

    def _match(self, node):
        if getattr(node, "name", None) or getattr(node, "rest", None):
            self.names.setdefault(getattr(node, "name", None) or node.rest)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _match

    def _declaration(self, node):
        self.outer.update(node.names)

    visit_Global = visit_Nonlocal = _declaration


def writes(*nodes):
    """Return what statements write: a `_Writes` with `names` and `composites`, in the order in which they stand."""
    found = _Writes()
    for node in nodes:
        found.visit(node)
    return found


def reads(*nodes):
    """Return the names that code reads: of functions and comprehensions within it, those that are not their own."""
    return set().union(*map(_reads, nodes))


def _reads(node):
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, (ast.Load, ast.Del)) else set()
    if isinstance(node, FUNCTIONS):
        return _free(node) | reads(*_around(node))
    found = reads(*ast.iter_child_nodes(node))
    if isinstance(node, COMPREHENSIONS):
        bound = set().union(*(writes(part.target).names for part in node.generators))
        return found - bound | _reads(node.generators[0].iter)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    return found


def _around(function):
    """Return what of a function's definition the code around it computes."""
    defaults = [part for part in (*function.args.defaults, *function.args.kw_defaults) if part is not None]
    return [*defaults, *getattr(function, "decorator_list", ())]


def _free(function):
    """Return the names that a function reads or writes and that are not its own."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    written = writes(*body)
    own = set(parameters(function.args)) | (set(written.names) - written.outer)
    return (reads(*body) | written.outer) - own


def captured(*nodes):
    """Return the names that functions, lambdas and classes within code take from it: they may be asked at any time."""
    found = set()
    for node in nodes:
        if isinstance(node, FUNCTIONS):
            found |= _free(node) | captured(*_around(node))
        elif isinstance(node, ast.ClassDef):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        else:
            found |= captured(*ast.iter_child_nodes(node))
    return found


def live_before(statements, after):
    """Return the names whose values are needed before statements, if `after` are needed behind them."""
    live = set(after)
    for node in reversed(statements):
        live = _live(node, live)
    return live


def _live(node, after):
    if isinstance(node, ast.If):
        return reads(node.test) | live_before(node.body, after) | live_before(node.orelse, after)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        behind = live_before(node.orelse, after)
        return reads(node.iter) | live_at_head(node, behind)
    if isinstance(node, ast.While):
        return live_at_head(node, live_before(node.orelse, after))
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inner = live_before(node.body, after) - set(_targets(node))
        return inner | reads(*[item.context_expr for item in node.items])
    if isinstance(node, ast.Try):
        behind = live_before(node.finalbody, after)
        handlers = set().union(*(reads(handler) for handler in node.handlers)) if node.handlers else set()
        # Whatever handlers and the end need, they may need at any moment.
        return live_before([*node.body, *node.orelse], behind | handlers) | handlers | behind
    if isinstance(node, ast.Match):
        return after | reads(node)
    return after - _killed(node) | reads(node)


def live_at_head(loop, behind):
    """Return the names that are needed whenever a loop is about to go round, the iterated object left out."""
    test = reads(loop.test) if isinstance(loop, ast.While) else set()
    extra = getattr(loop, "extra_test", None)
    head = test | behind | (reads(extra) if extra is not None else set())
    inner = live_before(loop.body, head)
    if not isinstance(loop, ast.While):
        inner -= set(writes(loop.target).names)
    return head | inner


def _targets(node):
    return writes(*[item.optional_vars for item in node.items if item.optional_vars is not None]).names


def _killed(node):
    """Return the names that a simple statement surely writes."""
    if isinstance(node, ast.Assign):
        plain = node.targets
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        plain = [node.target]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        return set(writes(node).names)
    else:
        return set()
    return set(writes(*plain).names)
