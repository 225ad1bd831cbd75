"""What PyTorch's own tests are written with, and those of libraries beside them: `torch.testing._internal`."""
