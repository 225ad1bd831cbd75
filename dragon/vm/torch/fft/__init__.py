"""`torch.fft`: discrete Fourier transforms."""
from dragon.vm.torch._api import functions_at as _functions_at
from dragon.vm.torch.core.functions.spectral import fftfreq, rfftfreq
from dragon.vm.torch.core.tensor import Tensor, ops as _ops  # noqa: F401

globals().update(_functions_at("fft", _ops))
