"""keras.ops: NumPy's functions, those of neural nets, and what is common to them, on tensors and symbolic ones."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.ops import core, einops, image, linalg, math, nn, numpy
from dragon.vm.keras.ops import parted as _parted  # noqa: F401: it teaches the others

_gather(globals(), core, einops, linalg, math, nn, numpy)
