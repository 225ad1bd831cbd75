"""Python's `if`, `and`, `or` and `not` over values of a pipeline: both branches are defined, each sample takes one."""
import ast
import functools
import inspect
import textwrap
from types import FunctionType

from dragon.core.warnings import is_users
from dragon.vm.dali.core.graph import DataNode, call, constant_node
from dragon.vm.dali.core.refusals import got

HELPERS = "__dragon_dali_conditionals__"


class Undefined:
    """What a variable is that only one branch has set; whatever is asked of it raises.

    Parameters
    ----------
    name : str
        The variable.

    """

    def __init__(self, name):
        object.__setattr__(self, "name", name)

    def __getattr__(self, attribute):
        raise RuntimeError(got("if", f"the variable {object.__getattribute__(self, 'name')!r}, which one branch only "
                               "has set", "one that both have set, or one that was there before"))


def is_node(value):
    """Return whether a condition is a value of the pipeline."""
    return isinstance(value, DataNode)


def grab(names, variables):
    """Return the values of those variables that there are."""
    return {name: variables[name] for name in names if name in variables}


def given(name, variables):
    """Return a variable as it was."""
    return variables.get(name, Undefined(name))


def merge(test, names, yes, no):
    """Return the variables after both branches."""
    return [_join(test, yes.get(name, Undefined(name)), no.get(name, Undefined(name)), name) for name in names]


def _join(test, yes, no, name="a result"):
    if yes is no:
        return yes
    if isinstance(yes, Undefined) or isinstance(no, Undefined):
        return Undefined(name)
    if isinstance(yes, (list, tuple)) and type(yes) is type(no) and len(yes) == len(no):
        return type(yes)(_join(test, *pair, name) for pair in zip(yes, no))
    if isinstance(yes, dict) and isinstance(no, dict) and yes.keys() == no.keys():
        return {key: _join(test, yes[key], no[key], name) for key in yes}
    return call("_conditional.merge", (test, _handle(yes, name), _handle(no, name)), {})


def _handle(value, name):
    try:
        return value if isinstance(value, DataNode) else constant_node(value)
    except (TypeError, ValueError):
        raise TypeError(got("if", f"{type(value).__name__} in {name!r}",
                            "a value of the pipeline, or a number, in both branches")) from None


def both(first, second):
    """Return `first and second`."""
    value = first()
    if not is_node(value):
        return value and second()
    return call("_conditional.merge", (value, _truth(second()), _truth(value)), {})


def either(first, second):
    """Return `first or second`."""
    value = first()
    if not is_node(value):
        return value or second()
    return call("_conditional.merge", (value, _truth(value), _truth(second())), {})


def _truth(value):
    return call("_conditional.truth", (value if is_node(value) else constant_node(bool(value)),), {"negated": False})


def negate(value):
    """Return `not value`."""
    return call("_conditional.truth", (value,), {"negated": True}) if is_node(value) else not value


def choose(test, yes, no):
    """Return `yes if test else no`."""
    return _join(test, yes(), no()) if is_node(test) else yes() if test else no()


def refuse_return():
    """Refuse to leave a function from a branch."""
    raise RuntimeError(got("if", "a return within a branch",
                           "a variable that both branches set, and one return behind"))


def follow(function):
    """Return what is called: a function of the user's has its own branches rewritten."""
    if isinstance(function, FunctionType) and is_users(function.__code__.co_filename):
        return rewrite(function)
    return function


def names_set(statements):
    """Return the variables that statements set."""
    found = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return [name for name in found if not name.startswith("__dragon")]


class Rewriter(ast.NodeTransformer):
    """Write branches so that values of the pipeline may decide."""

    def __init__(self):
        self.count = 0

    def _help(self, name, *arguments):
        return ast.Call(ast.Attribute(ast.Name(HELPERS, ast.Load()), name, ast.Load()), list(arguments), [])

    @staticmethod
    def _later(node):
        return ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)

    def visit_BoolOp(self, node):
        """Write `and` and `or`."""
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return functools.reduce(lambda left, right: self._help(name, self._later(left), self._later(right)),
                                node.values)

    def visit_UnaryOp(self, node):
        """Write `not`."""
        self.generic_visit(node)
        return self._help("negate", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        """Write `a if b else c`."""
        self.generic_visit(node)
        return self._help("choose", node.test, self._later(node.body), self._later(node.orelse))

    def visit_Call(self, node):
        """Have functions of the user's rewritten too."""
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id in ("locals", "super")):
            node.func = self._help("follow", node.func)
        return node

    def visit_If(self, node):
        """Write `if`."""
        names = names_set(node.body + node.orelse)
        leaves = any(isinstance(inner, ast.Return) for part in node.body + node.orelse for inner in ast.walk(part))
        self.generic_visit(node)
        self.count += 1
        test, before, yes = (f"__dragon_{word}_{self.count}" for word in ("test", "before", "yes"))
        row = repr(tuple(names))
        helpers, again = HELPERS, "; ".join(f"{name} = {HELPERS}.given({name!r}, {before})" for name in names)
        lines = [f"{before} = {helpers}.grab({row}, locals())", "pass", f"{yes} = {helpers}.grab({row}, locals())",
                 again or "pass", "pass"]
        if names:
            lines.append(f"[{', '.join(names)}] = {helpers}.merge({test}, {row}, {yes}, "
                         f"{helpers}.grab({row}, locals()))")
        if leaves:
            lines = [f"{helpers}.refuse_return()"]
        decide = ast.parse("\n".join(lines)).body
        if not leaves:
            places = [place for place, one in enumerate(decide) if isinstance(one, ast.Pass)]
            first, last = places[0], places[-1]
            decide = decide[:first] + node.body + decide[first + 1:last] + node.orelse + decide[last + 1:]
        plain = ast.If(ast.Name(test, ast.Load()), node.body, node.orelse)
        whole = ast.If(self._help("is_node", ast.Name(test, ast.Load())), decide, [plain])
        return [ast.Assign([ast.Name(test, ast.Store())], node.test), whole]


@functools.cache
def rewrite(function):
    """Return a function whose branches may be decided by values of the pipeline.

    Parameters
    ----------
    function : Callable
        A function that Python has the source of; others are returned as they are.

    """
    import sys
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return function
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function
    definition.decorator_list, definition.returns = [], None
    definition.args.defaults = [ast.Constant(None) for _ in definition.args.defaults]
    definition.args.kw_defaults = [one and ast.Constant(None) for one in definition.args.kw_defaults]
    rewriter = Rewriter()
    definition.body = [part for statement in definition.body for part in _listed(rewriter.visit(statement))]
    free = function.__code__.co_freevars
    outer = ast.parse(f"def outer({', '.join(free)}):\n    pass").body[0]
    outer.body = [definition, ast.Return(ast.Name(definition.name, ast.Load()))]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    ast.increment_lineno(module, function.__code__.co_firstlineno - 1)
    space = {}
    exec(compile(module, function.__code__.co_filename, "exec"), space)
    made = space["outer"](*[None] * len(free))
    function.__globals__.setdefault(HELPERS, sys.modules[__name__])
    cells = dict(zip(free, function.__closure__ or ()))
    result = FunctionType(made.__code__, function.__globals__, function.__name__, function.__defaults__,
                          tuple(cells[name] for name in made.__code__.co_freevars))
    result.__kwdefaults__ = function.__kwdefaults__
    return result


def _listed(value):
    return value if isinstance(value, list) else [value]
