"""Signals: Fourier and cosine transforms, windows, frames and spectrograms."""
import math

from dragon.vm.shared.arrays.array import as_ints, at_least, check_axis
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.operators import refuse_dtype
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numbers.rows import COMPLEX


# --- Fourier transforms

def _complex_transform(name, rank, run, words):
    """Make a transform of complex numbers over the last axes."""
    def function(input, name=None):
        x = take(input) if hasattr(input, "dtype") else convert_to_tensor(input, dtype_hint="complex64")
        if x.dtype not in COMPLEX:
            raise refuse_dtype(function.__name__.upper(), x.dtype, "Tcomplex")
        if x.ndim < rank:
            raise invalid_argument(f"Input must have rank of at least {rank} but got: {x.ndim}")
        if 0 in x.shape[-rank:]:
            return ops.clone(x)
        return run(x, None, list(range(-rank, 0)))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {words} over the last {rank} axes."
    return function


fft = _complex_transform("fft", 1, ops.fft_fftn, "the Fourier transform")
fft2d = _complex_transform("fft2d", 2, ops.fft_fftn, "the Fourier transform")
fft3d = _complex_transform("fft3d", 3, ops.fft_fftn, "the Fourier transform")
ifft = _complex_transform("ifft", 1, ops.fft_ifftn, "the inverse Fourier transform")
ifft2d = _complex_transform("ifft2d", 2, ops.fft_ifftn, "the inverse Fourier transform")
ifft3d = _complex_transform("ifft3d", 3, ops.fft_ifftn, "the inverse Fourier transform")


def _real_transform(name, rank, run, words, complex_in):
    """Make a transform from or to real numbers over the last axes."""
    def function(input_tensor, fft_length=None, name=None):
        x = take(input_tensor)
        if (x.dtype in COMPLEX) is not complex_in or not (x.dtype.is_floating or x.dtype.is_complex):
            raise refuse_dtype(function.__name__.upper(), x.dtype, "Tcomplex" if complex_in else "Treal")
        if x.ndim < rank:
            raise ValueError(f"Input must have rank of at least {rank} but got: {x.ndim}")
        lengths = None if fft_length is None else as_ints(fft_length)
        lengths = [lengths] if isinstance(lengths, int) else lengths
        if lengths is None and not complex_in and 0 in x.shape[-rank:]:
            width = x.shape[-1] // 2 + bool(x.shape[-1])
            return ops.zeros((*x.shape[:-1], width), dtype="complex128" if x.dtype.name == "float64" else "complex64")
        return run(x, lengths, list(range(-rank, 0)))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {words} over the last {rank} axes."
    return function


rfft = _real_transform("rfft", 1, ops.fft_rfftn, "the Fourier transform of real numbers", False)
rfft2d = _real_transform("rfft2d", 2, ops.fft_rfftn, "the Fourier transform of real numbers", False)
rfft3d = _real_transform("rfft3d", 3, ops.fft_rfftn, "the Fourier transform of real numbers", False)
irfft = _real_transform("irfft", 1, ops.fft_irfftn, "the inverse Fourier transform to real numbers", True)
irfft2d = _real_transform("irfft2d", 2, ops.fft_irfftn, "the inverse Fourier transform to real numbers", True)
irfft3d = _real_transform("irfft3d", 3, ops.fft_irfftn, "the inverse Fourier transform to real numbers", True)


def _shift_axes(axes):
    axes = None if axes is None else as_ints(axes)
    return [axes] if isinstance(axes, int) else axes


def fftshift(x, axes=None, name=None):
    """Return a spectrum with frequency 0 in the middle."""
    return ops.fft_fftshift(take(x), _shift_axes(axes))


def ifftshift(x, axes=None, name=None):
    """Return a spectrum with frequency 0 first; the reverse of `fftshift`."""
    return ops.fft_ifftshift(take(x), _shift_axes(axes))


# --- windows

def _places(length, dtype):
    return ops.arange(0, int(length), dtype=dtype)


