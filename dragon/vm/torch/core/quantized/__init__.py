"""Quantized tensors: integers, and by which scale and zero point they stand for numbers."""
