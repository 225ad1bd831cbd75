"""Operators as modules, as models that may be quantized elsewhere use them; here they compute in floats."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.modules.linear import Identity
from dragon.vm.torch.nn.modules.module import Module


class FloatFunctional(Module):
    """Sums, products and the like as methods; each result passes `activation_post_process`."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x):
        """Raise: the methods are what is called."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x, y):
        """Return `x + y`."""
        return self.activation_post_process(ops.add(x, y))

    def add_scalar(self, x, y):
        """Return `x + y` for a number."""
        return ops.add(x, y)

    def mul(self, x, y):
        """Return `x * y`."""
        return self.activation_post_process(ops.mul(x, y))

    def mul_scalar(self, x, y):
        """Return `x * y` for a number."""
        return ops.mul(x, y)

    def cat(self, x, dim=0):
        """Return tensors side by side."""
        return self.activation_post_process(ops.cat(x, dim))

    def add_relu(self, x, y):
        """Return `relu(x + y)`."""
        return self.activation_post_process(ops.relu(ops.add(x, y)))

    def matmul(self, x, y):
        """Return the matrix product."""
        return self.activation_post_process(ops.matmul(x, y))
