"""Functions of tensors that both guests want: made, cut, joined, moved, gathered, reduced."""
