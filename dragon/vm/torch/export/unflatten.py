"""`torch.export.unflatten`: an exported program as modules within modules, as the one that it came from was."""
import abc
import operator

from dragon.vm.torch.core.exporting.unlift import STATE, put
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.signatures import ConstantArgument, InputKind, OutputKind
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.interpreter import Interpreter
from dragon.vm.torch.fx.node import Node, map_arg
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

PROGRAM = "_program"  # where a module finds the whole, of which it may use what belongs to others


class FlatArgsAdapter(abc.ABC):
    """Makes arguments that are nested otherwise fit a program."""

    @abc.abstractmethod
    def adapt(self, target_spec, input_spec, input_args, metadata=None, obj=None):
        """Return the leaves of arguments in the program's order.

        Parameters
        ----------
        target_spec : TreeSpec
            How the program's arguments are nested.
        input_spec : TreeSpec
            How those of the call are.
        input_args : List[Any]
            The leaves of the call.
        metadata : Optional[Dict[str, Any]]
            What else is known.
        obj : Any, optional
            The module that is called.

        Returns
        -------
        List[Any]
            As many leaves as the program takes.

        """


class InterpreterModule(Module):
    """A module whose graph is run node by node.

    Parameters
    ----------
    graph : torch.fx.Graph
        The graph; attributes and modules that it names are the module's.
    ty : str, optional
        The class of the module that it came from.
    in_spec, out_spec : TreeSpec, optional
        How arguments and results are nested; without them they are leaves.

    """

    def __init__(self, graph, ty=None, in_spec=None, out_spec=None):
        super().__init__()
        self.graph, self.ty, self.in_spec, self.out_spec = graph, ty, in_spec, out_spec

    def forward(self, *args, **kwargs):
        """Run the graph."""
        if self.in_spec is not None:
            leaves, spec = pytree.tree_flatten((args, kwargs))
            if spec != self.in_spec:
                raise ValueError(f"{self.type_name()}: got arguments nested as {spec}, expected {self.in_spec}")
            args = leaves
        results = Interpreter(self, graph=self.graph).run(*args)
        return results if self.out_spec is None else pytree.tree_unflatten(list(results), self.out_spec)

    def type_name(self):
        """Return the class of the module that it came from."""
        return self.ty

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False):
        """Return the graph as text, and print it if so asked."""
        text = str(self.graph)
        if print_output:
            print(text)
        return text


class UnflattenedModule(Module):
    """An exported program as modules within modules.

    Parameters
    ----------
    export_module : ExportedProgram
        The program.
    flat_args_adapter : Optional[FlatArgsAdapter]
        Makes arguments that are nested otherwise fit.

    """

    def __init__(self, export_module, flat_args_adapter=None):
        super().__init__()
        if export_module.graph_signature.backward_signature is not None:
            raise ValueError("Unflattening on JointExportModule NYI")
        written = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)
        if any(spec.kind in written for spec in export_module.graph_signature.output_specs):
            raise NotImplementedError("unflatten: got a program whose writes are outputs, as run_decompositions makes "
                                      "them; expected one as export returns it")
        self.module_call_graph = export_module.module_call_graph
        self.flat_args_adapter, self.adapted = flat_args_adapter, False
        self.call_spec = export_module.call_spec
        _Builder(export_module, self).build()

    def forward(self, *args, **kwargs):
        """Run the program."""
        wanted = self.call_spec.in_spec
        names = wanted.child(1).context
        if set(kwargs) == set(names):
            kwargs = {name: kwargs[name] for name in names}
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != wanted:
            if self.flat_args_adapter is None:
                raise TypeError("There is no flat args adapter specified. Are you sure you are calling this with the "
                                f"right arguments? Got arguments nested as {spec}, expected {wanted}")
            leaves = self.flat_args_adapter.adapt(target_spec=wanted, input_spec=spec, input_args=leaves, obj=self)
            if len(leaves) != wanted.num_leaves:
                raise TypeError(f"Flat args adaption failed, number of args mismatch Adatped: {len(leaves)} Exported "
                                f"module: {wanted.num_leaves}")
        results = Interpreter(self, graph=self.graph).run(*leaves)
        return pytree.tree_unflatten(list(results), self.call_spec.out_spec)

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False):
        """Return the graph as text, and print it if so asked."""
        return InterpreterModule.print_readable(self, print_output)

    def process_forward_inputs(self, *args, **kwargs):
        """Return the leaves of arguments."""
        return pytree.tree_leaves((args, kwargs))


