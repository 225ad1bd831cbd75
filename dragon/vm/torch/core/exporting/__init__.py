"""The workshop of `torch.export`: calls by the names of PyTorch's operators, sizes as symbols, programs and files."""
