"""Graphs with all that they call in them, and with a module's attributes as constants."""
from dragon.vm.torch.core.scripting.compiler import prune
from dragon.vm.torch.core.scripting.graph import Argument, Graph, Node, Schema
from dragon.vm.torch.core.scripting.steps import read_attribute
from dragon.vm.torch.core.scripting.scripts import Made
from dragon.vm.torch.core.scripting.types import ClassType, InterfaceType


class Inliner:
    """Copy a graph.

    Parameters
    ----------
    module : RecursiveScriptModule, optional
        Whose attributes become constants.
    kept : Collection[str], optional
        Names of attributes that stay what they are.

    """

    def __init__(self, module=None, kept=()):
        self.module, self.kept = module, set(kept)
        self.known = {}  # identity of a new value -> the module that it is

    def whole(self, graph):
        """Return the copy."""
        made, values = Graph(), {}
        for value in graph.inputs_:
            values[id(value)] = made.take(value.type, value.hint)
        if self.module is not None:
            self.known[id(made.inputs_[0])] = self.module
        self.steps(graph, made, values)
        made.outputs_ = [values[id(value)] for value in graph.outputs_]
        prune(made)
        return made

    def steps(self, block, made, values):
        """Copy the steps of a block."""
        for node in block.steps:
            function = node.attributes.get("function")
            inputs = [values[id(value)] for value in node.inputs_]
            if function is not None and node.kind_ in ("prim::CallFunction", "prim::CallMethod"):
                self.call(function.ready().graph, inputs, node, made, values)
            elif node.kind_ == "prim::GetAttr" and id(inputs[0]) in self.known:
                self.attribute(node, inputs[0], made, values)
            else:
                self.copy(node, inputs, made, values)

    def call(self, graph, inputs, node, made, values):
        """Copy a function's steps in the place of its call."""
        inner = {id(value): given for value, given in zip(graph.inputs_, inputs)}
        self.steps(graph, made, inner)
        for value, found in zip(node.outputs_, graph.outputs_):
            values[id(value)] = inner[id(found)]

    def attribute(self, node, owner, made, values):
        """Copy the reading of an attribute, as a constant where it is known."""
        module, name, value = self.known[id(owner)], node.attributes["name"], node.outputs_[0]
        found = read_attribute(module, name)
        is_part = isinstance(value.type, (ClassType, InterfaceType))
        if module is self.module and name in self.kept or self.written(module, name) or isinstance(
                found, (dict, list, tuple)) and not is_part:
            self.copy(node, [owner], made, values)
            return
        if is_part:
            self.copy(node, [owner], made, values)
            self.known[id(values[id(value)])] = found
            return
        step = Node("prim::Constant", (), None, node.place, value=found.detach() if hasattr(found, "detach") else found)
        made.append(step)
        values[id(value)] = step.add(value.type, value.hint)

    def written(self, module, name):
        """Return whether a script sets an attribute."""
        kind = module._script_type
        return any(node.kind_ == "prim::SetAttr" and node.attributes["name"] == name
                   for function in kind.methods.values() if function.graph is not None
                   for node in function.graph.walk())

    def copy(self, node, inputs, made, values):
        """Copy one step."""
        step = Node(node.kind_, inputs, node.schema, node.place, **node.attributes)
        made.append(step)
        for inner in node.blocks_:
            block = step.block()
            for value in inner.inputs_:
                values[id(value)] = block.take(value.type, value.hint)
            self.steps(inner, block, values)
            block.outputs_ = [values[id(value)] for value in inner.outputs_]
        for value in node.outputs_:
            values[id(value)] = step.add(value.type, value.hint)


def inlined(graph):
    """Return a graph with all that it calls in it."""
    return Inliner().whole(graph)


def frozen(module, kept=()):
    """Return a scripted module whose weights are constants of its graph."""
    kind = module._script_type
    made_kind = ClassType(kind.qualified, is_module=True)
    made_kind.unit, made_kind.made, made_kind.constants = kind.unit, None, dict(kind.constants)
    made = type(module)(made_kind)
    names = ["forward", *(name for name in kept if name in kind.methods)]
    for name in names:
        function = kind.methods[name].ready()
        graph = Inliner(module, kept).whole(function.graph)
        graph.inputs_[0].type = made_kind
        made_kind.methods[name] = Made(name, f"{made_kind.qualified}.{name}", Schema(
            name, "", [Argument("self", made_kind), *function.schema.arguments[1:]], function.schema.result), graph)
    read = {node.attributes["name"] for method in made_kind.methods.values() for node in method.graph.walk()
            if node.kind_ in ("prim::GetAttr", "prim::SetAttr") and node.inputs_[0] is method.graph.inputs_[0]}
    for name, inner in kind.attributes.items():
        if name in read or name in kept or name == "training":
            made_kind.attributes[name] = inner
            for table in ("_parameters", "_buffers", "_modules"):
                if name in getattr(module, table):
                    getattr(made, table)[name] = getattr(module, table)[name]
            for names in ("parameters", "buffers"):
                if name in getattr(kind, names):
                    getattr(made_kind, names).append(name)
            if name in module.__dict__:
                made.__dict__[name] = module.__dict__[name]
    made.training = False
    return made
