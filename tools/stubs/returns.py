"""What functions written in Python return, read from their sources: tensors where they call operators.

Where a docstring tells the result it holds; most functions of PyTorch's face are a line or two over an operator, whose
schema tells it. A name that is assigned more than once is of every kind that it is given. What is not understood makes
the whole unknown.
"""
import ast
import builtins
import inspect
import sys
from types import FunctionType, ModuleType

from stubs import docs, engine
from stubs.kinds import ANY, BUILTIN, NONE, Kind, read_kind, union
from stubs.sources import functions_of

DEPTH = 8
NUMBERS = {"ndim": int, "itemsize": int, "requires_grad": bool, "is_leaf": bool}
BUILT_IN = {"len": int, "isinstance": bool, "hasattr": bool, "int": int, "float": float, "bool": bool, "str": str,
            "repr": str, "bytes": bytes, "any": bool, "all": bool, "id": int, "callable": bool}
TENSORS = ("self", "input", "tensor")  # what a function of PyTorch's calls its first tensor
known = {}


def infer(value, find, module, depth=0):
    """Return the kind of a function's results, or None where it cannot be told.

    Parameters
    ----------
    value : Callable
        The function.
    find : Callable[[str], Optional[type]]
        From a word of a docstring to a class.
    module : str
        The module in whose face it stands.
    depth : int, optional, default=0
        How many functions have asked for this one.

    Returns
    -------
    Optional[Kind]
        What it returns.

    """
    if type(value).__name__ in ("Op", "Overridable") and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    elif hasattr(value, "__wrapped__"):
        return None  # a decorator may have made something else of it
    if not isinstance(value, FunctionType) or depth > DEPTH or not value.__code__.co_filename.endswith(".py"):
        return None
    if value not in known:
        known[value] = None  # while it is asked for; one that calls itself tells nothing by that
        node = functions_of(value.__code__.co_filename).get(value.__code__.co_firstlineno)
        known[value] = Body(value, node, find, module, depth).result() if node is not None else None
    return known[value]


def kind_of_made(expression, module):
    """Return the kind of what an expression on a module's top level makes, or None."""
    names = vars(sys.modules[module]) if module in sys.modules else {}
    if isinstance(expression, ast.Constant):
        return None if expression.value is None else Kind(type(expression.value))
    if isinstance(expression, ast.Call) and isinstance(expression.func, (ast.Name, ast.Attribute)):
        value = names.get(ast.unparse(expression.func).partition(".")[0])
        for name in ast.unparse(expression.func).split(".")[1:]:
            value = getattr(value, name, None)
        if isinstance(value, type) and value.__module__.startswith("dragon."):
            return Kind(value)
    return None


