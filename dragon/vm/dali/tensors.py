"""What a run of a pipeline gives: `TensorListCPU`, a batch of arrays, and `TensorCPU`, one of them."""
import numpy as np

from dragon.vm.dali.core.kinds import to_dali_type
from dragon.vm.dali.core.refusals import got


class TensorCPU:
    """One array with a layout.

    Parameters
    ----------
    object : Any
        What NumPy takes as an array, or what has `__dlpack__`.
    layout : str, optional, default=""
        A letter for each axis.
    is_pinned : bool, optional, default=False
        Nothing is pinned here.
    source_info : str, optional, default=""
        Where it came from.

    """

    def __init__(self, object, layout="", is_pinned=False, source_info=""):
        plain = hasattr(object, "__array__") or not hasattr(object, "__dlpack__")
        self._array = np.asarray(object) if plain else np.from_dlpack(object)
        to_dali_type(self._array.dtype)
        self._source = source_info
        self.set_layout(layout or "")

    def set_layout(self, layout):
        """Name the axes."""
        if layout and len(layout) != self._array.ndim:
            raise ValueError(got("TensorCPU", f"layout {layout!r} for {self._array.ndim} axes",
                                 "a letter for each axis"))
        self._layout = layout

    @property
    def dtype(self):
        """Return the type of its numbers."""
        return to_dali_type(self._array.dtype)

    @property
    def ndim(self):
        """Return how many axes it has."""
        return self._array.ndim

    def shape(self):
        """Return its shape, as a list."""
        return list(self._array.shape)

    def layout(self):
        """Return the names of its axes."""
        return self._layout

    def source_info(self):
        """Return where it came from."""
        return self._source

    def get_property(self, key):
        """Return a property: "layout" or "source_info"."""
        if key not in ("layout", "source_info"):
            raise ValueError(got("TensorCPU.get_property", key, "'layout' or 'source_info'"))
        return self._layout if key == "layout" else self._source

    def data_ptr(self):
        """Return the address of its first number."""
        return self._array.ctypes.data

    def as_cpu(self):
        """Return itself."""
        return self

    def squeeze(self, dim=None):
        """Take axes of size 1 away; return whether there were any."""
        axes = [axis for axis, size in enumerate(self._array.shape) if size == 1 and dim in (None, axis)]
        self._layout = "".join(name for axis, name in enumerate(self._layout) if axis not in axes)
        self._array = self._array.squeeze(tuple(axes))
        return bool(axes)

    def copy_to_external(self, ptr, *args, **kwargs):
        """Copy the numbers to an address."""
        import ctypes
        array = np.ascontiguousarray(self._array)
        ctypes.memmove(int(getattr(ptr, "value", ptr)), array.ctypes.data, array.nbytes)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype, copy=copy) if copy else np.asarray(self._array, dtype)

    def __dlpack__(self, **options):
        return _writable(self._array).__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    @property
    def __array_interface__(self):
        return self._array.__array_interface__

    def __len__(self):
        return len(self._array)

    def __repr__(self):
        return self._tell(False)

    def __str__(self):
        return self._tell(True)

    def _tell(self, values):
        return tell("TensorCPU", self._array if values else None, [
            f"dtype={self.dtype}", f'layout="{self._layout}"' if self._layout else None, 'device="cpu"',
            f"shape={self._array.shape}"])


def tell(name, array, words):
    """Return the text of a tensor, with its numbers if they are given."""
    lines = [] if array is None else [np.array2string(np.asarray(array)).replace("\n", "\n    ")]
    return f"{name}(\n    " + ",\n    ".join(lines + [word for word in words if word]) + ")"


def _writable(array):
    return array if array.flags.writeable else array.copy()


