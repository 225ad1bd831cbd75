"""Rows of a dialect's table: an operator, and the expression that it stands for.

A line reads `name = expression`; an overload has a row of its own as `name.overload`, the one without a name as
`name.default`. The expression is Python's, of the operator's arguments by the names that its signature has; statements
may stand before it, as in `y = exp(x); y / (1 + y)`. `name : word word` has words in the place of an expression, and
`name <- one = expression; two, three = expression` tells several.
A line that begins with spaces goes on with the one before. `a{1,2}d = f{1,2}(x)` is two rows: braces of one line are
replaced together, by what stands at the same place in each.
"""
import ast
import functools
import re
from typing import Callable, FrozenSet, NamedTuple, Tuple

_LINE = re.compile(r"(?P<names>[\w.{},]+)\s+(?P<relation>=>|~>|<-|<~|=|:)\s+(?P<text>.+)")
_BRACES = re.compile(r"\{([^{}]*)\}")
# Words of Python that operators have for arguments, too.
_RESERVED = {"from": "from_"}


class Row(NamedTuple):
    """One operator, or one of its overloads."""

    name: str
    overload: str  # empty where the row is for all overloads that have none of their own
    relation: str  # "=", "=>", "~>", "<-", "<~" or ":": what that means is the dialect's to say
    text: str
    place: str  # "file:line"


def read_rows(text, file):
    """Return the rows of a table.

    Parameters
    ----------
    text : str
        The lines.
    file : str
        Where they stand, for errors.

    Returns
    -------
    List[Row]
        In the table's order.

    """
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.rstrip() if not line.lstrip().startswith("#") else ""
        if line.startswith(" ") and lines:
            lines[-1][1] += " " + line.strip()
        elif line:
            lines.append([f"{file}:{number}", line])
    return [row for place, line in lines for row in _rows(line, place)]


def _rows(line, place):
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"{place}: got {line!r}, expected 'name = expression'")
    choices = [part.split(",") for part in _BRACES.findall(line)]
    counts = set(map(len, choices)) or {1}
    if len(counts) != 1:
        raise ValueError(f"{place}: got braces with {sorted(counts)} words, expected as many in each")
    for turn in range(counts.pop()):
        name, relation, text = (_chosen(found[part], turn) for part in ("names", "relation", "text"))
        name, _, overload = name.partition(".")
        yield Row(name, overload, relation, text, place)


def _chosen(text, turn):
    return _BRACES.sub(lambda braces: braces[1].split(",")[turn], text)


def nodes_of(row):
    """Yield what an expression, and the statements before it, consist of: faster than `ast.walk`, in no order.

    Parameters
    ----------
    row : Row
        The row.

    Yields
    ------
    ast.AST
        Each node.

    """
    waiting = list(_last_parsed(row))
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            part = getattr(node, name, None)
            if type(part) is list:
                waiting.extend(item for item in part if isinstance(item, ast.AST))
            elif isinstance(part, ast.AST) and name != "ctx":
                waiting.append(part)


def free_names(row):
    """Return the names that an expression reads: arguments, functions and heads of dotted names.

    Parameters
    ----------
    row : Row
        The row.

    Returns
    -------
    Set[str]
        Without those that the expression binds itself.

    """
    nodes = [node for node in nodes_of(row) if isinstance(node, ast.Name)]
    bound = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return {node.id for node in nodes} - bound


def called_names(row):
    """Return the dotted names of the functions that an expression calls.

    Parameters
    ----------
    row : Row
        The row.

    Returns
    -------
    List[str]
        Methods of arguments among them, as "self.view".

    """
    return [ast.unparse(node.func) for tree in _parsed(row) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def renamed_call(row):
    """Return the one call of arguments, each by itself, that an expression is: the same operator by another name.

    Parameters
    ----------
    row : Row
        The row.

    Returns
    -------
    Optional[Tuple[str, Tuple[str, ...], Dict[str, str]]]
        The function's dotted name, the arguments by place and those by name; None where an argument is computed, or a
        number takes its place.

    """
    *before, last = _parsed(row)
    call = last.value
    if before or not isinstance(call, ast.Call) or not all(isinstance(value, ast.Name) for value in (
            *call.args, *(keyword.value for keyword in call.keywords))):
        return None
    named = {keyword.arg: keyword.value.id for keyword in call.keywords}
    return ast.unparse(call.func), tuple(value.id for value in call.args), named


class Assignment(NamedTuple):
    """One `names = expression` of a row."""

    names: Tuple[str, ...]
    read: FrozenSet[str]  # the values among the names that the expression reads
    compute: Callable  # of a mapping, which has the values of names


def compile_assignments(row, resolve, values, infix=None):
    """Return what a row of assignments tells.

    Parameters
    ----------
    row : Row
        The row.
    resolve : Callable[[str], Any]
        Returns what a name stands for that is no value.
    values : Container[str]
        The names that an expression asks its mapping for, when it is computed.
    infix : Callable, optional
        What is called in place of Python's operators.

    Returns
    -------
    List[Assignment]
        In the row's order.

    """
    return [_compile_assignment(node, row, resolve, values, infix) for node in _assignments(row)]


def _compile_assignment(node, row, resolve, values, infix):
    targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
    words = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
    space = {word: resolve(word) for word in words if word not in values}
    space["_infix"] = infix
    tree = ast.Expression(node.value if infix is None else _Infix().visit(node.value))
    code = compile(ast.fix_missing_locations(tree), row.place, "eval")
    return Assignment(tuple(target.id for target in targets), frozenset(words & set(values)),
                      lambda found: eval(code, space, found))


class _Infix(ast.NodeTransformer):
    """Makes calls of what stands between operands, or before one: `x + y` is `_infix("Add", x, y)`."""

    def visit_BinOp(self, node):
        """Make a call of arithmetic."""
        return self._call(node.op, node.left, node.right)

    def visit_UnaryOp(self, node):
        """Make a call of a sign; a number's own sign, and `not`, are Python's."""
        is_plain = isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant)
        return self.generic_visit(node) if is_plain else self._call(node.op, node.operand)

    def visit_Compare(self, node):
        """Make a call of one comparison by size; `is` and `in` are Python's."""
        is_plain = len(node.ops) > 1 or isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        return self.generic_visit(node) if is_plain else self._call(node.ops[0], node.left, node.comparators[0])

    def _call(self, operator, *operands):
        return ast.Call(ast.Name("_infix", ast.Load()), [ast.Constant(type(operator).__name__),
                                                         *map(self.visit, operands)], [])


