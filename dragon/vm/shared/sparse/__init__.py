"""Tensors most of whose numbers are zeros."""
