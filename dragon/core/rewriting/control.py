"""Functions written anew: branches, loops, calls and logic ask a library what they shall do.

    if x > 0:            def get_state(): return (lib.ldu(lambda: y, 'y'),)
        y = 1            def set_state(values): nonlocal y; (y,) = values
    else:         ->     def if_body(): nonlocal y; y = 1
        y = 2            def else_body(): nonlocal y; y = 2
                         lib.if_stmt(x > 0, if_body, else_body, get_state, set_state, ('y',), 1)

The library decides: Python goes on as it would have, or both ways become parts of a graph.
"""
import ast
import copy

from dragon.core.rewriting import jumps, names
from dragon.core.rewriting.lists import Lists

FEATURES = ("asserts", "equality", "lists")  # what is rewritten only where it is asked for
UNTOUCHED = ("locals", "globals", "vars", "dir", "eval", "exec", "super", "__import__")


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function and those within it.

    Parameters
    ----------
    library : str
        The name by which the code reaches the library.
    features : Container[str], optional, default=()
        Of `FEATURES`.

    """

    def __init__(self, library, features=()):
        self.library, self.features = library, features
        self._maybe = [frozenset()]  # names that may have no value, innermost function last
        self._live, self._free, self._outer, self._always = set(), None, set(), set()
        self._first = None  # the first parameter of the outermost function, for `super()`

    # --- functions

    def function(self, node):
        """Return a definition, rewritten: its body, that is; decorators and defaults are the outer code's."""
        body = node.body if not isinstance(node, ast.Lambda) else [
            ast.copy_location(ast.Return(node.body), node.body)]
        document = [body.pop(0)] if body and _is_text(body[0]) and len(body) > 1 else []
        taken = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} | set(names.parameters(node.args))
        before = self._live, self._free, self._outer, self._always, self._first
        self._first = next(iter(names.parameters(node.args)), None)
        self._free = jumps.Names(taken)
        if "lists" in self.features:
            body = [Lists(self.library).visit(part) for part in body]
        body = jumps.lower_loops(body, self._free)
        body = jumps.lower_returns(body, self._free, self.library)
        written = names.writes(*body)
        self._outer = {name for part in ast.walk(ast.Module(body, [])) for name in getattr(part, "names", ())
                       if isinstance(part, ast.Global)}
        inner = {name for part in ast.walk(ast.Module(body, [])) for name in getattr(part, "names", ())
                 if isinstance(part, ast.Nonlocal)}
        self._always = names.captured(*body) | inner | self._outer
        gone = [name for name in _deleted(body) if name not in self._outer | inner]
        own = [name for name in dict.fromkeys([*_in_control(body), *gone]) if name not in self._outer | inner
               and name not in names.parameters(node.args)]
        maybe = (self._maybe[-1] - set(written.names) - set(names.parameters(node.args))) | {*own, *gone}
        self._maybe.append(frozenset(maybe))
        made = self._block(body, set())
        self._maybe.pop()
        self._live, self._free, self._outer, self._always, self._first = before
        at = body[0]
        undefined = [self._statement(f"{name} = {self.library}.Undefined({name!r})", at) for name in own]
        declared = [part for part in made if isinstance(part, (ast.Global, ast.Nonlocal))]
        rest = [part for part in made if not isinstance(part, (ast.Global, ast.Nonlocal))]
        return [*document, *declared, *undefined, *rest]

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(part) for part in node.decorator_list]
        self._defaults(node.args)
        if not is_generator(node):
            node.body = self.function(node)
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_ClassDef(self, node):
        node.decorator_list = [self.visit(part) for part in node.decorator_list]
        node.bases = [self.visit(part) for part in node.bases]
        return node  # its methods are rewritten when they are called

    def visit_Lambda(self, node):
        self._defaults(node.args)
        self._maybe.append(self._maybe[-1] - set(names.parameters(node.args)))
        node.body = self.visit(node.body)
        self._maybe.pop()
        return node

    def _defaults(self, arguments):
        arguments.defaults = [self.visit(part) for part in arguments.defaults]
        arguments.kw_defaults = [part and self.visit(part) for part in arguments.kw_defaults]

    def _comprehension(self, node):
        bound = set()
        for part in node.generators:
            bound |= set(names.writes(part.target).names)
        self._maybe.append(self._maybe[-1] - bound)
        self.generic_visit(node)
        self._maybe.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # --- statements

    def _block(self, statements, after):
        """Return statements rewritten, of whose names some are needed behind them."""
        made = []
        for node in reversed(statements):
            self._live = set(after)
            before = names.live_before([node], after)
            found = self._statement_of(node, after)
            made[:0] = found if isinstance(found, list) else [found]
            after = before
        return made

    def _statement_of(self, node, after):
        if isinstance(node, ast.If):
            return self._if(node, after)
        if isinstance(node, ast.While):
            return self._while(node, after)
        if isinstance(node, ast.For):
            return self._for(node, after)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                item.context_expr = self.visit(item.context_expr)
                item.optional_vars = item.optional_vars and self.visit(item.optional_vars)
            node.body = self._block(node.body, after)
            return node
        if isinstance(node, ast.Try):
            return self._try(node, after)
        if isinstance(node, ast.Match):
            return self._match(node, after)
        return self.visit(node)

    def _try(self, node, after):
        behind = names.live_before(node.finalbody, after)
        handlers = set().union(*(names.reads(handler) for handler in node.handlers)) | behind
        node.body = self._block(node.body, behind | handlers | names.reads(*node.orelse))
        for handler in node.handlers:
            handler.type = handler.type and self.visit(handler.type)
            handler.body = self._block(handler.body, behind)
        node.orelse = self._block(node.orelse, behind | handlers)
        node.finalbody = self._block(node.finalbody, after)
        return node

    def _match(self, node, after):
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = case.guard and self.visit(case.guard)
            case.body = self._block(case.body, after)
        return node

    def visit_Delete(self, node):
        kept = [part for part in node.targets if not (isinstance(part, ast.Name) and part.id in self._maybe[-1])]
        gone = [self._statement(f"{part.id} = {self.library}.Undefined({part.id!r})", node)
                for part in node.targets if part not in kept]
        if kept:
            node.targets = [self.visit(part) for part in kept]
            gone.insert(0, node)
        return gone

    def visit_Assert(self, node):
        self.generic_visit(node)
        if "asserts" not in self.features:
            return node
        message = node.msg or ast.copy_location(ast.Constant(None), node)
        call = self._call("assert_stmt", [node.test, self._lambda(message)], node)
        return ast.copy_location(ast.Expr(call), node)

    # --- branches and loops

    def _state(self, written, needed_before, needed_after):
        """Return what a branch or loop changes that others see: (name, tree to read, tree to write), and how many
        of them are needed afterwards; those stand first."""
        plain = [name for name in written.names if name in needed_before or name in needed_after
                 or name in self._always]
        mixed = [text for text, tree in written.composites.items()
                 if all(name in needed_before for name in names.reads(tree))]
        only_before = {name for name in plain if name not in needed_after and name not in self._always}
        ordered = sorted([*plain, *mixed], key=lambda name: (name in only_before, name))
        return ordered, len(ordered) - len(only_before)

    def _accessors(self, state, written, at):
        """Return the functions that read and write a state, and their names."""
        get, store = self._free.new("get_state"), self._free.new("set_state")
        parts = []
        for name in state:
            tree = written.composites.get(name)
            read = ast.copy_location(ast.Name(name, ast.Load()), at) if tree is None else _loading(tree)
            parts.append(self._call("ldu", [self._lambda(read), ast.copy_location(ast.Constant(name), at)], at))
        getter = self._define(get, (), [ast.copy_location(ast.Return(self._tuple(parts, at)), at)], at)
        body = []
        if state:
            targets = [ast.copy_location(ast.Name(name, ast.Store()), at) if name not in written.composites
                       else copy.deepcopy(written.composites[name]) for name in state]
            values = ast.copy_location(ast.Name("vars_", ast.Load()), at)
            plain = {name: None for name in state if name not in written.composites}
            body = [*self._declared(plain, at), *[
                ast.copy_location(ast.Assign([target], self._call("entry", [values, ast.copy_location(
                    ast.Constant(place), at)], at)), at) for place, target in enumerate(targets)]]
        setter = self._define(store, ("vars_",), body, at)
        return [getter, setter], get, store

    def _if(self, node, after):
        written = names.writes(*node.body, *node.orelse)
        state, count = self._state(written, names.live_before([node], after), after)
        test = self.visit(node.test)
        # Before the blocks are rewritten: within a `with`, functions will stand then that are names of theirs alone.
        own = [names.writes(*block).names for block in (node.body, node.orelse)]
        bodies = [self._block(block, after) for block in (node.body, node.orelse)]
        accessors, get, store = self._accessors(state, written, node)
        made = [self._free.new(name) for name in ("if_body", "else_body")]
        functions = [self._define(name, (), [*self._declared(written_here, node), *body], node)
                     for name, written_here, body in zip(made, own, bodies)]
        call = self._call("if_stmt", [test, *self._loads((*made, get, store), node), self._constant(state, node),
                                      ast.copy_location(ast.Constant(count), node)], node)
        return [*accessors, *functions, ast.copy_location(ast.Expr(call), node)]

    def _loop(self, node, after, target=None):
        written = names.writes(*([] if target is None else [target]), *node.body)
        head = names.live_at_head(node, after)
        state, _ = self._state(written, head, after)
        options, node.body = self._options(node.body)
        body = self._block(node.body, head)
        accessors, get, store = self._accessors(state, written, node)
        return written, state, options, body, accessors, get, store

    def _while(self, node, after):
        written, state, options, body, accessors, get, store = self._loop(node, after)
        test, turn = self._free.new("loop_test"), self._free.new("loop_body")
        functions = [self._define(test, (), [ast.copy_location(ast.Return(self.visit(node.test)), node.test)], node),
                     self._define(turn, (), [*self._declared(written.names, node), *body], node)]
        call = self._call("while_stmt", [*self._loads((test, turn, get, store), node), self._constant(state, node),
                                         options], node)
        return [*accessors, *functions, ast.copy_location(ast.Expr(call), node)]

    def _for(self, node, after):
        written, state, options, body, accessors, get, store = self._loop(node, after, node.target)
        item, turn = self._free.new("itr"), self._free.new("loop_body")
        first = ast.copy_location(ast.Assign([node.target], ast.copy_location(ast.Name(item, ast.Load()), node)), node)
        functions = [self._define(turn, (item,), [*self._declared(written.names, node), first, *body], node)]
        extra = getattr(node, "extra_test", None)
        asked = ast.copy_location(ast.Constant(None), node) if extra is None else self._lambda(self.visit(extra))
        target = node.target.id if isinstance(node.target, ast.Name) else None
        call = self._call("for_stmt", [self._iterated(node.iter), asked, *self._loads((turn, get, store), node),
                                       self._constant(state, node), options,
                                       ast.copy_location(ast.Constant(target), node)], node)
        return [*accessors, *functions, ast.copy_location(ast.Expr(call), node)]

    def _iterated(self, node):
        """Return what a `for` goes through; a call may answer with less than it would to others."""
        made = self.visit(node)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "converted_call":
            made.func.attr = "converted_iteration"
        return made

    def _options(self, body):
        """Return the options of a loop that its first statement sets, and the other statements."""
        nothing = ast.copy_location(ast.Constant(None), body[0])
        for place, node in enumerate(body):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and (getattr(call.func, "attr", None) or getattr(
                    call.func, "id", None)) == "set_loop_options":
                made = ast.copy_location(ast.Call(self._reach("loop_options", call), call.args, call.keywords), call)
                rest = body[:place] + body[place + 1:]
                return self._lambda(made), rest or [ast.copy_location(ast.Pass(), call)]
        return nothing, body

    # --- expressions

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self._maybe[-1]:
            return self._call("ld", [node], node)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id in self._maybe[-1]:
            # What has no value is told so, before anything is added to it.
            check = ast.copy_location(ast.Expr(self._call("ld", [ast.copy_location(
                ast.Name(node.target.id, ast.Load()), node)], node)), node)
            return [check, node]
        return node

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(inner, ast.Name) and inner.id == self.library:
            self.generic_visit(node)
            return node
        if name == "super" and not node.args and not node.keywords and self._first:
            node.args = [ast.copy_location(ast.Name(part, ast.Load()), node) for part in ("__class__", self._first)]
            return node
        self.generic_visit(node)
        if name in UNTOUCHED:
            return node
        if not node.keywords:
            named = ast.copy_location(ast.Constant(None), node)
        else:
            keys = [None if part.arg is None else ast.copy_location(ast.Constant(part.arg), node)
                    for part in node.keywords]
            named = ast.copy_location(ast.Dict(keys, [part.value for part in node.keywords]), node)
            if None in keys:  # names given twice are refused by Python's own call
                named = ast.copy_location(ast.Call(ast.copy_location(ast.Name("dict", ast.Load()), node), [],
                                                   node.keywords), node)
        return self._call("converted_call", [node.func, self._tuple(node.args, node), named], node)

    def visit_BoolOp(self, node):
        if _binds(node):
            return node
        self.generic_visit(node)
        who = "and_" if isinstance(node.op, ast.And) else "or_"
        made = node.values[-1]
        for value in reversed(node.values[:-1]):
            made = self._call(who, [self._lambda(value), self._lambda(made)], node)
        return made

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self._call("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        if len(node.ops) > 1 and not _binds(node):
            parts = [node.left, *node.comparators]
            pairs = [ast.copy_location(ast.Compare(copy.deepcopy(one), [how], [copy.deepcopy(other)]), node)
                     for one, how, other in zip(parts, node.ops, parts[1:])]
            return self.visit(ast.copy_location(ast.BoolOp(ast.And(), pairs), node))
        self.generic_visit(node)
        if "equality" in self.features and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            who = "eq" if isinstance(node.ops[0], ast.Eq) else "not_eq"
            return self._call(who, [node.left, node.comparators[0]], node)
        return node

    def visit_IfExp(self, node):
        if _binds(node):
            return node
        text = ast.unparse(node)
        self.generic_visit(node)
        return self._call("if_exp", [node.test, self._lambda(node.body), self._lambda(node.orelse),
                                     ast.copy_location(ast.Constant(text), node)], node)

    # --- trees

    def _reach(self, name, at):
        return ast.copy_location(ast.Attribute(ast.copy_location(ast.Name(self.library, ast.Load()), at), name,
                                               ast.Load()), at)

    def _call(self, name, arguments, at):
        return ast.copy_location(ast.Call(self._reach(name, at), arguments, []), at)

    def _lambda(self, body):
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.copy_location(ast.Lambda(nothing, body), body)

    def _tuple(self, items, at):
        return ast.copy_location(ast.Tuple(items, ast.Load()), at)

    def _loads(self, every, at):
        return [ast.copy_location(ast.Name(name, ast.Load()), at) for name in every]

    def _constant(self, state, at):
        return self._tuple([ast.copy_location(ast.Constant(name), at) for name in state], at)

    def _statement(self, text, at):
        return jumps._parse(text, at)[0]

    def _declared(self, written, at):
        """Return the declarations by which a part of a function writes to the function's own names."""
        globals_ = [name for name in written if name in self._outer]
        others = [name for name in written if name not in self._outer]
        made = [ast.copy_location(ast.Global(globals_), at)] if globals_ else []
        return made + ([ast.copy_location(ast.Nonlocal(others), at)] if others else [])

    def _define(self, name, arguments, body, at):
        body = [part for part in body if not isinstance(part, (ast.Global, ast.Nonlocal))
                or part in body[:2]] or [ast.copy_location(ast.Pass(), at)]
        made = ast.FunctionDef(name, ast.arguments(
            posonlyargs=[], args=[ast.copy_location(ast.arg(argument), at) for argument in arguments], kwonlyargs=[],
            kw_defaults=[], defaults=[]), body, [], None)
        if "type_params" in ast.FunctionDef._fields:
            made.type_params = []
        return ast.copy_location(made, at)


def rewritten_body(node, library, features=()):
    """Return a function's statements, rewritten.

    Parameters
    ----------
    node : Union[ast.FunctionDef, ast.Lambda]
        The function's definition, which is changed.
    library : str
        The name by which the code reaches the library.
    features : Container[str], optional, default=()
        Of `FEATURES`.

    Returns
    -------
    List[ast.stmt]
        The statements; those of functions within are rewritten too.

    """
    return _Rewriter(library, features).function(node)


def is_generator(node):
    """Return whether a function yields.

    Parameters
    ----------
    node : ast.FunctionDef
        Its definition.

    Returns
    -------
    bool
        Yields of functions within it do not count.

    """
    return any(isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)) for part in _own_parts(node))


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _own_parts(node):
    """Yield the parts of a function that are not those of functions within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*names.FUNCTIONS, ast.ClassDef)):
            yield from _own_parts(child)


def _binds(node):
    """Return whether an expression has `:=`, which would bind elsewhere within a function, or waits for something."""
    return any(isinstance(part, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(node))


def _loading(tree):
    """Return a target as an expression."""
    made = copy.deepcopy(tree)
    made.ctx = ast.Load()
    return made


def _deleted(statements):
    """Return the names that a function deletes, in order."""
    module = ast.Module(statements, [])
    return [target.id for part in _own_parts(module) if isinstance(part, ast.Delete) for target in part.targets
            if isinstance(target, ast.Name)]


def _in_control(statements):
    """Return the names that are written within branches and loops, in order."""
    found = {}
    for node in statements:
        if isinstance(node, ast.For):
            found.update(names.writes(node.target, *node.body).names)
        elif isinstance(node, (ast.If, ast.While)):
            found.update(names.writes(node).names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        else:
            for block in jumps._blocks(node):
                found.update(dict.fromkeys(_in_control(block)))
    return list(found)
