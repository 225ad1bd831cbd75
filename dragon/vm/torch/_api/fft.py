"""Fourier transforms: rows of PyTorch's names."""
ROWS = """
fft: fft=fft_fft fft2=fft_fft2 fftn=fft_fftn fftshift=fft_fftshift hfft=fft_hfft hfft2=fft_hfft2 hfftn=fft_hfftn
fft: ifft=fft_ifft ifft2=fft_ifft2 ifftn=fft_ifftn ifftshift=fft_ifftshift ihfft=fft_ihfft ihfft2=fft_ihfft2
fft: ihfftn=fft_ihfftn irfft=fft_irfft irfft2=fft_irfft2 irfftn=fft_irfftn rfft=fft_rfft rfft2=fft_rfft2 rfftn=fft_rfftn
"""
