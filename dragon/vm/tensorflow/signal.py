"""`tf.signal`: Fourier and cosine transforms, windows, frames and spectrograms."""
from dragon.vm.guest import gather as _gather
from dragon.vm.tensorflow.core.numbers import spectra as _spectra

_gather(globals(), _spectra)
