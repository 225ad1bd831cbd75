"""Segments, the best of rows, and Fourier transforms."""
import collections

from dragon.core.capture.host_calls import is_writing
from dragon.core.capture.shape_inference import count_by_numbers
from dragon.core.modes import is_phantom, is_recording
from dragon.vm.keras.ops.common import (along, cast_to, dtype_of, named, operation, ops, places_of, positive, publish,
                                        ranked, tensor)
from dragon.vm.shared.written.nodes import spectrum

erf = publish(lambda x: ops.erf(tensor(x)), "erf", "Return the error function of each element.")
erfc = publish(lambda x: ops.erfc(tensor(x)), "erfc", "Return 1 less the error function of each element.")
erfinv = publish(lambda x: ops.erfinv(tensor(x)), "erfinv", "Return the inverse error function of each element.")
rsqrt = publish(lambda x: ops.rsqrt(tensor(x)), "rsqrt", "Return 1 / sqrt(x) of each element.")
logdet = publish(lambda x: ops.real(ops.logdet(tensor(x))), "logdet",
                 "Return the logarithm of the determinant of positive matrices.")


@operation
def logsumexp(x, axis=None, keepdims=False):
    """Return the logarithm of the sum of exponentials, without overflow. ..."""
    x = tensor(x)
    return ops.logsumexp(*along(x, list(range(x.ndim)) if axis is None else axis, keepdims))


TopKV2 = collections.namedtuple("TopKV2", "values indices")


@operation
def top_k(x, k, sorted=True):
    """Return the largest elements of the last axis, and their places.

    Parameters
    ----------
    sorted : bool, optional, default=True
        In falling order.

    Returns
    -------
    TopKV2
        The elements as `values`, their places as `indices`, int32.

    """
    x = tensor(x)
    if k > x.shape[-1]:
        raise ValueError(f"top_k: input must have at least k columns. Received: k={k}, x.shape={tuple(x.shape)}")
    # Equal elements come in the order of their places.
    values, places = ops.sort(x, -1, True, True)
    return TopKV2(ops.narrow(values, -1, 0, k), cast_to(ops.narrow(places, -1, 0, k), "int32"))


@operation
def in_top_k(targets, predictions, k):
    """Return for each row whether the named class is among the k largest predictions; ties count as in.

    Parameters
    ----------
    targets : Tensor
        A class for each row.
    predictions : Tensor
        A row of classes for each.

    Returns
    -------
    Tensor
        Truths.

    """
    predictions = tensor(predictions)
    targets, classes = cast_to(tensor(targets), "int64"), predictions.shape[-1]
    known = ops.logical_and(ops.ge(targets, 0), ops.lt(targets, classes))
    own = ops.gather(predictions, 1, ops.unsqueeze(ops.where(known, targets, 0), 1))
    better = ops.sum(cast_to(ops.gt(predictions, own), "int32"), 1)
    sound = ops.logical_and(known, ops.isfinite(ops.squeeze(own, 1)))
    return ops.logical_and(ops.lt(better, k), sound)


# What stands for segments without elements: the least and largest numbers of a dtype, for "amax" and "amin".
_ENDS = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
         "float64": 1.7976931348623157e308, "int8": 127, "int16": 2 ** 15 - 1, "int32": 2 ** 31 - 1,
         "int64": 2 ** 63 - 1}


def _segments(data, segment_ids, num_segments, sorted, how):
    if sorted and num_segments is not None:
        raise ValueError("Argument `num_segments` cannot be set when sorted is True when using the tensorflow backend. "
                         f"Received: num_segments={num_segments}, sorted={sorted}")
    data, places = tensor(data), cast_to(places_of(segment_ids, "segment_ids"), "int64")
    if places.ndim != 1:
        raise ValueError("Argument `segment_ids` should be an 1-D vector, got shape: "
                         f"{tuple(places.shape)}. Received: segment_ids.shape={tuple(places.shape)}")
    if data.shape[:1] != places.shape and not is_phantom():
        raise ValueError("Argument `segment_ids` and `data` should have same leading dimension. Received: "
                         f"segment_ids.shape={tuple(places.shape)}, data.shape={tuple(data.shape)}")
    if num_segments is None:
        num_segments = 0 if places.shape[0] == 0 else count_by_numbers(lambda: int(ops.amax(places).item()) + 1)
    # Elements of no segment go to one that is dropped.
    outside = ops.logical_or(ops.lt(places, 0), ops.ge(places, num_segments))
    places = ops.where(outside, num_segments, places)
    shape = (num_segments + 1, *data.shape[1:])
    if how == "sum":
        made = ops.index_add(ops.zeros(shape, dtype=dtype_of(data)), 0, places, data)
    else:
        end = _ENDS.get(dtype_of(data), 255)
        low = 0 if dtype_of(data) == "uint8" else -end if isinstance(end, float) else -end - 1
        start = {"amax": 0 if sorted else low, "amin": 0 if sorted else end, "prod": 1}[how]
        made = ops.full(shape, start, dtype=dtype_of(data))
        made = ops.index_reduce(made, 0, places, data, how, include_self=not sorted or how == "prod")
    return ops.narrow(made, 0, 0, num_segments)


