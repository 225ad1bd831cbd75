"""`torch.fx.Graph`: steps in the order in which they run."""
import contextlib
import copy
import inspect
import keyword
import typing

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.graphs.code import SHORT as dtype_abbrs_by_name
from dragon.vm.torch.core.graphs.code import CodeGen, PythonCode
from dragon.vm.torch.core.graphs.naming import Namespace as _Namespace
from dragon.vm.torch.core.graphs.naming import is_magic as _is_magic
from dragon.vm.torch.core.graphs.naming import snake_case as _snake_case
from dragon.vm.torch.core.graphs.naming import words_of_target
from dragon.vm.torch.core.graphs.operators import INPLACE as inplace_methods
from dragon.vm.torch.core.graphs.operators import MAGIC as magic_methods
from dragon.vm.torch.core.graphs.operators import REFLECTABLE as reflectable_magic_methods
from dragon.vm.torch.core.graphs.structured import _PyTreeCodeGen, _PyTreeInfo
from dragon.vm.torch.core.graphs.table import NodesByTarget as _FindNodesLookupTable, draw_table
from dragon.vm.torch.core.dtypes import NAMES as _DTYPES
from dragon.vm.torch.fx.immutable_collections import immutable_dict
from dragon.vm.torch.fx.node import Argument, Node, Target, _type_repr, map_arg
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.parameter import Parameter

dtype_abbrs = {value: dtype_abbrs_by_name[f"torch.{name}"] for name, value in _DTYPES.items()
               if f"torch.{name}" in dtype_abbrs_by_name}


