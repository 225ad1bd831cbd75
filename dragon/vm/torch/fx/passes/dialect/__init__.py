"""Passes over the operators of `torch.ops.aten`."""
