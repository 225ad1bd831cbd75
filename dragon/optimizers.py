"""Optimizers: one call updates all parameters of a model."""
