"""Initializers without chance."""
import math

from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.registry import deserialize, serialize
from dragon.vm.keras.initializers.initializer import Initializer
from dragon.vm.shared.tensors.shape import as_shape
from dragon.vm.shared.tensors.tensor import ops


class Constant(Initializer):
    """The same number, or numbers that are broadcast, everywhere.

    Parameters
    ----------
    value : Any, optional, default=0.0
        A number or an array.

    """

    def __init__(self, value=0.0):
        self.value = value

    def __call__(self, shape, dtype=None):
        value = convert_to_tensor(self.value, dtype=standardize_dtype(dtype))
        return value * ops.ones(tuple(shape), dtype=value.dtype)

    def get_config(self):
        """Return the value."""
        return {"value": serialize(self.value)}

    @classmethod
    def from_config(cls, config):
        """Return the initializer that `get_config` described."""
        return cls(deserialize(config.get("value", 0.0)))


class Zeros(Initializer):
    """Zero everywhere."""

    def __call__(self, shape, dtype=None):
        return ops.zeros(tuple(shape), dtype=standardize_dtype(dtype))


class Ones(Initializer):
    """One everywhere."""

    def __call__(self, shape, dtype=None):
        return ops.ones(tuple(shape), dtype=standardize_dtype(dtype))


class Identity(Initializer):
    """The identity matrix times `gain`.

    Parameters
    ----------
    gain : float, optional, default=1.0
        What is on the diagonal.

    """

    _left_out = "gain"  # as Keras does

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None):
        """Return what a matrix of that shape starts with."""
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices. "
                             f"Received: shape={shape} of rank {len(shape)}.")
        return self.gain * ops.eye(*as_shape(shape), dtype=standardize_dtype(dtype))


class STFT(Initializer):
    """The real or imaginary part of a windowed Fourier transform, as the kernel of a convolution.

    Parameters
    ----------
    side : str, optional, default="real"
        "real" or "imag".
    window : Optional[Union[str, Any]], optional, default="hann"
        A name that SciPy knows, the window itself, or none.
    scaling : Optional[str], optional, default="density"
        "density", "spectrum" or none.
    periodic : bool, optional, default=False
        The window is periodic.

    """

    _arguments = "side window periodic ..."

    def __init__(self, side="real", window="hann", scaling="density", periodic=False):
        if side not in ("real", "imag"):
            raise ValueError(f"side should be 'real' or 'imag', not {side}")
        if scaling not in ("density", "spectrum", None):
            raise ValueError("Scaling is invalid, it must be `None`, 'density' or 'spectrum'. "
                             f"Received scaling={scaling}")
        if isinstance(window, str):
            _window(window, 1, False)
        self.side, self.window, self.scaling, self.periodic = side, window, scaling, periodic

    def __call__(self, shape, dtype=None):
        """Return the kernel (frame length, input channels, frequencies)."""
        dtype = standardize_dtype(dtype)
        length, _, frequencies = shape
        time = ops.reshape(ops.arange(length, dtype=dtype), (length, 1, 1))
        turns = ops.reshape(ops.arange(frequencies, dtype=dtype), (1, 1, frequencies)) / ((frequencies - 1) * 2)
        angles = -2 * time * turns * math.pi
        kernel = ops.cos(angles) if self.side == "real" else ops.sin(angles)
        if self.window is None:
            return kernel
        window = _window(self.window, length, self.periodic) if isinstance(self.window, str) else self.window
        window = convert_to_tensor(window, dtype=dtype)
        if tuple(window.shape) != (length,):
            raise ValueError("The shape of `window` must be equal to [frame_length]. "
                             f"Received: window shape={tuple(window.shape)}")
        scale = {"density": lambda w: ops.sqrt(ops.sum(ops.square(w))), "spectrum": lambda w: ops.sum(ops.abs(w)),
                 None: lambda w: 1}[self.scaling](window)
        return kernel * ops.reshape(window, (length, 1, 1)) / scale


def _window(name, length, periodic):
    try:
        from scipy.signal import get_window
    except ImportError as error:
        raise ImportError("STFT: windows come from SciPy, which is not installed (pip install scipy)",
                          name="scipy") from error
    return get_window(name, length, periodic)
