"""Single steps of recurrent layers."""
import math

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import init
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty
from dragon.vm.torch.nn.parameter import Parameter

HOME = __name__.replace("._cells", ".rnn")  # where PyTorch has them


class RNNCellBase(Module):
    """The base of the cells.

    Parameters
    ----------
    num_chunks : int
        How many gates; the classes below set it.

    """

    __module__ = HOME
    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw new parameters, uniform within one over the root of `hidden_size`."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        """Return sizes and what differs from the defaults as text."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _step(self, name, input, hx):
        """Return what an operator of the engine makes of input and state."""
        return getattr(ops, name)(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def _check(self, input, states):
        """Raise unless input and states have one axis, or two with a batch."""
        who = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{who}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for place, state in enumerate(states):
            if state.dim() not in (1, 2):
                name = "hidden" if len(states) == 1 else f"hx[{place}]"
                raise ValueError(f"{who}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")

    def _forward_one(self, name, input, hx):
        """Take a step of a cell with one state."""
        self._check(input, () if hx is None else (hx,))
        alone = input.dim() == 1
        input = ops.unsqueeze(input, 0) if alone else input
        if hx is None:
            hx = ops.zeros((input.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)
        elif alone:
            hx = ops.unsqueeze(hx, 0)
        made = self._step(name, input, hx)
        return ops.squeeze(made, 0) if alone else made


class RNNCell(RNNCellBase):
    """A step of Elman's recurrent layer.

    Parameters
    ----------
    nonlinearity : {"tanh", "relu"}, optional
        The activation.

    """

    __module__ = HOME
    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        """Return the next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._forward_one(f"rnn_{self.nonlinearity}_cell", input, hx)


class LSTMCell(RNNCellBase):
    """A step of long short-term memory; see RNNCell for the parameters."""

    __module__ = HOME

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        """Return the next state and cells."""
        self._check(input, () if hx is None else hx)
        alone = input.dim() == 1
        input = ops.unsqueeze(input, 0) if alone else input
        if hx is None:
            zeros = ops.zeros((input.shape[0], self.hidden_size), dtype=input.dtype, device=input.device)
            hx = [zeros, zeros]
        elif alone:
            hx = [ops.unsqueeze(state, 0) for state in hx]
        made = self._step("lstm_cell", input, list(hx))
        return tuple(ops.squeeze(state, 0) for state in made) if alone else tuple(made)


class GRUCell(RNNCellBase):
    """A step of gated recurrent units; see RNNCell for the parameters."""

    __module__ = HOME

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        """Return the next state."""
        return self._forward_one("gru_cell", input, hx)
