"""`break`, `continue` and `return` within branches and loops as flags, so that every block is left at its end."""
import ast

LOOPS = (ast.For, ast.While)
RESULT, DONE = "retval_", "do_return"


def _parse(text, at):
    """Return statements with the place of another node."""
    made = ast.parse(text).body
    for node in made:
        for part in ast.walk(node):
            ast.copy_location(part, at)
    return made


def _expression(text, at):
    return _parse(text, at)[0].value


def _blocks(node):
    """Return the lists of statements of a compound statement."""
    found = [getattr(node, name) for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
    found += [handler.body for handler in getattr(node, "handlers", ())]
    return found + [case.body for case in getattr(node, "cases", ())]


def contains(statements, kind, through_loops=False):
    """Return whether statements have a jump of their own: one of a loop or function within them does not count."""
    for node in statements:
        if isinstance(node, kind):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner = [node.orelse] if isinstance(node, LOOPS) and not through_loops else _blocks(node)
        if any(contains(block, kind, through_loops) for block in inner):
            return True
    return False


class Names:
    """Gives names that the function does not use."""

    def __init__(self, taken):
        self._taken = set(taken)

    def new(self, name):
        """Return a name like this one."""
        made, count = name, 0
        while made in self._taken:
            count += 1
            made = f"{name}_{count}"
        self._taken.add(made)
        return made


def _guarded(statements, kind, flag, replace, through_loops=False):
    """Return statements in which jumps are replaced, and what stands behind one waits for its flag.

    Parameters
    ----------
    statements : List[ast.stmt]
        A block.
    kind : type
        The jump.
    flag : str
        The name that says that it has happened.
    replace : Callable
        Returns the statements in place of a jump.
    through_loops : bool, optional, default=False
        Whether jumps within loops are meant as well.

    """
    made = []
    for place, node in enumerate(statements):
        if isinstance(node, kind):
            return made + replace(node)
        if not contains([node], kind, through_loops):
            made.append(node)
            continue
        loop = isinstance(node, LOOPS)
        for name in ("orelse",) if loop and not through_loops else ("body", "orelse", "finalbody"):
            if getattr(node, name, None):
                setattr(node, name, _guarded(getattr(node, name), kind, flag, replace, through_loops))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = _guarded(part.body, kind, flag, replace, through_loops)
        if loop and through_loops:
            _also(node, _expression(f"not {flag}", node))
            if node.orelse:
                node.orelse = [ast.copy_location(ast.If(_expression(f"not {flag}", node), node.orelse, []), node)]
        made.append(node)
        rest = _guarded(statements[place + 1:], kind, flag, replace, through_loops)
        if rest:
            made.append(ast.copy_location(ast.If(_expression(f"not {flag}", rest[0]), rest, []), rest[0]))
        return made
    return made


def _also(loop, condition):
    """Have a loop go on only where a condition holds, too: a `while` asks it first, a `for` has it beside."""
    if isinstance(loop, ast.While):
        loop.test = ast.copy_location(ast.BoolOp(ast.And(), [condition, loop.test]), loop.test)
        return
    before = getattr(loop, "extra_test", None)
    loop.extra_test = condition if before is None else ast.copy_location(
        ast.BoolOp(ast.And(), [condition, before]), condition)


def lower_loops(statements, names):
    """Return statements whose loops have no `break` and `continue`; those of `for` have an `extra_test` instead."""
    made = []
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.append(node)
            continue
        for name in ("body", "orelse", "finalbody"):
            if getattr(node, name, None):
                setattr(node, name, lower_loops(getattr(node, name), names))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = lower_loops(part.body, names)
        made += _lower_loop(node, names) if isinstance(node, LOOPS) else [node]
    return made


def _lower_loop(loop, names):
    before = []
    if contains(loop.body, ast.Break):
        flag, skip = names.new("break_"), names.new("continue_")
        before = _parse(f"{flag} = False", loop)

        def leave(node):
            return [*_parse(f"{flag} = True", node), *_parse(f"{skip} = True", node)]
        stops = contains(loop.body, ast.Continue)
        body = _guarded(loop.body, (ast.Break, ast.Continue) if stops else ast.Break, skip,
                        lambda node: leave(node) if isinstance(node, ast.Break) else _parse(f"{skip} = True", node))
        loop.body = [*_parse(f"{skip} = False", loop), *body]
        _also(loop, _expression(f"not {flag}", loop))
        behind = loop.orelse
        loop.orelse = []
        if behind:
            return [*before, loop, ast.copy_location(ast.If(_expression(f"not {flag}", behind[0]), behind, []),
                                                     behind[0])]
    elif contains(loop.body, ast.Continue):
        skip = names.new("continue_")
        loop.body = [*_parse(f"{skip} = False", loop),
                     *_guarded(loop.body, ast.Continue, skip, lambda node: _parse(f"{skip} = True", node))]
    behind, loop.orelse = loop.orelse, []
    return [*before, loop, *behind]


def _leaves(statements):
    """Return whether a block surely ends in a `return` or `raise`."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    if isinstance(last, ast.With):
        return _leaves(last.body)
    return False


def _move_rests(statements):
    """Have what stands behind a branch that returns be the other branch."""
    for place, node in enumerate(statements):
        if isinstance(node, (ast.Return, ast.Raise)):
            return statements[:place + 1]
        if isinstance(node, ast.If) and contains([node], ast.Return, True):
            rest = statements[place + 1:]
            if _leaves(node.body) and not _leaves(node.orelse):
                node.orelse, rest = [*node.orelse, *rest], []
            elif _leaves(node.orelse) and not _leaves(node.body):
                node.body, rest = [*node.body, *rest], []
            node.body, node.orelse = _move_rests(node.body), _move_rests(node.orelse)
            return [*statements[:place + 1], *_move_rests(rest)]
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                if getattr(node, name, None):
                    setattr(node, name, _move_rests(getattr(node, name)))
    return statements


def _is_plain(statements):
    """Return whether nothing is returned within branches and loops."""
    for node in statements:
        if isinstance(node, (ast.If, *LOOPS, ast.Try)) or type(node).__name__ == "Match":
            if contains([node], ast.Return, True):
                return False
        elif isinstance(node, (ast.With, ast.AsyncWith)) and not _is_plain(node.body):
            return False
    return True


def lower_returns(statements, names, library):
    """Return a function's statements with one `return`, at the end, where one stood in a branch or loop.

    Parameters
    ----------
    statements : List[ast.stmt]
        The function's.
    names : Names
        Which are free.
    library : str
        The name of what has `UndefinedReturnValue` and `returned`.

    """
    if _is_plain(statements):
        return statements
    result, done = names.new(RESULT), names.new(DONE)
    at = statements[0]

    def replace(node):
        value = node.value if node.value is not None else ast.copy_location(ast.Constant(None), node)
        kept = ast.copy_location(ast.Assign([ast.copy_location(ast.Name(result, ast.Store()), node)], value), node)
        return [kept, *_parse(f"{done} = True", node)]  # whose value may raise what an `except` around it catches
    body = _guarded(_move_rests(statements), ast.Return, done, replace, True)
    return [*_parse(f"{done} = False", at), *_parse(f"{result} = {library}.UndefinedReturnValue()", at), *body,
            *_parse(f"return {library}.returned({result}, {done})", body[-1])]
