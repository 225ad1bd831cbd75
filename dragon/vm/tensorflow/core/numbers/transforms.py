"""Fourier transforms over any axes: `tf.signal.fftnd` and its kin, and the operators below `tf` of the same names."""
from dragon.vm.shared.arrays.array import as_ints
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import ops


def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Return the Fourier transform over any axes.

    Parameters
    ----------
    input_tensor : Tensor
        The numbers.
    fft_length : Sequence[int], optional
        To which sizes axes are cut or filled up with zeros before.
    axes : Sequence[int], optional
        The axes; by default all, or the last ones that there are lengths for.
    norm : str, optional
        "backward", "ortho" or "forward": which way is divided by the number of elements, or both by its root.

    Returns
    -------
    Tensor
        The spectrum.

    """
    return _over(ops.fft_fftn, input_tensor, fft_length, axes, norm)


def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Return the inverse Fourier transform over any axes; for the arguments see `fftnd`."""
    return _over(ops.fft_ifftn, input_tensor, fft_length, axes, norm)


def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Return the Fourier transform of real numbers over any axes; for the arguments see `fftnd`."""
    return _over(ops.fft_rfftn, input_tensor, fft_length, axes, norm)


def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """Return the inverse Fourier transform to real numbers over any axes; for the arguments see `fftnd`."""
    return _over(ops.fft_irfftn, input_tensor, fft_length, axes, norm)


def _over(run, x, lengths, axes, norm=None):
    lengths, axes = (None if one is None else as_ints(one) for one in (lengths, axes))
    return run(take(x), lengths, axes, norm)


# --- the operators: no defaults, and a dtype where numbers become complex or real

def operator_fftnd(input, fft_length, axes, name=None):
    """Return the Fourier transform over some axes.

    Parameters
    ----------
    input : Tensor
        The numbers.
    fft_length : Sequence[int]
        To which sizes the axes are cut or filled up with zeros before.
    axes : Sequence[int]
        The axes.

    Returns
    -------
    Tensor
        The spectrum.

    """
    return _over(ops.fft_fftn, input, fft_length, axes)


def operator_ifftnd(input, fft_length, axes, name=None):
    """Return the inverse Fourier transform over some axes; for the arguments see `fftnd`."""
    return _over(ops.fft_ifftn, input, fft_length, axes)


def operator_rfftnd(input, fft_length, axes, Tcomplex="complex64", name=None):
    """Return the Fourier transform of real numbers, of the dtype `Tcomplex`; for the arguments see `fftnd`."""
    return ops.cast(_over(ops.fft_rfftn, input, fft_length, axes), _kind(Tcomplex, "Tcomplex", "rfftnd"))


def operator_irfftnd(input, fft_length, axes, Treal="float32", name=None):
    """Return the inverse Fourier transform to real numbers of the dtype `Treal`; for the arguments see `fftnd`."""
    return ops.cast(_over(ops.fft_irfftn, input, fft_length, axes), _kind(Treal, "Treal", "irfftnd"))


def _kind(dtype, what, who):
    dtype, wanted = as_dtype(dtype), {"Tcomplex": ("complex64", "complex128"), "Treal": ("float32", "float64")}[what]
    if dtype.name not in wanted:
        raise TypeError(f"tf.{who}: Value passed for attr '{what}' of {dtype.name}, expected one of {wanted}")
    return dtype


for _function in (operator_fftnd, operator_ifftnd, operator_rfftnd, operator_irfftnd):
    _function.__name__ = _function.__qualname__ = _function.__name__.removeprefix("operator_")
