"""Short-time Fourier transforms, the frequencies of transforms, and the windows of `torch` itself."""
import math

from dragon.core import warnings
from dragon.core.refusals import refusing
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import as_dtype
from dragon.vm.torch.core.functions.creation import default_dtype, finish
from dragon.vm.torch.core.functions.destination import deliver, require_dtype
from dragon.vm.torch.core.layout import require_strided
from dragon.vm.torch.core.register import both, function, overridable, strict_arguments
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import ops


def _frequencies(name):
    operator = getattr(ops, "fft_" + name)

    def frequencies(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False,
                    requires_grad=False):
        require_strided(name, layout)
        if out is not None:
            require_dtype(out, dtype)
            return deliver(operator(n, d, dtype=out.dtype), out)
        return finish(operator(n, d, dtype=dtype or default_dtype(), device=as_device(device)), requires_grad)
    sentence = f"Return the frequencies of the bins of `{'r' * (name[0] == 'r')}fft`."
    frequencies = named(frequencies, name, sentence)
    return overridable(refusing(frequencies), strict_arguments(frequencies))  # a docstring is made when it is asked for


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


@both
def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None, align_to_window=None):
    """Return the Fourier transforms of overlapping windows of a signal.

    Parameters
    ----------
    input : Tensor
        One signal or a batch of them.
    n_fft : int
        The size of each transform.
    hop_length : int, optional
        How far windows are apart; a quarter of `n_fft` by default.
    win_length : int, optional
        The size of the window, `n_fft` by default.
    window : Tensor, optional
        Factors of the samples, ones by default.
    center : bool, optional, default=True
        Whether the signal is padded so that windows are centred on their samples.
    pad_mode : str, optional, default="reflect"
        How it is padded.
    normalized : bool, optional, default=False
        Whether results are divided by the root of `n_fft`.
    onesided : bool, optional
        Whether only half the bins are returned; for real signals the default.
    return_complex : bool, optional
        Whether the result is complex; real signals have to say it.
    align_to_window : bool, optional
        Whether, without `center`, the first window starts with the signal rather than `n_fft` does.

    Returns
    -------
    Tensor
        (..., bins, windows), and an axis of real and imaginary parts unless complex.

    """
    if align_to_window is not None and center:
        raise RuntimeError("stft: got align_to_window with center=True, expected it with center=False")
    if align_to_window:
        # Windows may then reach beyond the signal, as far as they are empty there.
        empty = n_fft - (n_fft if win_length is None else win_length)
        input = ops.pad(input, (empty // 2, empty - empty // 2))
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, expected "
                               "return_complex=True")
        return_complex = True
    if not return_complex:
        warnings.warn("stft: got return_complex=False, which is deprecated; expected True")
    made = ops.stft(input, n_fft, hop_length, win_length, window, bool(center), pad_mode, normalized, onesided,
                    True)
    return made if return_complex else ops.view_as_real(made)


@both
def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
          length=None, return_complex=False):
    """Return the signal of which `stft` made these transforms."""
    if not input.dtype.is_complex:
        raise RuntimeError(f"istft: got {input.dtype}, expected a complex dtype; use view_as_complex")
    if onesided is None:
        onesided = input.shape[-2] != n_fft
    if not onesided and not return_complex:
        # Of a real signal one half says all; what the other says is not asked.
        input, onesided = ops.narrow(input, -2, 0, n_fft // 2 + 1), True
    return ops.istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                     return_complex)


def window_of(name, window_length, periodic, shape_it, options):
    """Return a window: a formula of the numbers from 0, one more of them if it is periodic."""
    unknown = set(options) - {"dtype", "layout", "device", "pin_memory", "requires_grad"}
    if unknown:
        raise TypeError(f"{name}: got an unexpected keyword argument {unknown.pop()!r}")
    require_strided(name, options.get("layout"))
    dtype = as_dtype(options.get("dtype")) or default_dtype()
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name}: got {dtype}, expected a floating dtype")
    if window_length < 0:
        raise RuntimeError(f"{name}: got window_length {window_length}, expected no negative number")
    where = as_device(options.get("device"))
    if window_length < 2:
        made = ops.ones((window_length,), dtype=dtype, device=where)
    else:
        steps = window_length if periodic else window_length - 1
        # Halves are too coarse to count far in.
        fine = "float32" if dtype.itemsize < 4 else dtype
        made = shape_it(ops.arange(0, steps + 1, dtype=fine, device=where), steps)
        made = ops.narrow(made, 0, 0, window_length) if periodic else made
        made = made if made.dtype == dtype else ops.cast(made, dtype)
        made = ops.clone(made) if periodic else made
    return finish(made, options.get("requires_grad", False))


@function
def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options):
    """Return `alpha - beta * cos(2 pi n / N)`."""
    def cosine(n, steps):
        return ops.cos(n * (math.pi * 2.0 / steps)) * -beta + alpha
    return window_of("hamming_window", window_length, periodic, cosine, options)


@function
def hann_window(window_length, periodic=True, **options):
    """Return `(1 - cos(2 pi n / N)) / 2`."""
    def cosine(n, steps):
        return ops.cos(n * (math.pi * 2.0 / steps)) * -0.5 + 0.5
    return window_of("hann_window", window_length, periodic, cosine, options)


@function
def blackman_window(window_length, periodic=True, **options):
    """Return `0.42 - 0.5 * cos(2 pi n / N) + 0.08 * cos(4 pi n / N)`."""
    def cosines(n, steps):
        n = n * (math.pi / steps)
        return ops.cos(n * 4) * 0.08 - ops.cos(n * 2) * 0.5 + 0.42
    return window_of("blackman_window", window_length, periodic, cosines, options)


@function
def bartlett_window(window_length, periodic=True, **options):
    """Return a triangle."""
    def triangle(n, steps):
        rise = n * (2.0 / steps)
        return ops.where(n <= steps // 2, rise, 2 - rise)
    return window_of("bartlett_window", window_length, periodic, triangle, options)


@function
def kaiser_window(window_length, periodic=True, beta=12.0, **options):
    """Return Bessel functions of a half circle, `beta` wide."""
    def half_circle(n, steps):
        x = beta * ops.sqrt(ops.clamp(1 - ops.square(n * (2.0 / steps) - 1), 0))
        return ops.i0(x) / ops.i0(ops.full_like(x, beta))
    return window_of("kaiser_window", window_length, periodic, half_circle, options)
