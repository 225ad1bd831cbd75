"""A program's uses of a guest framework: dotted names and keyword arguments, read from its syntax tree alone."""
import ast
from collections import namedtuple

# What kind "name" (a dotted name of the guest), "call" (of one: it is entered, not only mentioned), "bare call" (of one
# that an import has bound), "method" (of what surely is a tensor) or "attribute" (of what may be one) is; "name
# keyword" and "method keyword" are those of calls.
Use = namedtuple("Use", "kind name keyword line column guarded")
GUARDS = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "NotImplementedError"}


class Reader(ast.NodeVisitor):
    """Collect the uses in one file.

    Parameters
    ----------
    roots : tuple[str]
        The guests' names.
    gives_tensor : Callable[[str], bool]
        Whether a call of a dotted name returns a tensor.

    """

    def __init__(self, roots, gives_tensor):
        self.roots, self.gives_tensor = roots, gives_tensor
        self.uses, self.bound, self.tensors, self.own = [], {}, [set()], set()
        self.guarded = 0

    def add(self, kind, name, node, keyword=None):
        """Note a use."""
        self.uses.append(Use(kind, name, keyword, node.lineno, node.col_offset + 1, bool(self.guarded)))

    # --- names

    def is_guest(self, name):
        """Return whether a dotted name is a guest's, or of what lies within one."""
        return any(f"{name}.".startswith(f"{root}.") for root in self.roots)

    def visit_Import(self, node):
        """Bind what `import a.b as c` binds."""
        for alias in node.names:
            if self.is_guest(alias.name):
                self.add("name", alias.name, node)
                bound = alias.asname or alias.name.split(".")[0]
                self.bound[bound] = alias.name if alias.asname else bound

    def visit_ImportFrom(self, node):
        """Bind what `from a import b` binds."""
        if node.level or not node.module:
            return
        if self.is_guest(node.module):
            self.add("name", node.module, node)
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            if alias.name != "*" and self.is_guest(name):
                self.add("name", name, node)
                self.bound[alias.asname or alias.name] = name

    def dotted(self, node):
        """Return the guest's name that an expression stands for, or None."""
        if isinstance(node, ast.Name):
            return self.bound.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            name = base and f"{base}.{node.attr}"
            # Of a package around a guest, such as `nvidia`, others are somebody else's.
            return name if name and (self.is_guest(name) or any(root.startswith(f"{name}.") for root in self.roots)) \
                else None
        return None

    def visit_Attribute(self, node):
        """Note a dotted name, a method of a tensor, or an attribute of something unknown."""
        name = self.dotted(node)
        if name is not None:
            stored = not isinstance(node.ctx, ast.Load)  # setting what is not there does not fail
            self.guarded += stored
            self.add("name", name, node)
            self.guarded -= stored
            return
        self.add("method" if self.is_tensor(node.value) else "attribute", node.attr, node)
        self.visit(node.value)

    def visit_Call(self, node):
        """Note the keyword arguments of calls whose function is known."""
        name = self.dotted(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in ("hasattr", "getattr") and len(node.args) > 1:
            self.note_question(node)
        if name is not None:
            kind = "name"
        elif isinstance(node.func, ast.Attribute) and self.is_tensor(node.func.value):
            kind, name = "method", node.func.attr
        if name is not None and kind == "name":
            self.note_call(node.func, name)
        for keyword in node.keywords:
            if name is not None and keyword.arg is not None:
                self.add(kind + " keyword", name, keyword.value, keyword.arg)
        self.generic_visit(node)

    def note_call(self, node, name):
        """Note that a name of the guest is entered: called, or used as a decorator."""
        self.add("bare call" if isinstance(node, ast.Name) else "call", name, node)

    def note_question(self, node):
        """Note `getattr(torch, "name")`; with a default, or as `hasattr`, the program can do without."""
        base, attribute = self.dotted(node.args[0]), node.args[1]
        if base and isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
            soft = node.func.id == "hasattr" or len(node.args) > 2
            self.guarded += soft
            self.add("name", f"{base}.{attribute.value}", node)
            self.guarded -= soft

    # --- what is a tensor

    def is_tensor(self, node):
        """Return whether an expression surely gives a tensor."""
        if isinstance(node, ast.Name):
            return any(node.id in names for names in self.tensors[-1:])
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name is not None:
                return self.gives_tensor(name)
            return (isinstance(node.func, ast.Attribute) and node.func.attr not in ("item", "tolist", "numpy", "size")
                    and self.is_tensor(node.func.value) and self.gives_tensor(f"torch.Tensor.{node.func.attr}"))
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        return False

    def visit_Assign(self, node):
        """Bind a name to part of the guest, or remember that it is a tensor."""
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            name = self.dotted(node.value)
            if name is not None:
                self.bound[target.id] = name
            elif self.is_tensor(node.value):
                self.tensors[-1].add(target.id)
            else:
                self.tensors[-1].discard(target.id)
                self.bound.pop(target.id, None)
        elif isinstance(target, ast.Attribute):
            self.own.add(target.attr)

    def visit_Name(self, node):
        """Forget what a name was where something else binds it: a loop, a `with`, several names at once."""
        if not isinstance(node.ctx, ast.Load):
            self.tensors[-1].discard(node.id)
            self.bound.pop(node.id, None)

    def visit_AugAssign(self, node):
        """Read `x += y`, which leaves a tensor one."""
        self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)

    # --- scopes and guards

    def visit_FunctionDef(self, node):
        """Read a function in a scope of its own."""
        self.own.add(node.name)
        self.note_decorators(node)
        self.read_scope(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        """Read a function without a name."""
        self.read_scope(node)

    def read_scope(self, node):
        """Read what has parameters, behind which outer names hide; what is bound within stays within."""
        outer, self.bound = self.bound, dict(self.bound)
        arguments = node.args
        for entry in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg,
                      arguments.kwarg):
            if entry is not None:
                self.bound.pop(entry.arg, None)
        self.tensors.append(set())
        self.generic_visit(node)
        self.tensors.pop()
        self.bound = outer

    def note_decorators(self, node):
        """Note decorators that stand without brackets: they are called all the same."""
        for entry in node.decorator_list:
            name = self.dotted(entry)
            if name is not None:
                self.note_call(entry, name)

    def visit_ClassDef(self, node):
        """Read a class; its attributes are the program's own."""
        self.note_decorators(node)
        self.own.update(entry.target.id for entry in node.body
                        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name))
        self.generic_visit(node)

    def visit_Try(self, node):
        """Read a `try`: what its handlers expect to fail is guarded."""
        caught = {name for handler in node.handlers for name in handled(handler)}
        self.guarded += bool(caught & GUARDS)
        for entry in node.body:
            self.visit(entry)
        self.guarded -= bool(caught & GUARDS)
        for entry in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(entry)

    def visit_If(self, node):
        """Read an `if`: what stands under a question for a name, or for types alone, is guarded."""
        self.visit(node.test)
        soft = asks_for_names(node.test)
        self.guarded += soft
        for entry in node.body:
            self.visit(entry)
        self.guarded -= soft
        for entry in node.orelse:
            self.visit(entry)


def handled(handler):
    """Return the names of the exceptions that a handler takes."""
    if handler.type is None:
        return ["BaseException"]
    entries = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [getattr(entry, "attr", getattr(entry, "id", "")) for entry in entries]


def asks_for_names(test):
    """Return whether a condition asks if a name exists, or holds for type checkers only."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
            return True
        if getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING":
            return True
    return False


def read_uses(tree, roots, gives_tensor):
    """Return (uses, the attributes that the program has itself) of a file's syntax tree."""
    reader = Reader(roots, gives_tensor)
    reader.visit(tree)
    return reader.uses, reader.own
