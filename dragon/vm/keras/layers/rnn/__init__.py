"""Layers over sequences."""
from dragon.vm.keras.layers.rnn.bidirectional import Bidirectional  # noqa: F401
from dragon.vm.keras.layers.rnn.conv_lstm import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D  # noqa: F401
from dragon.vm.keras.layers.rnn.gru import GRU, GRUCell  # noqa: F401
from dragon.vm.keras.layers.rnn.lstm import LSTM, LSTMCell  # noqa: F401
from dragon.vm.keras.layers.rnn.rnn import RNN  # noqa: F401
from dragon.vm.keras.layers.rnn.simple_rnn import SimpleRNN, SimpleRNNCell  # noqa: F401
from dragon.vm.keras.layers.rnn.stacked_rnn_cells import StackedRNNCells  # noqa: F401
from dragon.vm.keras.layers.rnn.time_distributed import TimeDistributed  # noqa: F401
