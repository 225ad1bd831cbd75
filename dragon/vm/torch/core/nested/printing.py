"""Nested tensors as PyTorch prints them."""
from dragon.vm.torch.core.nested.conversions import both
from dragon.vm.torch.core.nested.parts import form_of, rule, shape_of, strided_rule
from dragon.vm.torch.core.nested.properties import is_contiguous, samples_of
from dragon.vm.torch.core.printing import node_name


@rule("__repr__")
def show_jagged(self, *, tensor_contents=None):
    """Return what a jagged tensor is, without its numbers."""
    history = f", grad_fn=<{node_name(self.grad_fn)}>" if self.grad_fn is not None else (
        ", requires_grad=True" if self.requires_grad else "")
    return (f"NestedTensor(size={shape_of(self)}, offsets={form_of(self).offsets}{history}, "
            f"contiguous={is_contiguous(self)})")


@strided_rule("__repr__")
def show_strided(self, *, tensor_contents=None):
    """Return the samples as text."""
    samples = [one.requires_grad_(self.requires_grad) for one in samples_of(self.detach())]
    lines = ",\n".join("  " + repr(one).replace("\n", "\n  ") for one in samples)
    history = f", grad_fn=<{node_name(self.grad_fn)}>" if self.grad_fn is not None else (
        ", requires_grad=True" if self.requires_grad else "")
    return f"nested_tensor([\n{lines}\n]{history})"


@both("__format__")
def format_with(self, spec):
    """Return the tensor as text."""
    return object.__format__(self, spec)
