"""What a tensor knows of the tape: asking for gradients, and walking back."""
from dragon import _C
from dragon.tensor import RemovableHook
from dragon.vm.torch.core.register import method


@method
def requires_grad_(self, requires_grad=True):
    """Ask for gradients, or no longer; returns the tensor."""
    self.requires_grad = requires_grad
    return self


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add this tensor's gradients into the `grad` of the leaves that it was computed from."""
    _C.backward([self], None if gradient is None else [gradient],
                create_graph if retain_graph is None else retain_graph, create_graph, inputs)


@method
def register_hook(self, hook):
    """Call `hook(grad)` when the gradient is known; what it returns, if anything, takes its place."""
    if not self.requires_grad:
        raise RuntimeError("register_hook: got a tensor that does not require grad, expected one that does")
    return RemovableHook(self, _C.register_hook(self, hook))