def _segment(name, what, how):
    def function(data, segment_ids, num_segments=None, sorted=False):
        return _segments(data, segment_ids, num_segments, sorted, how)
    return named(function, name, f"""Return the {what} of the rows of each segment.

    Parameters
    ----------
    data : Tensor
        Rows.
    segment_ids : Tensor
        The segment of each row.
    num_segments : int, optional
        How many segments; by default as many as are named.
    sorted : bool, optional, default=False
        Whether the segments stand in order.

    Returns
    -------
    Tensor
        A row for each segment.

    """)


segment_sum = _segment("segment_sum", "sum", "sum")
segment_max = _segment("segment_max", "largest elements", "amax")
segment_min = _segment("segment_min", "smallest elements", "amin")
segment_prod = _segment("segment_prod", "product", "prod")


@operation
def cdist(x, y):
    """Return the distances of each row of `x` from each of `y`."""
    x, y = tensor(x), tensor(y)
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError("`cdist` inputs must have rank >= 2 and a common last dimension. "
                         f"Received: x.shape={tuple(x.shape)}, y.shape={tuple(y.shape)}")
    gap = ops.sub(ops.unsqueeze(x, -2), ops.unsqueeze(y, -3))
    return ops.sqrt(ops.sum(ops.square(gap), -1))


@operation
def view_as_complex(x):
    """Return complex numbers from pairs along the last axis."""
    x = tensor(x)
    if not x.ndim or x.shape[-1] != 2:
        raise ValueError("Last dimension of input must be size 2 (real and imaginary). "
                         f"Received: x.shape={tuple(x.shape)}")
    dtype = dtype_of(x) if dtype_of(x) in ("float32", "float64") else "float32"
    return cast_to(ops.complex(*ops.unbind(cast_to(x, dtype), -1)), "complex64")


@operation
def view_as_real(x):
    """Return complex numbers as pairs along a new last axis."""
    x = tensor(x)
    return ops.stack([ops.real(x), ops.imag(x)], -1)


@operation
def extract_sequences(x, sequence_length, sequence_stride):
    """Return pieces of the last axis, which may overlap. ...

    Returns
    -------
    Tensor
        With two axes in place of the last one.

    """
    return ops.unfold(ranked(tensor(x), 1), -1, positive(sequence_length, "sequence_length"),
                      positive(sequence_stride, "sequence_stride"))


def _complex(x, rank=1):
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}")
    real, imag = map(tensor, x)
    if tuple(real.shape) != tuple(imag.shape):
        raise ValueError("Both the real and imaginary parts should have the same shape. "
                         f"Received: x[0].shape = {tuple(real.shape)}, x[1].shape = {tuple(imag.shape)}")
    ranked(real, rank)
    if "float" not in dtype_of(real) or "float" not in dtype_of(imag):
        raise ValueError("Both the real and imaginary parts should be floating. "
                         f"Received: {dtype_of(real)} and {dtype_of(imag)}")
    return ops.complex(real, imag)


def _parts(x):
    return ops.real(x), ops.imag(x)


@operation
def fft(x):
    """Return Fourier's transform of the last axis of complex numbers, given and returned as (real, imaginary)."""
    return _parts(ops.fft_fft(_complex(x)))


@operation
def fft2(x):
    """Return Fourier's transform of the last two axes of complex numbers, given and returned as (real, imaginary)."""
    return _parts(ops.fft_fft2(_complex(x, 2)))


def _spectrum(x, fft_length=None):
    """Return the real and imaginary parts of Fourier's transforms of real numbers."""
    if is_writing() and not is_recording():  # what files have in its place has no gradient here
        return tuple(spectrum(x, fft_length))
    return _parts(ops.fft_rfft(x, fft_length))


@operation
def rfft(x, fft_length=None):
    """Return Fourier's transform of the last axis of real numbers, as (real, imaginary).

    Parameters
    ----------
    fft_length : int, optional
        To which length they are cut or filled.

    Returns
    -------
    Tuple[Tensor, Tensor]
        Half of the transform: the other half is its mirror.

    """
    return _spectrum(ranked(tensor(x), 1), fft_length)


