"""From the syntax tree of one function to its graph."""
import ast
import re

from dragon.vm.torch.core.scripting.calls import Calls
from dragon.vm.torch.core.scripting.exits import Exits
from dragon.vm.torch.core.scripting.expressions import Expressions
from dragon.vm.torch.core.scripting.failures import Place, ScriptFailure, refuse
from dragon.vm.torch.core.scripting.frontend import NotSupportedError, check_syntax
from dragon.vm.torch.core.scripting.graph import Argument, Graph, Node, Schema
from dragon.vm.torch.core.scripting.scopes import Frame
from dragon.vm.torch.core.scripting.statements import Statements
from dragon.vm.torch.core.scripting.types import NONE, NOTHING, TENSOR, fits, join


class Compiler(Statements, Expressions, Calls):
    """Compile one function.

    Parameters
    ----------
    scripts : Scripts
        The functions and classes known so far.
    source : Source
        The text.
    tree : ast.FunctionDef
        Its syntax.
    names : Callable[[str], Any]
        What names outside stand for; they raise LookupError.
    owner : Type, optional
        Of `self`.

    """

    def __init__(self, scripts, source, tree, names, owner=None):
        self.scripts, self.source, self.tree, self.names, self.owner = scripts, source, tree, names, owner
        self.graph = Graph()
        self.frame = Frame(self.graph)
        self.declared, self.returned = None, NOTHING

    # --- the signature

    def signature(self, defaults=None):
        """Return the schema that the annotations tell; its result is None where nothing is annotated."""
        arguments, rest = [], self.tree.args
        if rest.vararg or rest.kwarg:
            node = rest.vararg or rest.kwarg
            refuse("Compiled functions can't take variable number of arguments or use keyword-only arguments with "
                   "defaults", Place(self.source, node), NotSupportedError)
        positional = [*rest.posonlyargs, *rest.args]
        comment = self.comment_types()
        given = dict(zip([each.arg for each in positional[len(positional) - len(rest.defaults):]], rest.defaults))
        given.update((each.arg, value) for each, value in zip(rest.kwonlyargs, rest.kw_defaults) if value is not None)
        for number, each in enumerate([*positional, *rest.kwonlyargs]):
            if number == 0 and self.owner is not None:
                arguments.append(Argument(each.arg, self.owner))
                continue
            told = each.annotation
            if told is None and comment is not None:
                place = number - (self.owner is not None)
                kind = comment[0][place] if place < len(comment[0]) else TENSOR
            else:
                kind = TENSOR if told is None else self.type_of(told)
            default = ...
            if defaults is not None and each.arg in defaults:
                default = self.scripts.default(defaults[each.arg], kind)
            elif defaults is None and each.arg in given:
                default = self.literal(given[each.arg], kind)
            size = re.search(r"BroadcastingList(\d)", ast.unparse(told)) if told is not None else None
            size = int(size.group(1)) if size else None
            if size and isinstance(default, (int, float)):
                default = [default] * size
            arguments.append(Argument(each.arg, kind, default, each in rest.kwonlyargs, size))
        result = None
        if self.tree.returns is not None:
            result = self.type_of(self.tree.returns)
        elif comment is not None:
            result = comment[1]
        return Schema(self.tree.name, "", arguments, result)

    def comment_types(self):
        """Return (types of arguments, type of the result) of a comment `# type: (Tensor, int) -> Tensor`, or None."""
        lines = self.source.text.split("\n")
        start, end = self.tree.lineno - 1, self.tree.body[0].end_lineno
        found, each = None, []
        for line in lines[start:end]:
            before, mark, text = line.partition("# type:")
            text = text.split("#")[0].strip()
            if not mark or text.startswith("ignore"):
                continue
            if "->" in text:
                found = text
                break
            if before.strip() and not before.strip().startswith(("self", "def")) or each:
                each.append(text)
        if found is None:
            return None
        taken, _, given = found.rpartition("->")
        given = self.type_of(ast.parse(given.strip(), mode="eval").body)
        if taken.strip() == "(...)":
            return [self.type_of(ast.parse(text, mode="eval").body) for text in each], given
        parsed = ast.parse(taken.strip(), mode="eval").body
        kinds = parsed.elts if isinstance(parsed, ast.Tuple) else [parsed]
        return [self.type_of(kind) for kind in kinds], given

    # --- the body

    def compile(self, schema):
        """Return the graph; the schema's result is filled in where it was open."""
        check_syntax(self.source, self.tree.body)
        for number, argument in enumerate(schema.arguments):
            self.frame.put(argument.name, self.graph.take(argument.type, argument.name))
        self.declared = schema.result
        body = Exits(self.source).rewrite(self.tree.body, self.tree.body[-1])
        try:
            self.statements(body)
        except RecursionError:
            refuse(f"{self.tree.name}: got a source that is nested too deeply, expected less", None)
        result = self.frame.find("$ret")
        if result is None or self.frame.is_dead and result.type == NOTHING:
            result = self.constant(None)
        if schema.result is None:
            schema.result = self.returned if self.returned != NOTHING else result.type
        if result.type == NOTHING:
            result.type = schema.result
        self.graph.outputs_.append(result)
        prune(self.graph)
        return self.graph

    def returns(self, value, node):
        """Return a result in the declared type; note the type where none is declared."""
        if self.declared is None:
            if getattr(node, "is_implied", False) and self.returned not in (NOTHING, NONE):
                refuse(f"Function was not annotated as having type {self.returned}, but does not return along all "
                       "paths", Place(self.source, self.tree))
            found = join(self.returned, value.type)
            if found is None:
                refuse(f"Previous return statement returned a value of type {self.returned.annotation()} but this "
                       f"return statement returns a value of type {value.type.annotation()}",
                       Place(self.source, node))
            self.returned = found
            return value
        fitting = self.fitted(value, self.declared, node)
        if not fits(fitting.type, self.declared):
            if getattr(node, "is_implied", False):
                refuse("Function was not annotated as having type None, but does not return along all paths",
                       Place(self.source, self.tree))
            refuse(f"Return value was annotated as having type {self.declared.annotation()} but is actually of type "
                   f"{value.type.annotation()}", Place(self.source, node))
        return fitting

    # --- steps

    def emit(self, kind, inputs=(), types=(), place=None, schema=None, **attributes):
        """Put a step at the end of the block, and return its value, or the step if there is not one."""
        node = Node(kind, inputs, schema, place, **attributes)
        for each in types:
            node.add(each)
        self.frame.block.append(node)
        return node.outputs_[0] if len(node.outputs_) == 1 else node

    def place(self, node):
        """Return where a node stands."""
        return Place(self.source, node)


PURE = ("prim::Constant", "prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct", "prim::TupleUnpack",
        "prim::unchecked_cast", "prim::Uninitialized", "prim::GetAttr", "prim::TupleIndex", "aten::is_scripting",
        "aten::size", "aten::dim", "aten::__is__", "aten::__isnot__", "aten::__not__", "prim::isinstance",
        "prim::dtype", "prim::device")


def prune(graph):
    """Drop steps whose values nobody uses and that do nothing else; nothing that is written is lost."""
    used = set()

    def needed(block):
        used.update(map(id, block.outputs_))
        kept = []
        for node in reversed(block.steps):
            for inner in node.blocks_:
                inner.steps = needed(inner)
            wanted = any(id(value) in used for value in node.outputs_)
            if node.kind_ in PURE and not wanted:
                continue
            used.update(map(id, node.inputs_))
            kept.append(node)
        return kept[::-1]

    graph.steps = needed(graph)


def fail(message, place):
    """Raise what scripting refuses."""
    raise ScriptFailure(f"{message}:\n{place}")
