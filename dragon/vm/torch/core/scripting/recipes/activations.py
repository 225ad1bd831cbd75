"""The forward passes of activations in the words of scripts, by the names of the classes."""
from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.nn import functional as F


class ReLU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.relu(input, self.inplace)


class ReLU6:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.relu6(input, self.inplace)


class Hardtanh:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ELU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.elu(input, self.alpha, self.inplace)


class CELU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.celu(input, self.alpha, self.inplace)


class SELU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.selu(input, self.inplace)


class LeakyReLU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class PReLU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.prelu(input, self.weight)


class SiLU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.silu(input, self.inplace)


class Mish:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.mish(input, self.inplace)


class Hardswish:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.hardswish(input, self.inplace)


class Hardsigmoid:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.hardsigmoid(input, self.inplace)


class GELU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.ops.aten.gelu(input, approximate=self.approximate)


class Sigmoid:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.sigmoid(input)


class Tanh:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.tanh(input)


class Softplus:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.ops.aten.softplus(input, self.beta, self.threshold)


class Softsign:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.softsign(input)


class LogSigmoid:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return torch.ops.aten.log_sigmoid(input)


class GLU:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.glu(input, self.dim)


class Threshold:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.threshold(input, self.threshold, self.value, self.inplace)


class Softmax:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.softmax(input, self.dim)


class LogSoftmax:
    """See `torch.nn`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return what the layer gives."""
        return F.log_softmax(input, self.dim)
