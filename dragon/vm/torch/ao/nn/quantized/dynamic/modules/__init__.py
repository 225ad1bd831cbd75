"""The layers, a file for each kind."""
from dragon.vm.torch.ao.nn.quantized.dynamic.modules.linear import Linear  # noqa: F401
from dragon.vm.torch.ao.nn.quantized.dynamic.modules.rnn import (GRU, LSTM, GRUCell, LSTMCell, RNNCell)  # noqa: F401
