"""Means and maxima of whole images or sequences."""
from dragon.vm.keras.core.config import standardize_data_format
from dragon.vm.keras.core.convert import is_parted
from dragon.vm.keras.core.configuration import of_ranks
from dragon.vm.keras.core.promotion import dtype_of, floating
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


class GlobalPooling(Layer):
    """A pool over all places of `rank` axes.

    Parameters
    ----------
    keepdims : bool, optional, default=False
        Whether the spatial axes stay, with size 1.

    """

    rank = None

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.keepdims = keepdims
        first = 1 if self.data_format == "channels_last" else 2
        self._axes = list(range(first, first + self.rank))
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self._build_at_init()

    def compute_output_shape(self, input_shape):
        kept = 1 if self.keepdims else None
        sizes = [kept if axis in self._axes else size for axis, size in enumerate(input_shape)]
        return tuple(size for axis, size in enumerate(sizes) if self.keepdims or axis not in self._axes)


class GlobalAveragePooling(GlobalPooling):
    """The means of all places."""

    def call(self, inputs):
        if is_parted(inputs):
            from dragon.vm.keras.ops import mean
            return mean(inputs, self._axes, self.keepdims)
        return ops.mean(floating(inputs), self._axes, self.keepdims)


class GlobalMaxPooling(GlobalPooling):
    """The largest elements of all places."""

    def call(self, inputs):
        if is_parted(inputs):
            from dragon.vm.keras.ops import max as most
            return most(inputs, self._axes, self.keepdims)
        return ops.amax(inputs, self._axes, self.keepdims)


class GlobalAveragePooling1D(GlobalAveragePooling, rank=1):
    """The means of all steps, or of those that a mask leaves: `(N, L, C)` becomes `(N, C)`. ...

    Examples
    --------
    >>> np.asarray(keras.layers.GlobalAveragePooling1D()(np.array([[[1.0], [3.0]]], "float32")))
    array([[2.]], dtype=float32)

    """

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        # A quotient of integers is TensorFlow's, in float64.
        inputs = inputs if "float" in dtype_of(inputs) else ops.cast(inputs, "float64")
        mask = ops.unsqueeze(ops.cast(mask, "bool"), 2 if self._axes == [1] else 1)
        kept = ops.where(mask, inputs, ops.zeros_like(inputs))
        count = ops.sum(ops.cast(mask, inputs.dtype), self._axes, self.keepdims)
        return ops.div(ops.sum(kept, self._axes, self.keepdims), count)

    def compute_mask(self, inputs, mask=None):
        """Return None: the steps are gone."""
        return None


GlobalAveragePooling2D, GlobalAveragePooling3D = of_ranks(
    GlobalAveragePooling, "GlobalAveragePooling{}D", "The means of {}. ...",
    {2: "images", 3: "volumes"})
GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D = of_ranks(
    GlobalMaxPooling, "GlobalMaxPooling{}D", "The largest elements of {}. ...",
    {1: "all steps", 2: "images", 3: "volumes"})
