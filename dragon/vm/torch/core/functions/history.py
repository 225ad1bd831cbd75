"""A tensor and its gradient: backward, hooks, flags."""
import weakref
from collections import OrderedDict

from dragon import _C
from dragon.core import modes
from dragon.core.capture.side_effects import note
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core import gradients
from dragon.vm.torch.core.nodes import wrap
from dragon.vm.torch.core.register import function, method
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.hooks import RemovableHandle


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add this tensor's gradients into the `grad` of the leaves it was computed from.

    Parameters
    ----------
    gradient : Tensor, optional
        Gradient of something with respect to this tensor; 1 for a tensor of one element.
    retain_graph : bool, optional
        Keep what was saved for another backward pass; by default the value of `create_graph`.
    create_graph : bool, optional, default=False
        Record the computation of the gradients, so that they can be differentiated.
    inputs : Union[Tensor, Sequence[Tensor]], optional
        Accumulate into these only.

    """
    gradients.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


class TensorHandle(RemovableHandle):
    """The handle of a tensor's hook."""

    def __init__(self, tensor, hook, register):
        hooks = OrderedDict()
        super().__init__(hooks)
        hooks[self.id] = hook
        # The engine holds the hook, and the hook the dictionary; the handle keeps neither alive.
        self.tensor = weakref.ref(tensor)
        self.placed = register(tensor, _Place(hooks, self.id))

    def remove(self):
        """Take the hook away; the second time, nothing happens."""
        super().remove()
        tensor, placed, self.placed = self.tensor(), self.placed, None
        if tensor is not None and placed is not None:
            _C.remove_hook(tensor, placed)


class _Place:
    """What the engine calls: the hook of a handle, for as long as it is there."""

    def __init__(self, hooks, number):
        self.hooks, self.number = hooks, number

    def __call__(self, value):
        hook = self.hooks.get(self.number)
        return None if hook is None else hook(gradients.revived(value))


def _hooks_of(accumulated):
    def read(self):
        """Return the hooks by the numbers of their handles, None without any."""
        found = OrderedDict((place.number, place.hooks[place.number])
                            for place in _C.tensor_hooks(self, accumulated) if place.hooks)
        return found or None
    return read


@method
def register_hook(self, hook):
    """Call `hook(grad)` when this tensor's gradient is known; what it returns, if anything, takes its place.

    Returns
    -------
    RemovableHandle
        Whose `remove()` takes the hook away.

    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    note("registers a hook")
    return TensorHandle(self, hook, _C.register_hook)


@method
def register_post_accumulate_grad_hook(self, hook):
    """Call `hook(tensor)` after a gradient was added into `tensor.grad`; for leaves.

    Returns
    -------
    RemovableHandle
        Whose `remove()` takes the hook away.

    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    note("registers a hook")
    return TensorHandle(self, hook, _C.register_accumulated_hook)


@method
def requires_grad_(self, requires_grad=True):
    """Ask for gradients, or no longer; returns the tensor."""
    self.requires_grad = requires_grad
    return self


@method
def reinforce(self, reward):
    """Tell how to train with rewards."""
    raise RuntimeError("reinforce: got a call, expected `loss = -distribution.log_prob(action) * reward` and "
                       "`loss.backward()`")


Tensor._backward_hooks = property(_hooks_of(False), doc="The hooks on the gradient, None without any.")
Tensor._post_accumulate_grad_hooks = property(_hooks_of(True), doc="The hooks after `grad` is written, or None.")
Tensor.output_nr = property(_C.output_number)
Tensor._grad = property(_C.Tensor.grad.__get__, _C.Tensor.grad.__set__, doc="Tensor: the gradient, as `grad`.")
Tensor._is_view = lambda self: self.is_view


@function
def is_grad_enabled():
    """Return whether this thread records calls."""
    return modes.is_recording()


def accumulator(tensor):
    """Return the node that a leaf's gradient ends at."""
    with_history = tensor.view_as(tensor) if modes.is_recording() else _recorded_view(tensor)
    return wrap(with_history.grad_fn._node.next_functions[0][0])


def _recorded_view(tensor):
    with ExitStack() as exits:
        exits.switch(modes.set_recording, True)
        return tensor.view_as(tensor)
