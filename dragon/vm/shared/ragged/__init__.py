"""Tensors whose rows differ in length."""
