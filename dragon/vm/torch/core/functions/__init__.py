"""The functions and methods of PyTorch that are more than an operator of the engine, one module per family."""
