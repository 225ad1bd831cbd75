"""Quantized modules: sums and products of quantized models as methods; `dynamic` has layers of 8-bit weights."""
from dragon.vm.torch.ao.nn.quantized import dynamic  # noqa: F401
from dragon.vm.torch.nn.quantized import FloatFunctional  # noqa: F401
