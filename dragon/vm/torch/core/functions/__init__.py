"""What PyTorch's functions and methods ask beyond the engine's operators, one module per family."""