def _raised_cosine(length, periodic, dtype, first):
    length = int(length)
    if length <= 1:
        return ops.ones((max(length, 0),), dtype=dtype)
    count = length if periodic and length % 2 == 0 else length - 1
    return first - (1 - first) * ops.cos(_places(length, dtype) * (2 * math.pi / count))


def hann_window(window_length, periodic=True, dtype=float32, name=None):
    """Return a window of a raised cosine that begins at 0."""
    return _raised_cosine(window_length, periodic, as_dtype(dtype), 0.5)


def hamming_window(window_length, periodic=True, dtype=float32, name=None):
    """Return a window of a raised cosine that begins at 0.08."""
    return _raised_cosine(window_length, periodic, as_dtype(dtype), 0.54)


def kaiser_window(window_length, beta=12.0, dtype=float32, name=None):
    """Return Kaiser's window: the larger `beta`, the narrower."""
    length, dtype = int(window_length), as_dtype(dtype)
    if length <= 1:
        return ops.ones((max(length, 0),), dtype=dtype)
    half = (length - 1) / 2
    places = (_places(length, dtype) - half) / half
    beta = take(beta, dtype)
    # Both are divided by their exponentials, so that neither is too large.
    inner = beta * ops.sqrt(ops.clamp(1.0 - ops.square(places), 0.0))
    return ops.exp(inner - beta) * ops.i0e(inner) / ops.i0e(beta)


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=float32, name=None):
    """Return the window that Kaiser's gives for the MDCT."""
    half = int(window_length) // 2
    sums = ops.cumsum(kaiser_window(half + 1, beta, dtype), 0)
    side = ops.sqrt(sums[:-1] / sums[-1])
    return ops.cat([side, ops.flip(side, [0])], 0)


def vorbis_window(window_length, dtype=float32, name=None):
    """Return the window of Vorbis."""
    places = _places(window_length, as_dtype(dtype)) + 0.5
    return ops.sin(math.pi / 2 * ops.square(ops.sin(places * (math.pi / max(int(window_length), 1)))))


# --- frames