class _Builder:
    """Sorts the nodes of a program into modules by the calls that they were made in."""

    def __init__(self, program, root):
        self.program, self.root = program, root
        self.signatures = {entry.fqn: entry.signature for entry in program.module_call_graph if entry.signature}
        self.state, self.outputs = {}, [spec.arg.name for spec in program.graph_signature.output_specs]

    def build(self):
        """Fill the root module."""
        program, users, own = self.program, [], {}
        placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
        for node, spec in zip(placeholders, program.graph_signature.input_specs):
            if spec.kind in STATE:
                value = program.state_dict.get(spec.target, program.constants.get(spec.target))
                value = own.setdefault(id(value), _copied(value))
                put(self.root, spec.target, value, None if spec.kind is InputKind.CONSTANT_TENSOR else spec.persistent)
                self.state[node] = spec.target
            else:
                users.append(node)
        for node in program.graph.nodes:  # what is written stays the state that it is
            if node.args and node.args[0] in self.state and str(node.target).partition(".")[2].partition(".")[
                    0].endswith("_"):
                self.state[node] = self.state[node.args[0]]
        for name, module in program.graph_module.named_children():
            self.root.add_module(name, module)
        nodes = [node for node in program.graph.nodes if node.op in ("call_function", "get_attr")]
        graph = Graph()
        values = {node: _told(graph.placeholder(node.name), node) for node in users}
        self._fill(graph, nodes, 0, "", values)
        results = program.graph.output_node().args[0]
        graph.output(tuple(map_arg(results, lambda node: self._value(graph, node, values, ""))))
        self.root.graph = graph

    def _value(self, graph, node, values, prefix):
        """Return the node of a graph that stands for one of the program."""
        if node not in values:
            if node not in self.state:
                raise NotImplementedError(f"unflatten: {node.name} is used within {prefix or 'the program'} before it "
                                          "was handed over")
            target = self.state[node]
            if prefix:
                target = target[len(prefix) + 1:] if self._is_own(node, prefix) else f"{PROGRAM}.{target}"
            with graph.inserting_before(_first(graph)):
                values[node] = _told(graph.get_attr(target), node)
        return values[node]

    @staticmethod
    def _step(node, depth):
        """Return the call at a depth in which a node was made, None where it was made by the module itself."""
        stack = [entry for entry in (node.meta.get("nn_module_stack") or {}).items() if entry[1][0]]
        return stack[depth] if depth < len(stack) else None

    def _fill(self, graph, nodes, depth, prefix, values):
        """Add nodes to a module's graph, those of each call within as a call of a module of their own."""
        place = 0
        while place < len(nodes):
            step = self._step(nodes[place], depth)
            if step is None or nodes[place].op == "get_attr":
                node = nodes[place]
                if node.op == "get_attr":
                    values[node] = _told(graph.get_attr(node.target), node)
                else:
                    values[node] = graph.node_copy(node, lambda used: self._value(graph, used, values, prefix))
                place += 1
                continue
            end = place
            while end < len(nodes) and nodes[end].op != "get_attr" and self._step(nodes[end], depth) == step:
                end += 1
            if any(other.op == "get_attr" for other in nodes[place:end + 1] if self._step(other, depth) == step):
                raise NotImplementedError("unflatten: got control flow within a module; expected it in the program "
                                          "itself")
            self._call(graph, nodes[place:end], depth, prefix, values, step)
            place = end

    def _call(self, graph, nodes, depth, prefix, values, step):
        """Make a module of the nodes of one call, and call it."""
        full = step[1][0]
        path = full.partition("@")[0]
        inside = set(nodes)
        after = [node for node in nodes if node not in self.state and any(user not in inside for user in node.users)]
        signature = self.signatures.get(full)
        if prefix and not (path == prefix or path.startswith(prefix + ".")):  # shared with a module elsewhere
            signature = None
        given = []
        for node in nodes:
            for used in node.all_input_nodes:
                if used not in inside and used not in given and used not in self.state:
                    given.append(used)
        if signature is not None:
            given, after = self._signed(signature, given, after)
        inner = Graph()
        places = [(node, _told(inner.placeholder(node.name), node)) for node in given]
        alone = signature is None and len(after) == 1  # a module of the user's in its place returns no tuple either
        known = {node: place for node, place in places if isinstance(node, Node)}
        self._fill(inner, nodes, depth + 1, path, known)
        returned = tuple(self._value(inner, node, known, path) if isinstance(node, Node) else node.value
                         for node in after)
        inner.output(returned[0] if alone else returned)
        kind = step[1][1]
        module = InterpreterModule(inner, kind if isinstance(kind, str) else kind.__qualname__)
        module = self._place(full, module)
        vars(module)[PROGRAM] = self.root
        handed = [self._value(graph, node, values, prefix) if isinstance(node, Node) else node.value for node in given]
        target = full[len(prefix) + 1:] if prefix and full.startswith(prefix + ".") else full
        if signature is not None:
            module.in_spec, module.out_spec = signature.in_spec, signature.out_spec
            args, kwargs = pytree.tree_unflatten(handed, signature.in_spec)
            called = graph.call_module(target, tuple(args), kwargs)
            called = graph.call_function(pytree.tree_leaves, (called,))
        else:
            called = graph.call_module(target, tuple(handed))
            called.meta["val"] = after[0].meta.get("val") if alone else tuple(node.meta.get("val") for node in after)
        if alone:
            values[after[0]] = called
            return
        for number, node in enumerate(after):
            if isinstance(node, Node):
                values[node] = _told(graph.call_function(operator.getitem, (called, number)), node)

    def _is_own(self, node, path):
        return node in self.state and self.state[node].startswith(path + ".")

    def _signed(self, signature, given, after):
        """Return inputs and outputs as a kept signature has them: nodes, and arguments that are constants."""
        by_name = {node.name: node for node in self.program.graph.nodes}

        def found(arg):
            if isinstance(arg, ConstantArgument):
                return arg
            return by_name.get(arg.name, ConstantArgument(arg.name, None))  # None: nobody uses it any more
        inputs, outputs = list(map(found, signature.inputs)), list(map(found, signature.outputs))
        if any(node not in inputs for node in given) or any(node not in outputs for node in after):
            raise NotImplementedError("unflatten: a module whose call is kept uses what is not among its arguments")
        return inputs, outputs

    def _place(self, path, module):
        """Put a module where it belongs; what is there already, as parameters, moves into it."""
        *words, last = path.split(".")
        holder = self.root
        for word in words:
            if word not in holder._modules:
                holder.add_module(word, Module())
            holder = holder._modules[word]
        plain = last.partition("@")[0]
        before = holder._modules.get(plain)
        if before is not None:
            for name, value in before._parameters.items():
                module.register_parameter(name, value)
            for name, value in before._buffers.items():
                module.register_buffer(name, value, name not in before._non_persistent_buffers_set)
            for name, value in before._modules.items():
                module.add_module(name, value)
            for name, value in vars(before).items():
                if isinstance(value, Tensor):
                    setattr(module, name, value)
        holder.add_module(last, module)
        return module


def _told(made, node):
    """Return a node that knows what another one gives, and gives the same."""
    if isinstance(node, Node) and "val" in node.meta:
        made.meta["val"] = node.meta["val"]
    return made


def _copied(value):
    """Return state that is not the program's own."""
    if isinstance(value, Parameter):
        return Parameter(value.detach().clone(), value.requires_grad)
    return value.detach().clone() if isinstance(value, Tensor) else value


def _first(graph):
    return next((node for node in graph.nodes if node.op != "placeholder"), None) or graph._root


def unflatten(module, flat_args_adapter=None):
    """Return an exported program as modules within modules.

    Parameters
    ----------
    module : ExportedProgram
        The program.
    flat_args_adapter : Optional[FlatArgsAdapter]
        Makes arguments that are nested otherwise fit.

    Returns
    -------
    UnflattenedModule
        The module; its submodules have the names of the original's, and can be replaced.

    """
    return UnflattenedModule(module, flat_args_adapter)
