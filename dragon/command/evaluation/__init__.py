"""`dragon evaluate`: the same net on Dragon and on genuine PyTorch, in worlds of several sizes, by seven rules."""
