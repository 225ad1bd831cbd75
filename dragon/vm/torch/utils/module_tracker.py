"""Which modules are at work, forward and backward."""
import weakref

from dragon.vm.torch.autograd.graph import register_multi_grad_hook
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from dragon.vm.torch.utils._pytree import tree_leaves


class ModuleTracker:
    """Know the names of the modules that are at work within a `with` block.

    Examples
    --------
    >>> from torch.utils.module_tracker import ModuleTracker
    >>> class Inner(nn.Module):
    ...     def forward(self, x):
    ...         print(sorted(tracker.parents))
    ...         return x
    >>> with ModuleTracker() as tracker:
    ...     y = nn.Sequential(Inner())(torch.ones(1))
    ['Global', 'Sequential', 'Sequential.0']

    """

    def __init__(self):
        self.parents = {"Global"}
        self._names, self._seen, self._hooks = weakref.WeakKeyDictionary(), weakref.WeakSet(), []
        self.is_bw = False

    def __enter__(self):
        self._hooks = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *_):
        for hook in self._hooks:
            hook.remove()

    def name_of(self, module):
        """Return a module's name: where it stands in the outermost that was called, or its class's name."""
        if module not in self._names:
            self._names[module] = type(module).__name__
        if module not in self._seen:
            self._seen.add(module)
            for word, child in module.named_children():
                self._names[child] = f"{self._names[module]}.{word}"
                self.name_of(child)
        return self._names[module]

    def _enter(self, name, backward):
        self.is_bw = backward
        self.parents.add(name)

    def _leave(self, name):
        self.parents.discard(name)

    def _before(self, module, args):
        name = self.name_of(module)
        self._enter(name, False)
        tensors = _followed(args)
        if tensors:  # its backward pass is over when the gradients of all its arguments are there
            self._hooks.append(register_multi_grad_hook(tensors, lambda grads: self._leave(name)))

    def _after(self, module, args, result):
        name = self.name_of(module)
        self._leave(name)
        tensors = _followed(result)
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, lambda grad: self._enter(name, True), mode="any"))


def _followed(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor) and leaf.requires_grad]