ifft2 = named(lambda x: _parts(ops.fft_ifft2(_complex(x, 2))), "ifft2", "Return the inverse of `fft2`.")
irfft = named(lambda x, fft_length=None: ops.fft_irfft(_complex(x), fft_length), "irfft",
              "Return the inverse of `rfft`, with the same length.")


def _window_of(window, sequence_length, fft_length, dtype):
    """Return a window in the middle of a transform's places; None if there is none."""
    if window is None:
        return None
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ValueError("If a string is passed to `window`, it must be one of `\"hann\"`, `\"hamming\"`. "
                             f"Received: window={window}")
        first = 0.5 if window == "hann" else 0.54
        turn = ops.mul(ops.arange(sequence_length, dtype=dtype), 2 * 3.141592653589793 / sequence_length)
        window = ops.sub(first, ops.mul(ops.cos(turn), 1 - first))
    window = tensor(window, dtype)
    if tuple(window.shape) != (sequence_length,):
        raise ValueError("The shape of `window` must be equal to [sequence_length]. "
                         f"Received: window shape={tuple(window.shape)}")
    before = (fft_length - sequence_length) // 2
    return ops.pad(window, [before, fft_length - sequence_length - before])


@operation
def stft(x, sequence_length, sequence_stride, fft_length, window="hann", center=True):
    """Return Fourier's transforms of overlapping pieces of the last axis.

    Parameters
    ----------
    x : Tensor
        The signal.
    fft_length : int
        To which length they are filled.
    window : Union[str, Tensor], optional, default="hann"
        What they are multiplied by: "hann", "hamming", numbers, or None.
    center : bool, optional, default=True
        Mirror the ends, so that a piece's middle stands at its place.

    Returns
    -------
    Tuple[Tensor, Tensor]
        Real and imaginary parts: pieces, frequencies.

    """
    x = tensor(x)
    if dtype_of(x) not in ("float32", "float64"):
        raise TypeError(f"Invalid input type. Expected `float32` or `float64`. Received: input type={dtype_of(x)}")
    if fft_length < sequence_length:
        raise ValueError("`fft_length` must equal or larger than `sequence_length`. "
                         f"Received: sequence_length={sequence_length}, fft_length={fft_length}")
    window = _window_of(window, sequence_length, fft_length, dtype_of(x))
    if center:
        from dragon.vm.keras.ops.numpy.shapes import pad
        x = pad(x, [(0, 0)] * (x.ndim - 1) + [(fft_length // 2, fft_length // 2)], "reflect")
    pieces = ops.unfold(ranked(x, 1), -1, fft_length, positive(sequence_stride, "sequence_stride"))
    return _spectrum(pieces if window is None else ops.mul(pieces, window))


def _overlap_add(pieces, stride):
    """Return the sum of pieces [.., count, length], each `stride` places after the one before."""
    count, length = pieces.shape[-2:]
    places = ops.add(ops.mul(ops.unsqueeze(ops.arange(count), 1), stride), ops.arange(length))
    flat = ops.reshape(pieces, (-1, count * length))
    made = ops.zeros((flat.shape[0], (count - 1) * stride + length), dtype=dtype_of(pieces))
    made = ops.index_add(made, 1, ops.reshape(places, (-1,)), flat)
    return ops.reshape(made, (*pieces.shape[:-2], -1))


@operation
def istft(x, sequence_length, sequence_stride, fft_length, length=None, window="hann", center=True):
    """Return the signal that `stft` would have transformed.

    Parameters
    ----------
    x : Tuple[Tensor, Tensor]
        Real and imaginary parts: pieces, frequencies.
    sequence_length, sequence_stride, fft_length, window, center
        As of `stft`.
    length : int, optional
        The length of the signal.

    Returns
    -------
    Tensor
        The signal.

    """
    positive(sequence_stride, "sequence_stride")
    pieces = ops.fft_irfft(_complex(x, 2), fft_length)
    window = _window_of(window, sequence_length, fft_length, dtype_of(pieces))
    if window is not None:
        # What overlapping windows add up to is divided away, piece by piece.
        overlaps = -(-fft_length // sequence_stride)
        squares = ops.pad(ops.square(window), [0, overlaps * sequence_stride - fft_length])
        total = ops.tile(ops.sum(ops.reshape(squares, (overlaps, sequence_stride)), 0), [overlaps])
        pieces = ops.mul(pieces, ops.div(window, ops.narrow(total, 0, 0, fft_length)))
    signal = _overlap_add(pieces, sequence_stride)
    start = fft_length // 2 if center else 0
    if length is not None:
        stop = start + length
    else:
        stop = -(fft_length // 2) if center else signal.shape[-1]
    return ops.slice(signal, -1, start, stop)
