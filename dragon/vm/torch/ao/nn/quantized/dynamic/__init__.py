"""Layers of weights of 8 bits, whose inputs are quantized at each call by their own least and largest number."""
from dragon.vm.torch.ao.nn.quantized.dynamic.modules.linear import Linear  # noqa: F401
from dragon.vm.torch.ao.nn.quantized.dynamic.modules.rnn import (GRU, LSTM, GRUCell, LSTMCell, RNNCell)  # noqa: F401