class TensorListCPU:
    """A batch of arrays, which may differ in shape.

    Parameters
    ----------
    object : Any
        A list of arrays, or one array whose first axis counts samples.
    layout : str, optional, default=""
        A letter for each axis of a sample.
    is_pinned : bool, optional, default=False
        Nothing is pinned here.

    """

    def __init__(self, object, layout="", is_pinned=False, *, sources=()):
        if isinstance(object, TensorCPU):
            layout = layout or object.layout()[1:]
        self._arrays = [np.asarray(one) for one in object]
        self._whole = object if isinstance(object, np.ndarray) else None
        self._layout, self._sources = layout or "", list(sources) or [""] * len(self._arrays)
        kinds = {array.dtype for array in self._arrays}
        if len(kinds) > 1 or len({array.ndim for array in self._arrays}) > 1:
            raise TypeError(got("TensorListCPU", f"samples of types {sorted(map(str, kinds))} and of "
                                f"{sorted({array.ndim for array in self._arrays})} axes", "one type and one rank"))

    @property
    def dtype(self):
        """Return the type of its numbers."""
        return to_dali_type(self._arrays[0].dtype if self._arrays else np.uint8)

    @property
    def ndim(self):
        """Return how many axes a sample has."""
        return self._arrays[0].ndim if self._arrays else 0

    def shape(self):
        """Return the shapes of the samples."""
        return [array.shape for array in self._arrays]

    def layout(self):
        """Return the names of a sample's axes."""
        return self._layout

    def set_layout(self, layout):
        """Name the axes of samples."""
        self._layout = layout

    def at(self, index):
        """Return a sample as an array."""
        return self._arrays[index]

    def is_dense_tensor(self):
        """Return whether all samples have one shape."""
        return len({array.shape for array in self._arrays}) <= 1

    def as_array(self):
        """Return the batch as one array; samples must have one shape."""
        if not self.is_dense_tensor():
            raise ValueError("Tensor list should be consistent in shape: " + got(
                "TensorListCPU.as_array", f"shapes {sorted({array.shape for array in self._arrays})}", "one shape"))
        if self._whole is None:
            self._whole = np.stack(self._arrays) if self._arrays else np.empty((0,), np.uint8)
        return self._whole

    def as_tensor(self):
        """Return the batch as one tensor; samples must have one shape."""
        return TensorCPU(self.as_array(), "N" + self._layout if self._layout else "")

    def as_reshaped_tensor(self, shape):
        """Return the batch as one tensor of a shape."""
        return TensorCPU(self.as_array().reshape(shape))

    def as_cpu(self):
        """Return itself."""
        return self

    def reset(self):
        """Let the samples go."""
        self._arrays, self._whole, self._sources = [], None, []

    def copy_to_external(self, ptr, *args, **kwargs):
        """Copy the numbers of the batch to an address."""
        TensorCPU(self.as_array()).copy_to_external(ptr)

    def data_ptr(self):
        """Return the address of the first number of the batch as one tensor."""
        return self.as_array().ctypes.data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.as_array(), dtype)

    def __len__(self):
        return len(self._arrays)

    def __getitem__(self, index):
        if not isinstance(index, (int, np.integer)):
            raise TypeError(got("TensorListCPU[...]", type(index).__name__, "a whole number"))
        if not -len(self) <= index < len(self):
            raise IndexError(got("TensorListCPU[...]", f"index {index}", f"{-len(self)} to {len(self) - 1}"))
        return TensorCPU(self._arrays[index], self._layout, source_info=self._sources[index])

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __repr__(self):
        return self._tell(False)

    def __str__(self):
        return self._tell(True)

    def _tell(self, values):
        array = None
        if values and self._arrays:
            array = self.as_array() if self.is_dense_tensor() else np.empty(len(self), object)
            if array.dtype == object:
                array[:] = self._arrays
        return tell("TensorListCPU", array, [
            f"dtype={self.dtype}", f'layout="{self._layout}"' if self._layout else None, 'device="cpu"',
            f"num_samples={len(self)}", f"shape={self.shape()}"])
