"""All rules of quantized tensors."""
from dragon.vm.torch.core.quantized import faking, files, making, printing, properties, rules  # noqa: F401
