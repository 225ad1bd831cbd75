"""Recurrent layers in the words of scripts, by the names of the classes: over whole sequences, packed ones, steps."""
from typing import List, Optional, Tuple

from dragon.vm import torch
from dragon.vm.torch import Tensor
from dragon.vm.torch.core.scripting.recipes.packing import permuted
from dragon.vm.torch.jit import _overload_method
from dragon.vm.torch.nn.utils.rnn import PackedSequence


class RNNBase:
    """See `torch.nn`: layers with one state. An LSTM, which has two, says what differs."""

    @_overload_method
    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:  # noqa: F811
        """Return what the layer gives of sequences of one length."""

    @_overload_method
    def forward(self, input: PackedSequence,  # noqa: F811
                hx: Optional[Tensor] = None) -> Tuple[PackedSequence, Tensor]:
        """Return what the layer gives of packed sequences."""

    def forward(self, input, hx=None):  # noqa: F811
        """Return what the layer gives."""
        if isinstance(input, PackedSequence):
            batch = int(input.batch_sizes[0])
            h = self.started(input.data, batch) if hx is None else permuted(hx, input.sorted_indices)
            output, h = self.over_packed(input.data, input.batch_sizes, h)
            made = PackedSequence(output, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return made, permuted(h, input.unsorted_indices)
        else:
            self.check_axes(input)
            is_batched = input.dim() == 3
            axis = 0 if self.batch_first else 1
            steps = input if is_batched else input.unsqueeze(axis)
            if hx is None:
                h = self.started(steps, steps.size(axis))
            else:
                h = hx if is_batched else hx.unsqueeze(1)
            output, h = self.over_steps(steps, h)
            if not is_batched:
                output, h = output.squeeze(axis), h.squeeze(1)
            return output, h

    def check_axes(self, input: Tensor) -> None:
        """Raise unless the input has the axes that it should."""
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError("RNN: Expected input to be 2D or 3D, got " + str(input.dim()) + "D instead")

    def started(self, input: Tensor, batch: int) -> Tensor:
        """Return the state that sequences begin with."""
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return torch.zeros([layers, batch, self.hidden_size], dtype=input.dtype, device=input.device)

    def weights(self) -> List[Tensor]:
        """Return all weights in order."""
        found: List[Tensor] = [weight for weight in self.parameters()]
        return found

    def over_steps(self, steps: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        """Return output and state."""
        if self.mode == "RNN_TANH":
            return torch.ops.aten.rnn_tanh(steps, h, self.weights(), self.bias, self.num_layers, self.dropout,
                                           self.training, self.bidirectional, self.batch_first)
        return torch.ops.aten.rnn_relu(steps, h, self.weights(), self.bias, self.num_layers, self.dropout,
                                       self.training, self.bidirectional, self.batch_first)

    def over_packed(self, data: Tensor, batch_sizes: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        """Return output and state of packed sequences."""
        if self.mode == "RNN_TANH":
            return torch.ops.aten.rnn_tanh(data, batch_sizes, h, self.weights(), self.bias, self.num_layers,
                                           self.dropout, self.training, self.bidirectional)
        return torch.ops.aten.rnn_relu(data, batch_sizes, h, self.weights(), self.bias, self.num_layers,
                                       self.dropout, self.training, self.bidirectional)


class GRU:
    """See `torch.nn`."""

    def over_steps(self, steps: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        """Return output and state."""
        return torch.ops.aten.gru(steps, h, self.weights(), self.bias, self.num_layers, self.dropout, self.training,
                                  self.bidirectional, self.batch_first)

    def over_packed(self, data: Tensor, batch_sizes: Tensor, h: Tensor) -> Tuple[Tensor, Tensor]:
        """Return output and state of packed sequences."""
        return torch.ops.aten.gru(data, batch_sizes, h, self.weights(), self.bias, self.num_layers, self.dropout,
                                  self.training, self.bidirectional)


class LSTM:
    """See `torch.nn`."""

    @_overload_method
    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[  # noqa: F811
            Tensor, Tuple[Tensor, Tensor]]:
        """Return what the layer gives of sequences of one length."""

    @_overload_method
    def forward(self, input: PackedSequence, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[  # noqa: F811
            PackedSequence, Tuple[Tensor, Tensor]]:
        """Return what the layer gives of packed sequences."""

    def forward(self, input, hx=None):  # noqa: F811
        """Return what the layer gives."""
        if isinstance(input, PackedSequence):
            if hx is None:
                h, c = self.both_started(input.data, int(input.batch_sizes[0]))
            else:
                h, c = permuted(hx[0], input.sorted_indices), permuted(hx[1], input.sorted_indices)
            output, h, c = torch.ops.aten.lstm(input.data, input.batch_sizes, [h, c], self.weights(), self.bias,
                                               self.num_layers, self.dropout, self.training, self.bidirectional)
            made = PackedSequence(output, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return made, (permuted(h, input.unsorted_indices), permuted(c, input.unsorted_indices))
        else:
            self.check_axes(input)
            is_batched = input.dim() == 3
            axis = 0 if self.batch_first else 1
            steps = input if is_batched else input.unsqueeze(axis)
            if hx is None:
                h, c = self.both_started(steps, steps.size(axis))
            else:
                h, c = hx
                if not is_batched:
                    h, c = h.unsqueeze(1), c.unsqueeze(1)
            output, h, c = torch.ops.aten.lstm(steps, [h, c], self.weights(), self.bias, self.num_layers, self.dropout,
                                               self.training, self.bidirectional, self.batch_first)
            if not is_batched:
                output, h, c = output.squeeze(axis), h.squeeze(1), c.squeeze(1)
            return output, (h, c)

    def both_started(self, input: Tensor, batch: int) -> Tuple[Tensor, Tensor]:
        """Return state and cells that sequences begin with."""
        layers = self.num_layers * (2 if self.bidirectional else 1)
        width = self.proj_size if self.proj_size > 0 else self.hidden_size
        h = torch.zeros([layers, batch, width], dtype=input.dtype, device=input.device)
        return h, torch.zeros([layers, batch, self.hidden_size], dtype=input.dtype, device=input.device)


class RNNCellBase:
    """See `torch.nn`: steps with one state."""

    def forward(self, input: Tensor, hx: Optional[Tensor] = None) -> Tensor:
        """Return the next state."""
        if input.dim() != 1 and input.dim() != 2:
            raise ValueError("RNNCell: Expected input to be 1D or 2D, got " + str(input.dim()) + "D instead")
        is_batched = input.dim() == 2
        steps = input if is_batched else input.unsqueeze(0)
        if hx is None:
            h = torch.zeros([steps.size(0), self.hidden_size], dtype=steps.dtype, device=steps.device)
        else:
            h = hx if is_batched else hx.unsqueeze(0)
        h = self.stepped(steps, h)
        return h if is_batched else h.squeeze(0)


class RNNCell(RNNCellBase):
    """See `torch.nn`."""

    def stepped(self, input: Tensor, h: Tensor) -> Tensor:
        """Return the next state of a batch."""
        if self.nonlinearity == "tanh":
            return torch.ops.aten.rnn_tanh_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return torch.ops.aten.rnn_relu_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class GRUCell(RNNCellBase):
    """See `torch.nn`."""

    def stepped(self, input: Tensor, h: Tensor) -> Tensor:
        """Return the next state of a batch."""
        return torch.ops.aten.gru_cell(input, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class LSTMCell:
    """See `torch.nn`."""

    def forward(self, input: Tensor, hx: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
        """Return the next state and cells."""
        if input.dim() != 1 and input.dim() != 2:
            raise ValueError("LSTMCell: Expected input to be 1D or 2D, got " + str(input.dim()) + "D instead")
        is_batched = input.dim() == 2
        steps = input if is_batched else input.unsqueeze(0)
        if hx is None:
            h = torch.zeros([steps.size(0), self.hidden_size], dtype=steps.dtype, device=steps.device)
            c = h
        else:
            h, c = hx
            if not is_batched:
                h, c = h.unsqueeze(0), c.unsqueeze(0)
        h, c = torch.ops.aten.lstm_cell(steps, [h, c], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))
