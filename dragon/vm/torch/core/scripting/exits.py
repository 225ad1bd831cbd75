"""Functions without `return`, `break` and `continue` in their middle: what follows them moves into branches."""
import ast

from dragon.vm.torch.core.scripting.failures import Place, refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError

RESULT, RETURNED = "$ret", "$returned"
GOES_ON, MAY_LEAVE, LEAVES = range(3)


class Exits:
    """Rewrite the body of one function, so that its result is what the variable `$ret` holds at the end.

    Parameters
    ----------
    source : Source
        What it stands in.

    """

    def __init__(self, source):
        self.source, self.loops, self.read = source, 0, set()

    def rewrite(self, body, last):
        """Return the statements; `last` is where the function ends."""
        ending = ast.copy_location(ast.Return(None), last)
        ending.is_implied = True
        found, _ = self.block([*body, ending], None)
        if RETURNED in self.read:
            found.insert(0, self.set(RETURNED, False, last))
        if RETURNED in self.read or self.loops:
            found.insert(0, self.unset(last))
        return self.clean(found)

    def unset(self, where):
        """Return a step after which the result is not set."""
        node = ast.copy_location(ast.Assign([ast.Name(RESULT, ast.Store())], ast.Constant(...)), where)
        node.is_unset = True
        return ast.fix_missing_locations(node)

    def set(self, name, value, where):
        """Return an assignment."""
        value = value if isinstance(value, ast.AST) else ast.Constant(value)
        node = ast.Assign([ast.Name(name, ast.Store())], value)
        node.is_flag = True
        for part in (node, node.targets[0], value):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, where)
        return node

    def leave(self, statement, loop):
        """Return the assignments that a way out stands for."""
        found = []
        if isinstance(statement, ast.Return):
            value = statement.value or ast.copy_location(ast.Constant(None), statement)
            first = self.set(RESULT, value, statement)
            first.is_return, first.is_implied = True, getattr(statement, "is_implied", False)
            found = [first, self.set(RETURNED, True, statement)]
        elif loop is None:
            word = "break" if isinstance(statement, ast.Break) else "continue"
            refuse(f"Syntax error: {word} outside of a loop", Place(self.source, statement), NotSupportedError)
        if loop is not None:
            found.append(self.set(f"$skip{loop}", True, statement))
            if not isinstance(statement, ast.Continue):
                found.append(self.set(f"$stop{loop}", True, statement))
        return found

    def block(self, statements, loop):
        """Return (statements, whether they leave)."""
        found = []
        for number, statement in enumerate(statements):
            rest = statements[number + 1:]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return found + self.leave(statement, loop), LEAVES
            if isinstance(statement, ast.Assert):
                statement = self.asserted(statement)
            if isinstance(statement, ast.Raise):
                return found + [statement], LEAVES
            if isinstance(statement, ast.If):
                more, status = self.branch(statement, rest, loop)
                return found + more, status
            if isinstance(statement, (ast.While, ast.For)):
                more, returns = self.loop(statement, loop)
                found += more
                if returns:
                    guarded, status = self.guard(rest, loop, statement)
                    return found + guarded, max(status, MAY_LEAVE) if status != LEAVES else LEAVES
                continue
            if isinstance(statement, ast.With):
                body, status = self.block(statement.body, loop)
                made = ast.copy_location(ast.With(statement.items, body), statement)
                found.append(made)
                if status == LEAVES:
                    return found, LEAVES
                if status == MAY_LEAVE:
                    guarded, status = self.guard(rest, loop, statement)
                    return found + guarded, max(status, MAY_LEAVE)
                continue
            found.append(statement)
        return found, GOES_ON

    def asserted(self, statement):
        """Return an assertion as a branch that raises."""
        name = ast.Name("AssertionError", ast.Load())
        error = ast.Call(name, [statement.msg] if statement.msg is not None else [], [])
        made = ast.If(ast.UnaryOp(ast.Not(), statement.test), [ast.Raise(error, None)], [])
        made = ast.fix_missing_locations(ast.copy_location(made, statement))
        made.body[0].is_assertion = True
        return made

    def branch(self, statement, rest, loop):
        """Return what an `if` and all that follows it become."""
        one, other = leaving(statement.body), leaving(statement.orelse)
        first, second, continues = statement.body, statement.orelse, None
        if one == LEAVES and other == GOES_ON:
            continues = 1 if not second else None
            second, rest = second + rest, []  # where the condition's refinements hold
        elif other == LEAVES and one == GOES_ON:
            continues = 0 if not first or isinstance(first[0], ast.Pass) else None
            first, rest = first + rest, []
        body, one = self.block(first, loop)
        orelse, other = self.block(second, loop)
        if rest and one == LEAVES and other == MAY_LEAVE:
            more, after = self.guard(rest, loop, statement)
            orelse, other, rest = orelse + more, max(other, after), []
        elif rest and other == LEAVES and one == MAY_LEAVE:
            more, after = self.guard(rest, loop, statement)
            body, one, rest = body + more, max(one, after), []
        made = ast.copy_location(ast.If(statement.test, body, orelse), statement)
        made.continues = continues
        made.leaves = [number for number, side in enumerate((one, other)) if side == LEAVES]
        status = LEAVES if one == other == LEAVES else GOES_ON if one == other == GOES_ON else MAY_LEAVE
        if status == LEAVES or not rest:
            return [made], status
        if status == GOES_ON:
            more, status = self.block(rest, loop)
            return [made, *more], status
        more, after = self.guard(rest, loop, statement)
        return [made, *more], LEAVES if after == LEAVES else MAY_LEAVE

    def guard(self, rest, loop, where):
        """Return what follows a statement that may have left: it runs if it has not."""
        if not rest:
            return [], GOES_ON
        flag = RETURNED if loop is None else f"$skip{loop}"
        self.read.add(flag)
        body, status = self.block(rest, loop)
        test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
        made = ast.If(test, body, [])
        made.continues = 0
        for part in (made, test, test.operand):
            ast.copy_location(part, where)
        return [made], status

    def loop(self, statement, outer):
        """Return what a loop becomes, and whether a `return` may stand in it."""
        if statement.orelse:
            refuse("else branches of loops aren't supported", Place(self.source, statement.orelse[0]),
                   NotSupportedError)
        self.loops += 1
        number = self.loops
        body, _ = self.block(statement.body, number)
        body = [self.set(f"$skip{number}", False, statement), *body]
        made = (ast.While(statement.test, body, []) if isinstance(statement, ast.While) else
                ast.For(statement.target, statement.iter, body, []))
        ast.copy_location(made, statement)
        inner = [part for kind in statement.body for part in walk_own(kind)]
        returns = any(isinstance(part, ast.Return) for part in inner)
        leaves = returns or any(isinstance(part, ast.Break) for part in walk_own(*statement.body, loops=False))
        found = []
        if leaves:
            made.stop = f"$stop{number}"
            self.read.add(made.stop)
            found.append(self.set(made.stop, False, statement))
        found.append(made)
        if returns:
            self.read.add(RETURNED)
            if outer is not None:
                for flag in (f"$skip{outer}", f"$stop{outer}"):
                    both = ast.BoolOp(ast.Or(), [ast.Name(flag, ast.Load()), ast.Name(RETURNED, ast.Load())])
                    found.append(ast.fix_missing_locations(self.set(flag, both, statement)))
                self.read.add(f"$skip{outer}")
        return found, returns

    def clean(self, statements):
        """Return the statements without flags that nobody reads."""
        found = []
        for statement in statements:
            if getattr(statement, "is_flag", False):
                name = statement.targets[0].id
                if name != RESULT and name not in self.read:
                    continue
            for part in ("body", "orelse"):
                if getattr(statement, part, None) and isinstance(statement, ast.stmt):
                    setattr(statement, part, self.clean(getattr(statement, part)))
            found.append(statement)
        return found


def leaving(statements):
    """Return whether statements leave what they stand in: never, perhaps or always."""
    found = GOES_ON
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return LEAVES
        if isinstance(statement, ast.If):
            both = leaving(statement.body), leaving(statement.orelse)
            if both == (LEAVES, LEAVES):
                return LEAVES
            found = MAY_LEAVE if both != (GOES_ON, GOES_ON) else found
        elif isinstance(statement, ast.With):
            inner = leaving(statement.body)
            if inner == LEAVES:
                return LEAVES
            found = max(found, inner)
        elif isinstance(statement, (ast.For, ast.While)) and any(
                isinstance(part, ast.Return) for part in walk_own(*statement.body)):
            found = MAY_LEAVE
    return found


def walk_own(*statements, loops=True):
    """Yield statements and those within, but not of inner functions, nor, if so told, of inner loops."""
    for statement in statements:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        if not loops and isinstance(statement, (ast.While, ast.For)):
            continue
        for part in ("body", "orelse"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list):
                yield from walk_own(*inner, loops=loops)
