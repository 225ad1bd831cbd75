"""Tensors and batches of `experimental.dynamic`: arrays with layouts."""
import numpy as np

from dragon.vm.dali.core.dynamic.kinds import as_dtype, kind_of, numpy_type
from dragon.vm.dali.core.dynamic.places import Device
from dragon.vm.dali.core.kinds import to_dali_type
from dragon.vm.dali.core.operators.values import convert
from dragon.vm.dali.core.readers.external import as_array
from dragon.vm.dali.core.refusals import got


def from_python(data, dtype=None):
    """Return data as an array: numbers of Python have 32 bits."""
    if isinstance(data, Tensor):
        array = data.array
    elif hasattr(data, "__array__") or hasattr(data, "detach"):
        array = as_array(data)
    elif hasattr(data, "__dlpack__"):
        array = np.from_dlpack(data)
    else:
        array = np.array([np.asarray(one) for one in data] if isinstance(data, (list, tuple)) and any(
            isinstance(one, Tensor) for one in data) else data)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        elif array.dtype in (np.int64, np.uint64) and dtype is None:
            array = _narrowed(array)
    if array.dtype == object or array.dtype.kind in "SUc":
        raise TypeError(got("Tensor", type(data).__name__, "numbers"))
    to_dali_type(array.dtype)
    return array if dtype is None else convert(array, numpy_type(dtype))


def _narrowed(array):
    kind = np.uint32 if array.size and array.min() >= 0 and array.max() >> 31 else np.int32
    info = np.iinfo(kind)
    if array.size and not info.min <= array.min() <= array.max() <= info.max:
        worst = array.min() if array.min() < info.min else array.max()
        raise OverflowError(f"Python integer {worst} out of range for {info.dtype}.")
    return array.astype(kind)


def _laid(layout, ndim, who):
    if layout and len(layout) != ndim:
        raise ValueError(got(who, f"layout {layout!r} for {ndim} axes", "a letter for each axis"))
    return layout or ""


class Operand:
    """What tensors and batches have in common: a place, and Python's arithmetic, which `computing` gives them."""

    __array_ufunc__ = None  # NumPy's arrays leave arithmetic to this class
    __hash__ = None

    @property
    def device(self):
        """Return where the numbers are: on the host."""
        return Device.CPU

    @property
    def layout(self):
        """Return the letters of the axes, or None."""
        return self._layout or None

    def cpu(self):
        """Return itself."""
        return self

    def gpu(self, index=None):
        """Return itself, with a warning: there is no device."""
        Device("gpu", index)
        return self

    def to_device(self, device, force_copy=False):
        """Return the same on a device, which is the host."""
        if not isinstance(device, Device):
            Device(device)
        return self.copied() if force_copy else self

    def evaluate(self):
        """Return itself: everything is computed when it is called."""
        return self


class Tensor(Operand):
    """One array with a layout, as `tensor` and `as_tensor` make it."""

    def __init__(self, data=None, dtype=None, device=None, layout=None, copy=False):
        if data is None:
            raise ValueError(got("Tensor", "no data", "numbers"))
        if device is not None and not isinstance(device, Device):
            Device(device)
        array = from_python(data, dtype)
        self.array = array.copy() if copy else array
        own = layout if layout is not None else getattr(data, "layout", "")
        own = own() if callable(own) else own
        self._layout = _laid(own if isinstance(own, str) else "", self.array.ndim, "Tensor")

    dtype = property(lambda self: kind_of(self.array), doc="The type of its numbers.")
    shape = property(lambda self: self.array.shape, doc="Its shape.")
    ndim = property(lambda self: self.array.ndim, doc="How many axes it has.")
    size = property(lambda self: self.array.size, doc="How many numbers it has.")
    nbytes = property(lambda self: self.array.nbytes, doc="How many bytes they take.")
    itemsize = property(lambda self: self.array.itemsize, doc="How many bytes one of them takes.")

    def copied(self):
        """Return a tensor with numbers of its own."""
        return Tensor(self.array, layout=self._layout, copy=True)

    def item(self):
        """Return the only number, as Python's."""
        return self.array.item()

    def torch(self, copy=False):
        """Return the numbers as a tensor of PyTorch."""
        import torch
        made = torch.from_dlpack(self)
        return made.clone() if copy else made

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    def __dlpack__(self, **options):
        array = self.array if self.array.flags.writeable else self.array.copy()
        return array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    def __bool__(self):
        return True

    def __len__(self):
        return self.array.shape[0]

    def __iter__(self):
        return (self[place] for place in range(len(self)))

    def __repr__(self):
        return _tell("Tensor", self, self.array, f"shape={self.shape}")


