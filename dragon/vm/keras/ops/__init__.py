"""keras.ops: NumPy's functions, those of neural nets, and what is common to them, on tensors and symbolic ones."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.ops import core, einops, image, linalg, math, nn, numpy

_gather(globals(), core, einops, linalg, math, nn, numpy)
