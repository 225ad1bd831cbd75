"""How tensors and batches are made of data."""
from dragon.vm.dali.core.dynamic.values import Batch, Tensor


def as_tensor(data, dtype=None, device=None, layout=None, pad=False):
    """Return data as a tensor, without a copy where that can be; a batch becomes one with an axis more.

    Parameters
    ----------
    data : Any
        Numbers, lists of them, arrays, tensors of any framework, or a batch.
    dtype : DType, optional
        The type that numbers are brought to.
    device : Union[Device, str], optional
        Where it lies.
    layout : str, optional
        A letter for each axis.
    pad : bool, optional, default=False
        Whether the samples of a batch are filled up with zeros to one shape.

    """
    if not isinstance(data, Batch):
        return Tensor(data, dtype, device, layout)
    made = data.stacked(pad)
    return Tensor(made.array, dtype, device, made.layout if layout is None else layout)


def tensor(data, dtype=None, device=None, layout=None, pad=False):
    """Return a copy of data as a tensor; the arguments are those of `as_tensor`."""
    return as_tensor(data, dtype, device, layout, pad).copied()


def as_batch(tensors, dtype=None, device=None, layout=None):
    """Return data as a batch, without a copy where that can be.

    Parameters
    ----------
    tensors : Any
        A list of samples, an array whose first axis counts them, or a batch.
    dtype : DType, optional
        The type that numbers are brought to.
    device : Union[Device, str], optional
        Where it lies.
    layout : str, optional
        A letter for each axis of a sample.

    """
    if isinstance(tensors, Batch):
        return Batch(tensors.arrays, dtype or tensors.dtype, device, tensors._layout if layout is None else layout)
    return Batch(tensors, dtype, device, layout)


def batch(tensors, dtype=None, device=None, layout=None):
    """Return a copy of data as a batch; the arguments are those of `as_batch`."""
    return as_batch(tensors, dtype, device, layout).copied()
