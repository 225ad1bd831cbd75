"""Functions of `torch.nn.functional` as scripts, written from the rows that say what they are in aten operators."""
import ast
import functools
import inspect
import re
from typing import List, Optional, Tuple

from dragon.dialects.aten import table
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.scripting import frontend
from dragon.vm.torch.core.scripting.recipes import helpers
from dragon.vm.torch.core.tensor import Tensor

# Switches that choose among functions with results of their own: a script has a function for each choice.
SWITCHED = {"return_indices": "_with_indices"}
# Of arguments that no operator has: the type of those without a default that tells it.
_TYPES = {"size_average": "Optional[bool]", "reduce": "Optional[bool]", "align_corners": "Optional[bool]",
          "_stacklevel": "int", "weight": "Optional[Tensor]"}
# Types of operators' arguments in the words of scripts.
_SCALARS = {"Tensor": "Tensor", "Scalar": "float", "float": "float", "int": "int", "SymInt": "int", "bool": "bool",
            "str": "str", "ScalarType": "int"}
# Functions of rows that bring an argument to a form that scripts have from its type; and those that scripts have, too.
_FORMS = ("python.listed", "python.pair", "python.fitted", "list", "tuple")
_HELPERS = ("number_of", "usual_axis", "uses_cudnn")


@functools.cache
def script_of(name):
    """Return the function that scripts have for one of `torch.nn.functional`.

    Parameters
    ----------
    name : str
        The function's, with "_with_indices" where it gives indices, too.

    Returns
    -------
    Optional[Callable]
        A function of Python's whose source `frontend.read_function` knows; None without a row that scripts can have.

    """
    switch = next((word for word, end in SWITCHED.items() if name.endswith(end)), None)
    row = table.functional_rows().get(name.removesuffix(SWITCHED[switch]) if switch else name)
    text = None if row is None else _text(row, name, switch)
    if text is None:
        return None
    from dragon.vm.torch.jit import annotations  # which asks for scripts itself
    space = {"Tensor": Tensor, "List": List, "Optional": Optional, "Tuple": Tuple, "torch": api(),
             "__name__": helpers.__name__, **{word: getattr(helpers, word) for word in _HELPERS},
             **{f"BroadcastingList{size}": getattr(annotations, f"BroadcastingList{size}") for size in (1, 2, 3)}}
    exec(compile(text, row.place, "exec"), space)
    frontend.GENERATED[space[name]] = text, {}
    return space[name]


def _text(row, name, switch):
    """Return the source of a script, or None where the row has what no script has."""
    parameters = [item for item in inspect.signature(getattr(api().nn.functional, row.overload)).parameters.values()
                  if item.kind is item.POSITIONAL_OR_KEYWORD]
    nodes = ast.parse(row.text).body
    known = _arguments(nodes)
    heads = [_parameter(item, known.get(item.name)) for item in parameters]
    writer = _Writer({word: ast.Constant(word == switch) for word in SWITCHED})
    body = [writer.visit(node) for node in nodes]
    if None in heads or any(_is_pythons(node) for part in body for node in ast.walk(part)):
        return None
    body[-1] = ast.Return(body[-1].value)
    lines = [ast.unparse(ast.fix_missing_locations(node)) for node in body]
    result = "Tuple[Tensor, Tensor]" if switch else "Tensor"
    return "\n".join([f"def {name}({', '.join(heads)}) -> {result}:", *(f"    {line}" for line in lines), ""])


def _is_pythons(node):
    """Return whether scripts have no such expression, or not the function that it names."""
    return isinstance(node, ast.Starred) or isinstance(node, ast.Name) and node.id == "python"


def _arguments(nodes):
    """Return {name: part} of the arguments of all operators that an expression names."""
    names = [node.id if isinstance(node, ast.Name) else node.attr for tree in nodes for node in ast.walk(tree)
             if isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and ast.unparse(node.value) == "aten"]
    return {part.name: part for name in names for line in table.overloads(name).values() for part in line.arguments}


def _parameter(item, part):
    """Return an argument as a script declares it: by its default, or its operator's argument; None if neither tells."""
    default = "" if item.default is item.empty else f" = {item.default!r}"
    if item.name in _TYPES:
        kind = _TYPES[item.name]
    elif isinstance(item.default, (bool, str)) or part is not None and part.type == "Scalar" and item.default is not (
            item.empty):
        kind = type(item.default).__name__
    elif part is not None and re.match(r"\w+", part.type)[0] in _SCALARS:
        kind = _type(part.type, item.default is None)
    elif item.default is item.empty:
        kind = "Tensor"
    else:
        return None
    return f"{item.name}: {kind}{default}"


def _type(text, may_be_none):
    """Return a type of an operator's argument as scripts write it."""
    kind, many, size = re.fullmatch(r"(\w+)\??(\[(\d*)\])?\??", text).groups()
    word = _SCALARS[kind]
    if many:
        word = f"BroadcastingList{size}[{word}]" if size else f"List[{word}]"
    return f"Optional[{word}]" if text.endswith("?") or may_be_none else word


class _Writer(ast.NodeTransformer):
    """Makes an expression of scripts from one of rows."""

    def __init__(self, known):
        self.known = known

    def visit_IfExp(self, node):
        """Take the branch that a switch chooses."""
        if isinstance(node.test, ast.Name) and node.test.id in self.known:
            return self.visit(node.body if self.known[node.test.id].value else node.orelse)
        return self.generic_visit(node)

    def visit_Call(self, node):
        """Name operators by `torch.ops.aten`, and leave out what only Python needs."""
        word, function = ast.unparse(node.func), node.func
        if isinstance(function, ast.IfExp):  # scripts have no functions as values
            return self.visit(ast.IfExp(function.test, ast.Call(function.body, node.args, node.keywords),
                                        ast.Call(function.orelse, node.args, node.keywords)))
        if word in _FORMS:
            return self.visit(node.args[1] if word == "python.fitted" else node.args[0])
        if word == "bool":  # of an argument that may be None
            argument = self.visit(node.args[0])
            return ast.IfExp(ast.Compare(argument, [ast.Is()], [ast.Constant(None)]), ast.Constant(False), argument)
        if word.endswith(".index"):  # scripts have `index` of lists
            function = ast.Attribute(ast.List(function.value.elts, ast.Load()), "index", ast.Load())
        elif word.removeprefix("python.") in _HELPERS:
            function = ast.Name(word.removeprefix("python."), ast.Load())
        else:
            name = word.removeprefix("aten.").partition(".")[0]
            if table.overloads(name):
                function = ast.parse(f"torch.ops.aten.{name}", mode="eval").body
        arguments = [part for argument in node.args for part in self._spread(argument)]
        keywords = [ast.keyword(item.arg, self.visit(item.value)) for item in node.keywords]
        return ast.Call(function, list(map(self.visit, arguments)), keywords)

    @staticmethod
    def _spread(argument):
        """Return what `*map(form, (a, b))` hands on."""
        if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Call):
            return argument.value.args[1].elts
        return [argument]

    def visit_List(self, node):
        """Say that an empty list is one of sizes."""
        if node.elts:
            return self.generic_visit(node)
        return ast.parse("torch.jit.annotate(List[int], [])", mode="eval").body