def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Return windows of a signal along an axis, which becomes two: which window, and what is in it.

    Parameters
    ----------
    signal : Tensor
        The signal.
    pad_value : number, optional, default=0
        With what.
    axis : int, optional, default=-1
        The axis.

    Returns
    -------
    Tensor
        The windows.

    """
    x, length, step = take(signal), int(frame_length), int(frame_step)
    axis = check_axis(axis, x.ndim, "tf.signal.frame")
    size = x.shape[axis]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size)
        x = ops.pad(x, [0, 0] * (x.ndim - 1 - axis) + [0, missing], "constant", pad_value)
    else:
        count = max(0, 1 + (size - length) // step)
    if not count:
        return ops.zeros((*x.shape[:axis], 0, length, *x.shape[axis + 1:]), dtype=x.dtype)
    places = ops.unsqueeze(ops.arange(0, count, dtype="int64") * step, -1) + ops.arange(0, length, dtype="int64")
    found = ops.index_select(x, axis, ops.reshape(places, (-1,)))
    return ops.reshape(found, (*x.shape[:axis], count, length, *x.shape[axis + 1:]))


def overlap_and_add(signal, frame_step, name=None):
    """Return the signal whose windows, so far apart, are the rows; where they overlap, they add up."""
    x, step = at_least(take(signal), 2, "tf.signal.overlap_and_add"), int(frame_step)
    count, length = x.shape[-2:]
    total = length + step * (count - 1)
    places = ops.unsqueeze(ops.arange(0, count, dtype="int64") * step, -1) + ops.arange(0, length, dtype="int64")
    rows = ops.reshape(x, (math.prod(x.shape[:-2]), count * length))
    made = ops.index_add(ops.zeros((rows.shape[0], total), dtype=x.dtype), 1, ops.reshape(places, (-1,)), rows)
    return ops.reshape(made, (*x.shape[:-2], total))


def _enclosing_power(number):
    return 1 << max(0, (int(number) - 1).bit_length())


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """Return the Fourier transforms of windows of signals.

    Parameters
    ----------
    signals : Tensor
        Real signals along the last axis.
    window_fn : Optional[Callable], optional
        Makes the window of a length; None for none.

    Returns
    -------
    Tensor
        Complex numbers: windows along the last axis but one, frequencies along the last.

    """
    frames = frame(signals, frame_length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(int(frame_length), dtype=frames.dtype)
    return rfft(frames, [_enclosing_power(frame_length) if fft_length is None else int(fft_length)])


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """Return signals from the transforms of their windows.

    Parameters
    ----------
    stfts : Tensor
        What `stft` gives.
    window_fn : Optional[Callable], optional
        Makes the window of a length, see `inverse_stft_window_fn`; None for none.

    Returns
    -------
    Tensor
        Real signals along the last axis.

    """
    length = int(frame_length)
    frames = irfft(stfts, [_enclosing_power(length) if fft_length is None else int(fft_length)])
    missing = max(0, length - frames.shape[-1])
    frames = ops.pad(frames, [0, missing])[..., :length]
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """Return what makes the window with which `inverse_stft` undoes the window of `stft`."""
    def window(frame_length, dtype):
        length, step = int(frame_length), int(frame_step)
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = ops.pad(ops.square(forward), [0, overlaps * step - length])
        sums = ops.sum(ops.reshape(squares, (overlaps, step)), 0, True)
        return forward / ops.reshape(ops.broadcast_to(sums, (overlaps, step)), (-1,))[:length]
    return window


# --- cosine transforms

def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """Return the cosine transform of the last axis.

    Parameters
    ----------
    input : Tensor
        Real numbers.
    type : int, optional, default=2
        1, 2, 3 or 4.
    n : int, optional
        How many numbers of the axis are taken; zeros are added if there are fewer.
    axis : int, optional, default=-1
        Must be -1.
    norm : Optional[str], optional
        "ortho" for an orthogonal transform.

    Returns
    -------
    Tensor
        As many numbers.

    """
    _check_cosine(type, n, axis, norm)
    x = at_least(take(input), 1, "tf.signal.dct")
    if not x.shape[-1] and not n and type != 1:
        return ops.clone(x)
    if n is not None:
        x = x[..., :int(n)] if int(n) <= x.shape[-1] else ops.pad(x, [0, int(n) - x.shape[-1]])
    size = x.shape[-1]
    if type == 1 and size < 2:
        raise ValueError(f"Dimension must be at least 2 for type 1. Received: {size}")
    places, waves = _places(size, x.dtype), ops.unsqueeze(_places(size, x.dtype), -1)
    if norm == "ortho" and type == 3:
        x = ops.cat([x[..., :1] * math.sqrt(size), x[..., 1:] * math.sqrt(size / 2)], -1)
        return _product(x, ops.cos(math.pi / size * (waves + 0.5) * places), places, True) / size
    if type == 1:
        inner = ops.cos(math.pi / (size - 1) * waves * places)
        weights = ops.cat([ops.ones((1,), dtype=x.dtype), ops.full((size - 2,), 2.0, dtype=x.dtype),
                           ops.ones((1,), dtype=x.dtype)], 0)
        return ops.matmul(_row(x * weights), ops.matrix_transpose(inner))[..., 0, :]
    if type == 2:
        made = 2.0 * _product(x, ops.cos(math.pi / size * (places + 0.5) * waves), places, False)
        if norm == "ortho":
            made = ops.cat([made[..., :1] * 0.5 * math.sqrt(1 / size), made[..., 1:] * 0.5 * math.sqrt(2 / size)], -1)
        return made
    if type == 3:
        return _product(x, ops.cos(math.pi / size * (waves + 0.5) * places), places, True)
    made = 2.0 * _product(x, ops.cos(math.pi / size * (waves + 0.5) * (places + 0.5)), places, False)
    return made * (math.sqrt(2 / size) * 0.5) if norm == "ortho" else made


def _row(x):
    return ops.unsqueeze(x, -2)


def _product(x, matrix, places, halves_first):
    """Return sums of numbers times waves; type 3 takes the first number once and the others twice."""
    if halves_first:
        x = x * ops.where(ops.eq(places, 0), ops.ones_like(places), ops.full_like(places, 2.0))
    return ops.matmul(_row(x), ops.matrix_transpose(matrix))[..., 0, :]


def _check_cosine(type, n, axis, norm):
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported. Received: type={type}")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and int(n) < 1:
        raise ValueError(f"n should be a positive integer or None. Received: n={n}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT. Received: norm='ortho'")


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """Return the inverse of the cosine transform, but for a factor of twice the length where `norm` is None."""
    inverse = {1: 1, 2: 3, 3: 2, 4: 4}.get(type)
    if inverse is None:
        _check_cosine(type, n, axis, norm)
    return dct(input, inverse, n, axis, norm)


def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """Return the modified cosine transforms of windows of signals that overlap by half."""
    length = int(frame_length)
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4. Received: {length}")
    half = length // 2
    frames = frame(signals, length, half, pad_end)
    window = window_fn(length, dtype=frames.dtype) if window_fn is not None else math.sqrt(0.5)
    a, b, c, d = ops.split(frames * window, length // 4, -1)
    first = -ops.flip(c, [-1]) - d
    return dct(ops.cat([first, a - ops.flip(b, [-1])], -1), type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """Return signals from the modified cosine transforms of their windows."""
    x = at_least(take(mdcts), 2, "tf.signal.inverse_mdct")
    half = x.shape[-1]
    whole = idct(x, type=4, norm=norm) * (1.0 if norm == "ortho" else 0.5 / half)
    first, second = ops.split(whole, half // 2, -1)
    frames = ops.cat([second, -ops.flip(second, [-1]), -ops.flip(first, [-1]), -first], -1)
    frames = frames * (window_fn(2 * half, dtype=x.dtype) if window_fn is not None else math.sqrt(0.5))
    return overlap_and_add(frames, half)


# --- hearing

def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000,
                                lower_edge_hertz=125.0, upper_edge_hertz=3800.0, dtype=float32, name=None):
    """Return the matrix that makes spectra of frequencies as they are heard (mels) of spectra.

    Parameters
    ----------
    num_mel_bins, num_spectrogram_bins : int, optional
        How many columns and rows.
    sample_rate : float, optional, default=8000
        Samples per second.
    lower_edge_hertz, upper_edge_hertz : float, optional
        Between which frequencies.
    dtype : DType, optional, default=float32
        Of the matrix.

    Returns
    -------
    Tensor
        The matrix.

    """
    rate = float(sample_rate)
    if num_mel_bins <= 0 or lower_edge_hertz < 0 or lower_edge_hertz >= upper_edge_hertz or rate <= 0 or (
            upper_edge_hertz > rate / 2):
        raise ValueError("Expected mel bins, and frequencies that rise within half the sample rate. Received: "
                         f"num_mel_bins={num_mel_bins}, sample_rate={sample_rate}, "
                         f"lower_edge_hertz={lower_edge_hertz}, upper_edge_hertz={upper_edge_hertz}")
    dtype = as_dtype(dtype)
    frequencies = ops.linspace(0.0, rate / 2, int(num_spectrogram_bins), dtype=dtype)[1:]
    heard = ops.unsqueeze(1127.0 * ops.log1p(frequencies / 700.0), -1)
    low, high = (1127.0 * math.log1p(edge / 700.0) for edge in (lower_edge_hertz, upper_edge_hertz))
    edges = ops.linspace(low, high, int(num_mel_bins) + 2, dtype=dtype)
    lower, center, upper = (ops.unsqueeze(part, 0) for part in (edges[:-2], edges[1:-1], edges[2:]))
    sides = ops.minimum((heard - lower) / (center - lower), (upper - heard) / (upper - center))
    return ops.pad(ops.maximum(sides, 0.0), [0, 0, 1, 0])


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Return cepstral coefficients of logarithms of spectra of mels."""
    x = at_least(take(log_mel_spectrograms), 1, "tf.signal.mfccs_from_log_mel_spectrograms")
    return dct(x, type=2) * (1.0 / math.sqrt(2.0 * x.shape[-1]))
