"""Sound as its frequencies over time."""

import math

from dragon.core import warnings
from dragon.vm.keras import ops as K
from dragon.vm.keras.core.config import epsilon, image_data_format
from dragon.vm.keras.core.configuration import parameters
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer

# The scale of the ear: where it bends, and how steep it is above.
BREAK, STEEPNESS = 700.0, 1127.0
MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")


def _mel(hertz):
    return STEEPNESS * K.log(1.0 + hertz / BREAK)


class MelSpectrogram(DataLayer):
    """How loud bands of frequencies are over time, bands as wide as the ear has them.

    Parameters
    ----------
    fft_length : int, optional, default=2048
        The length of each transform.
    sequence_stride : int, optional, default=512
        How far it is from one to the next.
    sequence_length : Optional[int], optional
        The length of the window, that of the transform by default.
    window : Optional[str], optional, default="hann"
        Its form.
    num_mel_bins : int, optional, default=128
        How many bands.
    min_freq, max_freq : Optional[float], optional
        Where they begin and end, from 20 to half the rate by default.
    power_to_db : bool, optional, default=True
        Return decibels.
    top_db : float, optional, default=80.0
        How far below the loudest all others may be.
    mag_exp : float, optional, default=2.0
        The power of magnitudes.
    min_power, ref_power : float, optional
        The least power, and that of zero decibels.

    """

    def __init__(self, fft_length=2048, sequence_stride=512, sequence_length=None, window="hann", sampling_rate=16000,
                 num_mel_bins=128, min_freq=20.0, max_freq=None, power_to_db=True, top_db=80.0, mag_exp=2.0,
                 min_power=1e-10, ref_power=1.0, **kwargs):
        given = dict(locals())
        super().__init__(**kwargs)
        given["sequence_length"] = sequence_length or fft_length
        given["max_freq"] = max_freq or int(sampling_rate / 2)
        if fft_length < given["sequence_length"]:
            raise ValueError("`fft_length` must be greater than or equal to `sequence_length`. Received: "
                             f"`sequence_length`={sequence_length}, `fft_length`={fft_length}.")
        for name in parameters(MelSpectrogram.__init__):
            setattr(self, name, given[name])

    def call(self, inputs):
        """Return bands over time of signals `(batch, time)` or of one."""
        dtype = self.compute_dtype if self.compute_dtype in ("float32", "float64") else "float32"
        inputs = convert_to_tensor(inputs, dtype=dtype)
        real, imaginary = K.stft(inputs, sequence_length=self.sequence_length, sequence_stride=self.sequence_stride,
                                 fft_length=self.fft_length, window=self.window, center=True)
        power = K.power(K.sqrt(K.square(real) + K.square(imaginary)), self.mag_exp)
        matrix = self.linear_to_mel_weight_matrix(self.num_mel_bins, power.shape[-1], self.sampling_rate,
                                                  self.min_freq, self.max_freq, dtype)
        bands = K.matmul(power, matrix)
        if self.power_to_db:
            bands = self._decibels(bands)
        return K.cast(K.swapaxes(bands, -1, -2), self.compute_dtype)

    def _decibels(self, power):
        reference = 10.0 * math.log10(max(abs(self.ref_power), self.min_power))
        made = 10.0 * K.log10(K.maximum(power, self.min_power)) - reference
        return K.maximum(made, K.max(made) - self.top_db)

    def linear_to_mel_weight_matrix(self, num_mel_bins=20, num_spectrogram_bins=129, sampling_rate=8000,
                                    lower_edge_hertz=125.0, upper_edge_hertz=3800.0, dtype="float32"):
        """Return how much of each frequency is in each band: triangles, as wide as the ear has them.

        Parameters
        ----------
        num_mel_bins, num_spectrogram_bins : int, optional
            How many bands and frequencies.
        lower_edge_hertz, upper_edge_hertz : float, optional
            Where bands begin and end.

        """
        frequencies = K.linspace(0.0, sampling_rate / 2.0, num_spectrogram_bins, dtype=dtype)[1:]
        places = K.expand_dims(_mel(frequencies), 1)
        low, high = (_mel(convert_to_tensor(edge, dtype=dtype)) for edge in (lower_edge_hertz, upper_edge_hertz))
        edges = K.expand_dims(K.linspace(low, high, num_mel_bins + 2), 0)
        lower, middle, upper = edges[:, :-2], edges[:, 1:-1], edges[:, 2:]
        rising, falling = (places - lower) / (middle - lower), (upper - places) / (upper - middle)
        # The lowest frequency is that of a constant, and in no band.
        return K.pad(K.maximum(K.minimum(rising, falling), 0.0), ((1, 0), (0, 0)))

    def compute_output_shape(self, input_shape):
        """Return the shape of the bands."""
        length = input_shape[-1]
        steps = None if length is None else (length + self.sequence_stride + 1) // self.sequence_stride
        return [*input_shape[:-1][:1], self.num_mel_bins, steps]


