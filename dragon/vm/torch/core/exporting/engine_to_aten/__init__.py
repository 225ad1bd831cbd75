"""Calls of the engine's operators, gradients among them, as calls of PyTorch's."""
