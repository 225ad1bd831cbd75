"""`torch.fx.Node`: one step of a graph."""
import functools
import operator
import types
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

from dragon.dialects.aten.table import random_operators
from dragon.vm.torch.core.numbers import typename as _typename
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.graphs.naming import place_of, pretty_name, qualified_name as _get_qualified_name
from dragon.vm.torch.core.layout import layout, memory_format
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.fx.immutable_collections import immutable_dict, immutable_list
from dragon.vm.torch.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module

BaseArgumentTypes = Union[str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout]
base_types = BaseArgumentTypes.__args__
Target = Union[Callable[..., Any], str]
Argument = Optional[Union[Tuple["Argument", ...], Sequence["Argument"], Mapping[str, "Argument"], slice, range, "Node",
                          BaseArgumentTypes]]

_legal_ops = dict.fromkeys(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
_side_effectful_functions = {FUNCTIONS["_assert"], FUNCTIONS["_assert_async"], operator.setitem}


@functools.cache
def _random_functions():
    """Return the functions of `torch` whose calls stay though nobody uses the numbers that they draw."""
    names = {name for name, takes_generator in random_operators().items() if takes_generator}
    return {name for name in names if name == name.strip("_")} - {"binomial", "rrelu"}  # which go in PyTorch, too


def has_side_effect(fn):
    """Mark a function as one whose calls stay in graphs though nobody uses what they return; return it."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """Return nested arguments with a function's value in place of each leaf.

    Parameters
    ----------
    a : Any
        Tuples, lists, dictionaries and slices, one within the other.
    fn : Callable
        Called with each thing that is none of these.

    Returns
    -------
    Any
        The same nesting; lists and dictionaries become those that cannot be changed.

    """
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(item, fn) for item in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a, fn):
    """Return nested arguments with a function's value in place of each node."""
    if not callable(fn):
        raise AssertionError(f"torch.fx.map_arg: got {fn!r}, expected a function of a node")
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


def _format_arg(arg, max_list_len=float("inf")):
    if hasattr(arg, "_custom_fx_repr_fn"):
        return arg._custom_fx_repr_fn()
    if isinstance(arg, (list, tuple)):
        shown = [_format_arg(item) for place, item in enumerate(arg) if place < max_list_len]
        if len(arg) > max_list_len:
            shown.append(f"...[total_len={len(arg)}]")
        inner = ", ".join(shown)
        if isinstance(arg, list):
            return f"[{inner}]"
        return f"({inner},)" if len(arg) == 1 else f"({inner})"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{key}: {_format_arg(value)}" for key, value in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _type_repr(obj):
    """Return a type in words."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        return _get_qualified_name(obj) if "." not in obj.__qualname__ else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    return obj.__name__ if isinstance(obj, types.FunctionType) else repr(obj)


class Node:
    """One step of a graph: an input, a call, an attribute of the module, or the output.

    Graphs make nodes; see `Graph.create_node`.

    Parameters
    ----------
    graph : Graph
        Whose step it is.
    name : str
        Its name, which no other node of the graph has.
    op : str
        "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output".
    target : Union[str, Callable]
        What is called, or read.
    args : Tuple[Argument, ...]
        The positional arguments, with nodes where their values go.
    kwargs : Dict[str, Argument]
        The arguments by name.
    return_type : type, optional
        The type that the code writes beside the name.

    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                                 f"{_typename(target)} but a Callable is expected")
        elif op not in _legal_ops:
            raise AssertionError(f"op '{op}' is not one of {', '.join(_legal_ops)}")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {_typename(target)} "
                             "but a str is expected")
        for key, value in {"graph": graph, "name": name, "op": op, "target": target, "users": {}, "type": return_type,
                           "meta": {}, "_input_nodes": {}, "_erased": False, "_repr_fn": None, "_sort_key": (),
                           "_prev": self, "_next": self, "_args": (), "_kwargs": {}}.items():
            object.__setattr__(self, key, value)
        self._update_args_kwargs(args, kwargs)

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        for key, value in state.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, name, value):
        if name in ("name", "op", "target") and "_erased" in self.__dict__:
            self._tell_table(name, value)
        else:
            object.__setattr__(self, name, value)

    def _tell_table(self, name, value):
        """Change what the graph's table of nodes knows."""
        listed = not self._erased and self.graph._table.contains(self)
        owner = getattr(self.graph, "_owning_module", None)
        for hook in getattr(owner, "_replace_hooks", ()) if name == "name" else ():
            for user in self.users:
                hook(old=self, new=value, user=user)
        if listed:
            self.graph._table.remove(self)
        object.__setattr__(self, name, value)
        if listed:
            self.graph._table.insert(self)

    next = property(lambda self: self._next, doc="The node after this one.")
    prev = property(lambda self: self._prev, doc="The node before this one.")

    # Nodes compare by where they stand in the graph.
    def __lt__(self, other):
        return self._sort_key < other._sort_key

    def __gt__(self, other):
        return self._sort_key > other._sort_key

    def __le__(self, other):
        return self._sort_key <= other._sort_key

    def __ge__(self, other):
        return self._sort_key >= other._sort_key

    # --- places

    def prepend(self, x):
        """Move a node of the same graph to the place before this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        low, high = before._sort_key, self._sort_key
        x._sort_key = _between(low, high)

    def append(self, x):
        """Move a node of the same graph to the place after this one."""
        if x is not self:
            self._next.prepend(x)

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev

    # --- arguments

    @property
    def args(self):
        """The positional arguments; assigning others tells the nodes that are used."""
        return self._args

    @args.setter
    def args(self, a):
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self):
        """The arguments by name; assigning others tells the nodes that are used."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._update_args_kwargs(self._args, k)

    @property
    def all_input_nodes(self):
        """The nodes that this one uses, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Put another argument at a place."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Put an argument before the one at a place."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"Node.insert_arg: got place {idx}, expected 0 to {len(self.args)}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Put another argument under a name."""
        self.kwargs = {**self.kwargs, key: arg}

    def _update_args_kwargs(self, args, kwargs):
        for used in self._input_nodes:
            used.users.pop(self, None)
        inputs = {}

        def note(node):
            inputs.setdefault(node)
            node.users.setdefault(self)
            return node
        for name, value in (("_args", args), ("_kwargs", kwargs)):
            object.__setattr__(self, name, map_arg(value, note))
        object.__setattr__(self, "_input_nodes", inputs)

    def replace_input_with(self, old_input, new_input):
        """Use another node wherever this one uses a certain one."""
        owner = getattr(self.graph, "_owning_module", None)
        for hook in getattr(owner, "_replace_hooks", ()):
            hook(old=old_input, new=getattr(new_input, "name", new_input), user=self)
        self._update_args_kwargs(*(map_arg(value, lambda node: new_input if node is old_input else node)
                                   for value in (self.args, self.kwargs)))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Have everyone who uses this node use another.

        Parameters
        ----------
        replace_with : Node
            The other.
        delete_user_cb : Callable[[Node], bool], optional
            Whether a user is to change; by default all are.
        propagate_meta : bool, optional, default=False
            Copy `meta` to the other node, which must have none.

        Returns
        -------
        List[Node]
            The users that were changed.

        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(f"Node.replace_all_uses_with: got a node {replace_with} that has meta "
                                     f"{list(replace_with.meta)}, expected none where propagate_meta is set")
            replace_with.meta.update(self.meta)
        changed = []
        for user in list(self.users):
            if delete_user_cb is None or delete_user_cb(user):
                changed.append(user)
                user.replace_input_with(self, replace_with)
        return changed

    # --- what it is

    @property
    def stack_trace(self):
        """Where the program made this node, if the tracer noted it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random=True):
        """Return whether the node matters though nobody uses what it returns."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            schema = getattr(self.target, "_schema", None)
            if getattr(schema, "is_mutable", False) or self.target in _side_effectful_functions:
                return True
            if hasattr(self.target, "overloadpacket"):
                base = name.partition(".")[0]
                return base.endswith("_") and not base.startswith("_") or (
                    impure_random and base in random_operators())
            return name in _random_functions() and (place_of(self.target) or "").startswith("torch.")
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("Node.is_impure: got a graph without a module, expected one: whether a call of a "
                                     "module matters is the module's to say")
            return getattr(owner.get_submodule(self.target), "_is_impure", False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
        """Return the arguments by the callee's signature, with its defaults, or None where that is not known.

        Parameters
        ----------
        root : Module
            Where modules that are called are found.
        arg_types : Tuple[Any], optional
            Types of `args`, where overloads must be told apart.
        kwarg_types : Dict[str, Any], optional
            Types of `kwargs`.
        normalize_to_only_use_kwargs : bool, optional, default=False
            Give all arguments by name.

        Returns
        -------
        Optional[ArgsKwargsPair]
            The arguments.

        """
        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types,
                                      normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    # --- words

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target):
        return pretty_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        """Return the node as a line of a printed graph.

        Parameters
        ----------
        placeholder_names : List[str], optional
            Inputs are added to it, and no line is returned for them.
        maybe_return_typename : List[str], optional
            The type of the output becomes its first item.
        include_tensor_metadata : bool, optional, default=False
            Show dtype, shape and steps, where they are known.

        Returns
        -------
        Optional[str]
            The line.

        """
        kind = f": {_type_repr(self.type)} " if self.type else ": "
        if include_tensor_metadata:
            kind = f"{kind}{_tensor_words(self)}"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{f': {_type_repr(self.type)}' if self.type else ''}")
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} {kind}[num_users={len(self.users)}] = {self.op}[target={self.target}]{default}"
        if self.op == "get_attr":
            return (f"%{self.name} {kind}[num_users={len(self.users)}] = "
                    f"{self.op}[target={pretty_name(self.target)}]")
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        return (f"%{self.name} {kind}[num_users={len(self.users)}] = {self.op}[target={pretty_name(self.target)}]"
                f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})")

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)


def _tensor_words(node):
    value = node.meta.get("val")
    return f"{value.dtype}[{tuple(value.shape)}][{value.stride()}] " if isinstance(value, Tensor) else ""


def _between(low, high):
    """Return a key that sorts after one and before another; the end of a graph has none."""
    if not low:
        return (0,) if not high else (high[0] - 1,)
    after = (*low[:-1], low[-1] + 1)
    if not high or after < high:
        return after if high or len(low) == 1 else (low[0] + 1,)
    if high[:len(low)] == low:
        return (*low, high[len(low)] - 1)
    return (*low, 0)
