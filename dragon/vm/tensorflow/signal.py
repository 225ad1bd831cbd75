"""`tf.signal`: Fourier and cosine transforms, windows, frames and spectrograms."""
from dragon.vm.guest import gather as _gather
from dragon.vm.tensorflow.core.numbers import spectra as _spectra
from dragon.vm.tensorflow.core.numbers.transforms import fftnd, ifftnd, irfftnd, rfftnd  # noqa: F401

_gather(globals(), _spectra)