class STFTSpectrogram(Layer):
    """The frequencies of signals over time, by convolutions whose kernels may be trained.

    Parameters
    ----------
    mode : str, optional, default="log"
        "log", "magnitude", "psd", "real", "imag", "angle" or "stft".
    frame_length : int, optional, default=256
        The length of the window.
    frame_step : Optional[int], optional
        How far it is from one to the next, half of the length by default.
    fft_length : Optional[int], optional
        The length of the transform, the next power of two by default.
    window : Optional[Union[str, Tensor]], optional, default="hann"
        The form of the window.
    periodic : bool, optional, default=False
        The window's end meets its beginning.
    scaling : Optional[str], optional, default="density"
        That, "spectrum" or None.
    padding : {"valid", "same"}, optional
        Of the convolutions.
    expand_dims : bool, optional, default=False
        Channels of the signals have an axis of their own.

    """

    _arguments = "... expand_dims"

    def __init__(self, mode="log", frame_length=256, frame_step=None, fft_length=None, window="hann", periodic=False,
                 scaling="density", padding="valid", expand_dims=False, data_format=None, **kwargs):
        given = dict(locals())
        if frame_step is not None and not 1 <= frame_step <= frame_length:
            raise ValueError("`frame_step` should be a positive integer not greater than `frame_length`. "
                             f"Received frame_step={frame_step}, frame_length={frame_length}")
        if fft_length is not None and fft_length < frame_length:
            raise ValueError("`fft_length` should be not less than `frame_length`. "
                             f"Received fft_length={fft_length}, frame_length={frame_length}")
        if fft_length is not None and fft_length & -fft_length != fft_length:
            warnings.warn("`fft_length` is recommended to be a power of two. "
                          f"Received fft_length={fft_length}")
        for name, choices in (("mode", MODES), ("scaling", (None, "density", "spectrum")),
                              ("padding", ("valid", "same"))):
            if given[name] not in choices:
                raise ValueError(f"{name.capitalize()} is invalid, it must be one of {choices}. "
                                 f"Received: {name}={given[name]}")
        super().__init__(**kwargs)
        given["data_format"] = data_format or image_data_format()
        for name in parameters(STFTSpectrogram.__init__):
            setattr(self, name, given[name])
        self._frame_step = frame_step or frame_length // 2
        self._fft_length = fft_length or 2 ** math.ceil(math.log2(frame_length))
        self.input_spec = InputSpec(ndim=3)

    def build(self, input_shape):
        """Make the kernels."""
        from dragon.vm.keras.initializers import STFT
        shape = (self.frame_length, 1, self._fft_length // 2 + 1)
        for part, other in (("real", "imag"), ("imag", "real")):
            if self.mode != other:
                setattr(self, part + "_kernel", self.add_weight(
                    name=part + "_kernel", shape=shape,
                    initializer=STFT(part, self.window, self.scaling, self.periodic)))

    def _convolved(self, inputs, kernel):
        """Return `(batch, channels, frequencies, time)` of `(batch, channels, time)`."""
        batch, channels, length = inputs.shape
        made = K.conv(K.reshape(inputs, (-1, 1, length)), K.cast(kernel, inputs.dtype), padding=self.padding,
                      strides=self._frame_step, data_format="channels_first")
        return K.reshape(made, (-1, channels, *made.shape[1:]))

    def _arranged(self, x):
        """Return frequencies in the layout of the output."""
        last = self.data_format == "channels_last"
        if self.expand_dims:
            return K.transpose(x, (0, 3, 2, 1) if last else (0, 1, 3, 2))
        x = K.reshape(x, (-1, x.shape[1] * x.shape[2], x.shape[3]))
        return K.transpose(x, (0, 2, 1)) if last else x

    def call(self, inputs):
        """Return the frequencies of signals in the wanted mode."""
        if str(inputs.dtype.name) not in ("float16", "float32", "float64"):
            raise TypeError("Invalid input type. Expected `float16`, `float32` or `float64`. "
                            f"Received: input type={inputs.dtype}")
        if self.data_format == "channels_last":
            inputs = K.transpose(inputs, (0, 2, 1))
        real = None if self.mode == "imag" else self._convolved(inputs, self.real_kernel)
        imaginary = None if self.mode == "real" else self._convolved(inputs, self.imag_kernel)
        if real is None or imaginary is None:
            return self._arranged(imaginary if real is None else real)
        if self.mode == "angle":
            return self._arranged(K.arctan2(imaginary, real))
        if self.mode == "stft":
            return self._arranged(K.concatenate([real, imaginary], axis=2))
        power = K.square(real) + K.square(imaginary)
        if self.mode == "psd":
            # One-sided: all frequencies but the first and the last stand for two.
            return self._arranged(power + K.pad(power[:, :, 1:-1, :], ((0, 0), (0, 0), (1, 1), (0, 0))))
        magnitude = self._arranged(K.sqrt(K.maximum(power, epsilon())))
        return magnitude if self.mode == "magnitude" else K.log(K.maximum(magnitude, epsilon()))

    def compute_output_shape(self, input_shape):
        """Return the shape of the frequencies."""
        last = self.data_format == "channels_last"
        batch, length, channels = input_shape if last else (input_shape[0], input_shape[2], input_shape[1])
        frequencies = (self._fft_length // 2 + 1) * (2 if self.mode == "stft" else 1)
        if length is not None:
            whole = length if self.padding == "same" else length - self.frame_length + 1
            length = -(-whole // self._frame_step)
        if self.expand_dims:
            return (batch, length, frequencies, channels) if last else (batch, channels, length, frequencies)
        joined = None if channels is None else frequencies * channels
        return (batch, length, joined) if last else (batch, joined, length)