class Body:
    """The body of a function.

    Parameters
    ----------
    value : FunctionType
        The function.
    node : ast.FunctionDef
        Its source.
    find : Callable[[str], Optional[type]]
        From a word of a docstring to a class.
    module : str
        The module in whose face it stands.
    depth : int
        How many functions have asked for this one.

    """

    def __init__(self, value, node, find, module, depth):
        self.value, self.node, self.find, self.module, self.depth = value, node, find, module, depth
        self.tensor = Kind(engine.face(module)[0]) if engine.face(module) else None
        self.assigned, self.returned, self.yields = {}, [], False
        self.asked = set()
        for statement in node.body:
            self.read(statement)
        names = inspect.getclosurevars(value)
        self.values = {**vars(builtins), **value.__globals__, **names.nonlocals}
        self.arguments = [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        self.told = {name: read_kind(text, find) for name, text in docs.read_arguments(value.__doc__).items()}

    def read(self, node):
        """Collect assignments and results, those of functions inside left out."""
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
            if not isinstance(node, ast.Lambda):
                self.assigned.setdefault(node.name, []).append(None)
            return
        if isinstance(node, ast.Return):
            self.returned.append(node.value)
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            self.yields = True
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self.bind(target, node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            self.bind(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            self.bind(node.target, None)
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, None)
        for child in ast.iter_child_nodes(node):
            self.read(child)

    def bind(self, target, expression):
        """Note what a name is given; None for what is not followed."""
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, []).append(expression)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self.bind(item, None)

    def result(self):
        """Return the kind of the results, or None."""
        if self.yields:
            return Kind("Iterator", (ANY,))
        if self.returned and all(isinstance(item, ast.Name) and item.id == "self" for item in self.returned):
            if self.arguments[:1] == ["self"] and "self" not in self.assigned and "." in self.value.__qualname__:
                return Kind("Self")
        if not self.returned and isinstance(self.node.body[-1], ast.Raise):
            return None
        kinds = [NONE if item is None else self.kind(item) for item in self.returned]
        return None if None in kinds else union(*kinds) if kinds else NONE

    def kind(self, node):
        """Return the kind of an expression, or None."""
        method = getattr(self, "of_" + type(node).__name__, None)
        return method(node) if method else None

    def of_Constant(self, node):
        return NONE if node.value is None else Kind(type(node.value))

    def of_JoinedStr(self, node):
        return BUILTIN["str"]

    def of_Name(self, node):
        if node.id in self.asked:
            return None
        given = self.assigned.get(node.id)
        kinds = []
        if node.id in self.arguments:
            told = self.told.get(node.id)
            if told is None and node.id in TENSORS and node.id == self.arguments[0] and ".core.functions" in \
                    self.value.__module__:
                told = self.tensor
            if told is None and node.id == "self":
                return None
            kinds.append(told)
        elif given is None:
            return self.of_value(self.values.get(node.id))
        self.asked.add(node.id)
        kinds += [expression and self.kind(expression) for expression in given or ()]
        self.asked.discard(node.id)
        return None if None in kinds or ANY in kinds else union(*kinds)

    def of_value(self, value):
        """Return the kind of a plain value, or None."""
        return Kind(type(value)) if type(value) in (bool, int, float, str) else None

    def of_IfExp(self, node):
        return self.join(node.body, node.orelse)

    def of_BoolOp(self, node):
        return self.join(*node.values)

    def join(self, *nodes):
        """Return the kind of one of several expressions."""
        kinds = [self.kind(node) for node in nodes]
        return None if None in kinds else union(*kinds)

    def of_BinOp(self, node):
        kinds = {self.kind(node.left), self.kind(node.right)}
        return self.tensor if self.tensor in kinds else None

    def of_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return BUILTIN["bool"]
        return self.tensor if self.kind(node.operand) == self.tensor else None

    def of_Compare(self, node):
        plain = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
        if all(isinstance(item, plain) for item in node.ops):
            return BUILTIN["bool"]
        return self.tensor if self.tensor == self.kind(node.left) else None

    def of_Subscript(self, node):
        inner = self.kind(node.value)
        return self.tensor if inner is not None and inner == self.tensor else None

    def of_Tuple(self, node):
        kinds = [self.kind(item) for item in node.elts]
        return None if any(isinstance(item, ast.Starred) for item in node.elts) else \
            Kind("Tuple", tuple(kind or ANY for kind in kinds))

    def of_List(self, node):
        return Kind("List", (ANY,))

    of_ListComp = of_List

    def of_Dict(self, node):
        return Kind("Dict", (ANY, ANY))

    of_DictComp = of_Dict

    def of_Attribute(self, node):
        inner = self.kind(node.value)
        if inner is not None and inner == self.tensor:
            if node.attr in NUMBERS:
                return Kind(NUMBERS[node.attr])
            if node.attr == "data":
                return self.tensor
        return None

    def of_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in BUILT_IN and node.func.id not in self.assigned:
            if self.values.get(node.func.id) is vars(builtins)[node.func.id]:
                return Kind(BUILT_IN[node.func.id])
        value = self.follow(node.func)
        if value is not None:
            return self.kind_of_call(value)
        if isinstance(node.func, ast.Attribute):
            inner = self.kind(node.func.value)
            if inner is not None and isinstance(inner.head, type):
                return self.kind_of_call(getattr(inner.head, node.func.attr, None))
        return None

    def follow(self, node):
        """Return the value that a name, or a chain of them, stands for before the function runs; None if unknown."""
        if isinstance(node, ast.Name):
            if node.id in self.arguments or node.id in self.assigned:
                return None
            return self.values.get(node.id)
        if isinstance(node, ast.Attribute):
            inner = self.follow(node.value)
            if isinstance(inner, (ModuleType, type)) or type(inner).__name__ == "Ops":
                return getattr(inner, node.attr, None)
        return None

    def kind_of_call(self, value):
        """Return the kind of what calling a value gives, or None."""
        if isinstance(value, type):
            return Kind(value) if value.__module__.startswith("dragon.") else None
        if engine.is_operator(value) and engine.face(self.module) and not hasattr(value, "__wrapped__"):
            line = (value.__doc__ or "").partition("\n")[0]
            named = engine.named_results(self.module).get(value.__name__.rstrip("_"))
            return engine.read_line(line, self.module, named)[1]
        if value is None:
            return None
        said = docs.read_result(getattr(value, "__doc__", None)) if isinstance(value, FunctionType) else None
        if said is not None:
            kind = read_kind(said, self.find)
            return None if kind == ANY else kind
        return infer(value, self.find, self.module, self.depth + 1)
