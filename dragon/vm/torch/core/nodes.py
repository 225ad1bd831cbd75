"""Steps of the backward graph under PyTorch's names: what `Tensor.grad_fn` returns."""
import weakref
from collections import OrderedDict

from dragon import _C
from dragon.core.capture.side_effects import note
from dragon.vm.torch._api import STEPS
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.hooks import RemovableHandle

# With axes, these have another name; a result without axes is taken for a sum over all.
PARTIAL = {"sum", "mean", "prod"}
_classes, _living, CONTEXTS = {}, weakref.WeakValueDictionary(), weakref.WeakValueDictionary()


class Node:
    """A step of the backward graph."""

    def __init__(self, node):
        if not isinstance(node, _C.Node):
            raise TypeError(f"Node: got {type(node).__name__}, expected a step that the engine has recorded")
        self._node = node
        self.metadata = {}

    def name(self):
        """Return the name, such as "MulBackward0"."""
        return type(self).__name__

    @property
    def next_functions(self):
        """The nodes that gradients go to next: pairs of a node, or None, and which of its results is meant."""
        return tuple((None if node is None else wrap(node), index) for node, index in self._node.next_functions)

    def register_hook(self, fn):
        """Call `fn(grad_inputs, grad_outputs)` after the step; what it returns, if anything, replaces `grad_inputs`."""
        note("registers a hook")
        hooks = OrderedDict()
        handle = RemovableHandle(hooks)
        hooks[handle.id] = fn

        def call(found, incoming):
            return hooks[handle.id](own(found), own(incoming)) if hooks else None
        self._node.register_hook(call)
        return handle

    def register_prehook(self, fn):
        """Call `fn(grad_outputs)` before the step; what it returns, if anything, replaces them."""
        note("registers a hook")
        hooks = OrderedDict()
        handle = RemovableHandle(hooks)
        hooks[handle.id] = fn
        self._node.register_prehook(lambda incoming: hooks[handle.id](own(incoming)) if hooks else None)
        return handle

    def __eq__(self, other):
        return isinstance(other, Node) and self._node == other._node

    def __hash__(self):
        return hash(self._node)

    def __repr__(self):
        return f"<{type(self).__name__} object at {hash(self._node):#x}>"


class AccumulateGrad(Node):
    """The end of a path: what adds a gradient into a leaf's `grad`."""

    variable = property(lambda self: self._node.variable, doc="The leaf.")


_classes["AccumulateGrad"] = AccumulateGrad


class FunctionNode(Node):
    """The step of a `torch.autograd.Function`: it has the attributes of the function's context as well."""

    def __init__(self, node, context):
        super().__init__(node)
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    @property
    def saved_tensors(self):
        """The tensors that the function has saved."""
        context, before = self._context, self._context._node
        context._node = self._node
        try:
            return context.saved_tensors
        finally:
            context._node = before


def own(tensors):
    """Return what the engine hands to hooks of a node as tensors of the guest."""
    return tuple(item if item is None or isinstance(item, Tensor) else _C.as_class(item, Tensor) for item in tensors)


def class_of(name, base=Node):
    """Return the class of nodes of a name."""
    if name not in _classes:
        _classes[name] = type(name, (base,), {"__module__": "torch.autograd"})
    return _classes[name]


def name_of(operator, tensor=None):
    """Return what PyTorch calls the gradient of an operator."""
    if operator in PARTIAL and tensor is not None:
        return f"{operator.capitalize()}Backward{int(tensor.ndim > 0)}"
    if operator.startswith("write_through_view"):
        return "CopySlices"
    found = STEPS.get(operator)
    if found is None:
        found = operator if operator[:1].isupper() else \
            "".join(part[:1].upper() + part[1:] for part in operator.split("_")) + "Backward0"
    return found


def wrap(node, tensor=None):
    """Return the engine's node as PyTorch shows it: the same object for as long as somebody holds it."""
    key = hash(node)
    found = _living.get(key)
    if found is None:
        operator = node.name()
        context = CONTEXTS.get(key) if operator[:1].isupper() or operator.endswith("Backward") else None
        if context is None:
            found = class_of(name_of(operator, tensor))(node)
        else:
            found = type(operator, (FunctionNode,), {"__module__": "torch.autograd.function"})(node, context)
        _living[key] = found
    return found


_node_of = _C.Tensor.grad_fn.__get__


def grad_fn(tensor):
    """The step of the backward graph that made the tensor; None for a leaf."""
    node = _node_of(tensor)
    return None if node is None else wrap(node, tensor)


Tensor.grad_fn = property(grad_fn)
