"""Steps of recurrent layers: rows of PyTorch's names."""
ROWS = """
torch: gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell
"""