class _Attributes(ast.NodeTransformer):
    """Makes attributes of an argument of some names, and its method `infix` of what Python's operators call."""

    def __init__(self, owner, names):
        self.owner, self.names = owner, {*names, "_infix"}

    def visit_Name(self, node):
        """Have the argument give what such a name stands for."""
        if node.id not in self.names:
            return node
        return ast.Attribute(ast.Name(self.owner, ast.Load()), node.id.lstrip("_"), ast.Load())


def compile_row(row, arguments, resolve, infix=None, owner=None):
    """Return the function that a row is for a signature.

    Parameters
    ----------
    row : Row
        The row.
    arguments : Sequence[Tuple[str, bool, Any]]
        (name, whether there is a default, default) of each argument. All may be given by place.
    resolve : Callable[[str], Any]
        Returns what a name stands for that is no argument; it is asked once.
    infix : Callable, optional
        What is called in place of Python's operators, with the name of the operator in `ast` and the operands.
    owner : str, optional
        An argument: names for which `resolve` returns None are its attributes, and its `infix` is called in place of
        Python's operators.

    Returns
    -------
    Callable
        A function of the arguments.

    """
    names = [_RESERVED.get(name, name) for name, _, _ in arguments]
    space = {name: resolve(name) for name in free_names(row) - set(names)}
    space["_infix"] = infix
    is_changed = infix is not None or owner is not None
    body = _parsed(row) if is_changed else list(_last_parsed(row))
    if is_changed:
        body = [_Infix().visit(node) for node in body]
    if owner is not None:
        owned = _Attributes(owner, {name for name, found in space.items() if found is None})
        body = [owned.visit(node) for node in body]
    body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    # Those by name may have no default behind those that have one; whoever calls has bound them all.
    first = next((place for place, (_, has_default, _) in enumerate(arguments) if has_default), len(arguments))
    space["_defaults"] = [default for _, _, default in arguments[first:]]
    defaults = [ast.Subscript(ast.Name("_defaults", ast.Load()), ast.Constant(place), ast.Load())
                for place in range(len(arguments) - first)]
    made = ast.parse("def row(): pass")
    made.body[0].args.args, made.body[0].args.defaults = [ast.arg(name) for name in names], defaults
    for node in (made, *(body if is_changed else ())):  # others know where they stand
        ast.fix_missing_locations(node)
    made.body[0].body = body
    exec(compile(made, row.place, "exec"), space)
    function = space["row"]
    function.__name__ = function.__qualname__ = row.name
    return function


def _statements(row):
    try:
        return ast.parse(row.text, row.place, "exec").body
    except SyntaxError as error:
        raise ValueError(f"{row.place}: got {row.text!r}, expected an expression of Python") from error


def _assignments(row):
    """Return the statements of a row, each of which gives names a value."""
    found = _statements(row)
    if not all(isinstance(node, ast.Assign) and len(node.targets) == 1 for node in found):
        raise ValueError(f"{row.place}: got {row.text!r}, expected 'name = value; name = value'")
    return found


@functools.lru_cache(maxsize=2)
def _last_parsed(row):
    """Return the same for whoever changes nothing of it: a row's names are asked for before it is compiled."""
    return tuple(_parsed(row))


def _parsed(row):
    """Return the statements of a row, the last of which is an expression."""
    found = _statements(row)
    if not isinstance(found[-1], ast.Expr) or not all(isinstance(node, ast.Assign) for node in found[:-1]):
        raise ValueError(f"{row.place}: got {row.text!r}, expected 'name = value; ...; expression'")
    return found