class _InsertPoint:
    """Where a graph's new nodes go; at the end of a `with` block, it is again as it was."""

    def __init__(self, graph, new_insert):
        self.graph, self.orig_insert = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self):
        pass

    def __exit__(self, *_):
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes of a graph, in order."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        node = getattr(self.graph._root, self.direction)
        while node is not self.graph._root:
            following = getattr(node, self.direction)
            if not node._erased:
                yield node
                following = getattr(node, self.direction)
            node = following

    def __reversed__(self):
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class Graph:
    """Steps that a function or a module takes, in order: inputs, calls, and an output.

    Parameters
    ----------
    owning_module : GraphModule, optional
        The module whose graph it is.
    tracer_cls : type, optional
        The class of the tracer that made it.
    tracer_extras : Dict[str, Any], optional
        What that tracer needs to trace it again.

    Examples
    --------
    >>> import operator
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(operator.add, (x, 1))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
        return add

    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._used_names = {}
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._table = _FindNodesLookupTable()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields = {}

    @property
    def owning_module(self):
        """The module whose graph this is, if it has one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        self._owning_module = mod

    nodes = property(_node_list, doc="The nodes in order; they may be erased and moved on the way.")

    def output_node(self):
        """Return the node of the output."""
        return next(iter(self.find_nodes(op="output")))

    def find_nodes(self, *, op, target=None, sort=True):
        """Return the nodes of an operation.

        Parameters
        ----------
        op : str
            Such as "call_function".
        target : Union[str, Callable], optional
            Only those of this target.
        sort : bool, optional, default=True
            In the order in which they run.

        Returns
        -------
        List[Node]
            The nodes.

        """
        found = self._table.find_nodes(op=op, target=target)
        return sorted(found) if sort else found

    # --- copies

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copy the nodes of another graph to the end of this one.

        Parameters
        ----------
        g : Graph
            The other graph.
        val_map : Dict[Node, Node]
            The copies are put into it; nodes that it has already are not copied.
        return_output_node : bool, optional, default=False
            Return (value, output node of the other graph).

        Returns
        -------
        Optional[Argument]
            What the other graph returns, in copied nodes, if it has an output.

        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda used: val_map[used])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda used: val_map[used])
        return None

    def __deepcopy__(self, memo=None):
        memo = {} if memo is None else memo
        copied = type(self)(tracer_cls=self._tracer_cls) if type(self) is Graph else Graph(tracer_cls=self._tracer_cls)
        copied._tracer_extras = self._tracer_extras
        values = {}
        found = copied.graph_copy(self, values, return_output_node=True)
        for old, new in values.items():
            new.meta = {key: value for key, value in old.meta.items()}
        copied._codegen = copy.deepcopy(self._codegen, memo)
        if found is not None:
            value, old = found
            new = copied.output(value, type_expr=getattr(old, "type", None))
            new.meta = copy.copy(old.meta)
        memo[id(self)] = copied
        return copied

    def node_copy(self, node, arg_transform=lambda x: x):
        """Copy a node of another graph into this one.

        Parameters
        ----------
        node : Node
            The node.
        arg_transform : Callable[[Node], Argument], optional
            What stands here for each node that it uses.

        Returns
        -------
        Node
            The copy.

        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple):
            raise AssertionError(f"Graph.node_copy: got {type(args).__name__} for the arguments of {node}, expected a "
                                 "tuple")
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    # --- making nodes

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Add a node at the place where new nodes go.

        Parameters
        ----------
        op : str
            What it does.
        target : Union[str, Callable]
            What is called, or read.
        args : Tuple[Argument, ...], optional
            The positional arguments.
        kwargs : Dict[str, Argument], optional
            The arguments by name.
        name : str, optional
            Its name; made of the target if missing, and numbered where it is taken.
        type_expr : type, optional
            The type of its value.

        Returns
        -------
        Node
            The node.

        """
        args, kwargs = () if args is None else args, immutable_dict() if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"Graph.create_node: got {type(args).__name__} for args, expected a tuple")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Graph.create_node: got {type(kwargs).__name__} for kwargs, expected a dict")
        free = self._graph_namespace.create_name(words_of_target(target) if name is None else name, None)
        node = Node(self, free, op, target, args, kwargs, type_expr)
        if getattr(self.owning_module, "_create_node_hooks", None):
            for hook in self.owning_module._create_node_hooks:
                hook(node)
        self._graph_namespace.associate_name_with_obj(node.name, node)
        self._insert(node)
        self._table.insert(node)
        self._len += 1
        return node

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        """Add an input; a name that begins with `*` takes all further arguments."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Add a node that reads an attribute of the module, by its dotted name."""
        if self.owning_module is not None and not _refers(self.owning_module, qualified_name):
            warnings.warn("Attempted to insert a get_attr Node with no underlying reference in the owning "
                          "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                          "GraphModule.add_parameter to add the necessary Parameter, or nn.Module.register_buffer to "
                          "add the necessary buffer")
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Add a call of a module of the module, by its dotted name."""
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            warnings.warn(f"Graph.call_module: got {module_name!r}, expected the name of a module that the owning "
                          "GraphModule has: GraphModule.add_submodule adds one")
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """Add the output: what the graph returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def process_inputs(self, *args):
        """Return the values of the graph's inputs from the arguments of its function."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """Return what the graph's function returns from the value of its output."""
        return self._codegen.process_outputs(out)

    # --- places

    def inserting_before(self, n=None):
        """Have new nodes go before a node; as a `with` block, only within."""
        if n is None:
            return self.inserting_after(self._root)
        self._check_mine(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """Have new nodes go after a node; as a `with` block, only within."""
        if n is None:
            return self.inserting_before(self._root)
        self._check_mine(n)
        return _InsertPoint(self, n.append)

    def _check_mine(self, node):
        if node.graph is not self:
            raise AssertionError("Node to insert before/after is not in graph.")

    def erase_node(self, to_erase):
        """Take a node out that nobody uses."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the "
                               f"graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node")
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        self._table.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update_args_kwargs(map_arg(to_erase.args, lambda used: None),
                                     map_arg(to_erase.kwargs, lambda used: None))

    def eliminate_dead_code(self, is_impure_node=None):
        """Erase the nodes whose values nobody uses, but for those that do something else.

        Parameters
        ----------
        is_impure_node : Callable[[Node], bool], optional
            Whether a node does; by default `Node.is_impure`.

        Returns
        -------
        bool
            Whether a node was erased.

        """
        self.lint()
        keep = is_impure_node or (lambda node: node.is_impure(True))
        changed = False
        for node in reversed(self.nodes):
            if not keep(node) and not node.users:
                self.erase_node(node)
                changed = True
        for module in (self.owning_module.modules() if self.owning_module is not None else ()):
            if module is not self.owning_module and isinstance(getattr(module, "graph", None), Graph):
                changed = module.graph.eliminate_dead_code(is_impure_node) or changed
        return changed

    def _clear_nodes(self):
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    # --- words and code

    def _target_to_str(self, target):
        return words_of_target(target)

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False, colored=False,
                    expanded_def=False, record_func=False, additional_meta=None):
        """Return the graph as Python.

        Parameters
        ----------
        root_module : str
            What the code calls the module, "self".
        verbose : bool, optional, default=False
            With remarks: where nodes come from, and what is known of their values.
        include_stride : bool, optional, default=False
            Remarks tell the steps of tensors.
        include_device : bool, optional, default=False
            Remarks tell the devices of tensors.
        colored : bool, optional, default=False
            Remarks have colors.
        expanded_def : bool, optional, default=False
            A line for each input.
        record_func : bool, optional, default=False
            The code tells the profiler.
        additional_meta : List[str], optional
            Further keys of `Node.meta` for remarks.

        Returns
        -------
        PythonCode
            The text and its globals.

        """
        namespace = _Namespace()
        kept = {node: node._repr_fn for node in self.nodes}
        try:
            for node in kept:
                node._repr_fn = lambda item: namespace.create_name(item.name, item)
            return self._codegen._gen_python_code(
                self.nodes, root_module, namespace, verbose=verbose, include_stride=include_stride,
                include_device=include_device, colored=colored, expanded_def=expanded_def, record_func=record_func,
                additional_meta=additional_meta)
        finally:
            for node, words in kept.items():
                node._repr_fn = words

    def __str__(self):
        inputs, returned = [], [""]
        lines = [node.format_node() for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(inputs)}){returned[0]}:", *(line for line in lines if line)])

    def print_tabular(self):
        """Print the nodes as a table."""
        print(draw_table([[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes],
                         ["opcode", "name", "target", "args", "kwargs"]))

    def lint(self):
        """Raise where the graph is not well made: names twice, values used before they are there, targets missing."""
        from dragon.vm.torch.core.graphs.checks import check_graph
        check_graph(self)

    # --- other code

    def set_codegen(self, codegen):
        """Have another object write the code."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer):
        """Change the lines of generated code.

        Parameters
        ----------
        make_transformer : Callable[[Optional[Callable]], Callable]
            Called with the function that changes the lines now, or None, it returns the one that will. A function takes
            a list of lines, and returns one.

        Returns
        -------
        contextlib.AbstractContextManager
            At the end of a `with` block, all is as before.

        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextmanager
        def until():
            try:
                yield
            finally:
                self._codegen._body_transformer = before
        return until()


def _refers(module, path):
    """Return whether a dotted name leads to something of a module."""
    place, _, name = path.rpartition(".")
    try:
        owner = module.get_submodule(place)
    except AttributeError:
        return False
    found = getattr(owner, name, None)
    return isinstance(found, (Module, Parameter)) or name in owner._buffers if hasattr(owner, name) else False
