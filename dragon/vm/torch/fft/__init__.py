"""`torch.fft`: discrete Fourier transforms."""
from dragon.vm.torch.core.functions.spectral import fftfreq, rfftfreq
from dragon.vm.torch.core.tensor import ops as _ops

globals().update((name, getattr(_ops, "fft_" + name)) for name in """
    fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn fftshift
    ifftshift
""".split())