class Batch(Operand):
    """Arrays of one type and rank, whose shapes may differ, as `batch` and `as_batch` make it."""

    def __init__(self, tensors=None, dtype=None, device=None, layout=None, copy=False):
        if device is not None and not isinstance(device, Device):
            Device(device)
        if hasattr(tensors, "as_array") and hasattr(tensors, "at"):
            layout = tensors.layout() if layout is None else layout
            tensors = [tensors.at(place) for place in range(len(tensors))]
        whole = isinstance(tensors, Tensor) or hasattr(tensors, "__array__")
        if whole and np.ndim(tensors) == 0:
            raise ValueError(got("Batch", "a scalar", "samples"))
        if isinstance(tensors, Tensor) and layout is None:
            layout = tensors._layout[1:]
        given = list(np.asarray(tensors)) if whole else list(tensors)
        if not given and dtype is None:
            raise ValueError("Element type must be specified if the list is empty")
        if any(one is None for one in given):
            raise TypeError(got("Batch", "None among the samples", "numbers"))
        self.arrays = [from_python(one, dtype) for one in given]
        self.arrays = [one.copy() for one in self.arrays] if copy else self.arrays
        kinds, ranks = {one.dtype for one in self.arrays}, {one.ndim for one in self.arrays}
        if len(kinds) > 1 or len(ranks) > 1:
            raise TypeError(got("Batch", f"samples of types {sorted(map(str, kinds))} and of {sorted(ranks)} axes",
                                "one type and one rank"))
        if layout is None:
            layout = next((one._layout for one in given if isinstance(one, Tensor)), "")
        self._layout = _laid(layout, self.ndim, "Batch") if self.arrays else layout or ""
        self._dtype = None if self.arrays else as_dtype(dtype)

    @staticmethod
    def broadcast(sample, batch_size, device=None, dtype=None):
        """Return a batch of one sample, again and again."""
        if isinstance(sample, Batch):
            raise ValueError(got("Batch.broadcast", "a batch", "one sample"))
        one = Tensor(sample, dtype, device)
        return Batch([one.array] * batch_size, one.dtype, layout=one._layout)

    dtype = property(lambda self: kind_of(self.arrays[0]) if self.arrays else self._dtype, doc="Of its numbers.")
    ndim = property(lambda self: self.arrays[0].ndim if self.arrays else 0, doc="How many axes a sample has.")
    batch_size = property(lambda self: len(self.arrays), doc="How many samples there are.")
    shape = property(lambda self: [array.shape for array in self.arrays], doc="The shapes of the samples.")
    tensors = property(lambda self: Samples(self), doc="The samples, by number.")

    def copied(self):
        """Return a batch with numbers of its own."""
        return Batch(self.arrays, self.dtype, layout=self._layout, copy=True)

    def select(self, sample_range):
        """Return a sample as a tensor, or several as a batch."""
        if isinstance(sample_range, (int, np.integer)):
            return Tensor(self.arrays[sample_range], layout=self._layout)
        chosen = self.arrays[sample_range] if isinstance(sample_range, slice) else [
            self.arrays[place] for place in sample_range]
        return Batch(chosen, self.dtype, layout=self._layout)

    def torch(self, copy=None, pad=False):
        """Return the batch as one tensor of PyTorch; samples must have one shape, or be filled up."""
        if copy is False:
            raise ValueError(got("Batch.torch", "copy=False", "a copy: samples are arrays of their own"))
        return self.stacked(pad).torch()

    def stacked(self, pad=False):
        """Return the batch as one tensor with an axis more; samples must have one shape, or be filled up with zeros."""
        arrays = self.arrays
        if len({array.shape for array in arrays}) > 1:
            if not pad:
                raise ValueError("The batch has a non-uniform shape. To convert it to a tensor, `pad` argument must be "
                                 "``True``")
            most = np.max([array.shape for array in arrays], 0)
            arrays = [np.pad(array, [(0, wide - size) for wide, size in zip(most, array.shape)]) for array in arrays]
        made = np.stack(arrays) if arrays else np.empty(0, numpy_type(self.dtype))
        return Tensor(made, layout="N" + self._layout if self._layout else "")

    def __iter__(self):
        return (self.select(place) for place in range(self.batch_size))

    def __repr__(self):
        return _tell("Batch", self, self.arrays, f"num_samples={self.batch_size}", f"shape={self.shape}")


class Samples:
    """The samples of a batch, by number."""

    def __init__(self, batch):
        self._batch = batch

    def __getitem__(self, place):
        return self._batch.select(place)

    def __len__(self):
        return self._batch.batch_size

    def tolist(self):
        """Return the samples as a list of tensors."""
        return list(self._batch)


def _tell(name, value, arrays, *facts):
    """Return the text of a tensor or a batch."""
    if name == "Tensor":
        text = np.array2string(arrays).replace("\n", "\n    ")
    else:
        texts = [np.array2string(array).replace("\n", "\n     ") for array in arrays]
        text = f"[{(', ' if value.ndim == 0 else ',' + chr(10) + '     ').join(texts)}]"
    layout = f'layout="{value._layout}"' if value._layout else None
    words = [text, f"dtype={value.dtype}", layout, 'device="cpu"', *facts]
    return f"{name}(\n    " + ",\n    ".join(word for word in words if word) + ")"
