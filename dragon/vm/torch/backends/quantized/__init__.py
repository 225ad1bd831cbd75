"""Engines of quantized operators, of which Dragon has none."""

engine, supported_engines = "none", ["none"]
