"""Fourier transforms: rows of PyTorch's names."""
ROWS = """
fft=fft_fft              fft
fft2=fft_fft2            fft
fftn=fft_fftn            fft
fftshift=fft_fftshift    fft
hfft=fft_hfft            fft
hfft2=fft_hfft2          fft
hfftn=fft_hfftn          fft
ifft=fft_ifft            fft
ifft2=fft_ifft2          fft
ifftn=fft_ifftn          fft
ifftshift=fft_ifftshift  fft
ihfft=fft_ihfft          fft
ihfft2=fft_ihfft2        fft
ihfftn=fft_ihfftn        fft
irfft=fft_irfft          fft
irfft2=fft_irfft2        fft
irfftn=fft_irfftn        fft
rfft=fft_rfft            fft
rfft2=fft_rfft2          fft
rfftn=fft_rfftn          fft
"""
