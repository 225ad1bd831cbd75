"""Engines of quantized operators, of which Dragon has none."""
from dragon.vm.torch.core.missing import module_getattr

engine, supported_engines = "none", ["none"]


__getattr__ = module_getattr("torch.backends.quantized", globals())
