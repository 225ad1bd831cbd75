"""`keras.Input`: where a graph of layers begins."""

from dragon.core import warnings
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.node import Node
from dragon.vm.keras.core.shapes import standardize_shape
from dragon.vm.keras.layers.layer import Layer


class InputLayer(Layer):
    """The first layer of a graph, which hands on what the model is called with.

    Parameters
    ----------
    input_tensor : KerasTensor, optional
        A symbolic tensor to begin with.
    name : str, optional
        The name.

    """

    def __init__(self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None,
                 input_tensor=None, optional=False, name=None, **kwargs):
        super().__init__(name=name)
        if "input_shape" in kwargs:
            warnings.warn("Argument `input_shape` is deprecated. Use `shape` instead.")
            shape = kwargs.pop("input_shape")
        if "batch_input_shape" in kwargs:
            batch_shape = kwargs.pop("batch_input_shape")
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if input_tensor is not None:
            batch_shape, dtype, sparse, ragged = self._read(
                input_tensor, batch_size, dtype, shape, batch_shape, sparse, ragged)
        else:
            if shape is not None and batch_shape is not None:
                raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time. "
                                 f"Received: shape={shape}, batch_shape={batch_shape}")
            if batch_size is not None and batch_shape is not None:
                raise ValueError("You cannot pass both `batch_size` and `batch_shape` at the same time. "
                                 f"Received: batch_size={batch_size}, batch_shape={batch_shape}")
            if shape is None and batch_shape is None:
                raise ValueError("You must pass a `shape` argument.")
            if shape is not None:
                batch_shape = (batch_size, *standardize_shape(shape))
        self.__dict__.update(
            _batch_shape=standardize_shape(batch_shape), _dtype=standardize_dtype(dtype), sparse=bool(sparse),
            ragged=bool(ragged), optional=optional, built=True)
        output = input_tensor
        if output is None:
            output = KerasTensor(self._batch_shape, dtype=self._dtype, sparse=self.sparse, ragged=self.ragged,
                                 name=name)
        self.__dict__["_input_tensor"] = output
        Node(operation=self, call_args=(), call_kwargs={}, outputs=output)

    @staticmethod
    def _read(tensor, batch_size, dtype, shape, batch_shape, sparse, ragged):
        """Return the shape, dtype, and kind of a symbolic tensor, which other arguments must not contradict."""
        if not isinstance(tensor, KerasTensor):
            raise ValueError("Argument `input_tensor` must be a KerasTensor. "
                             f"Received invalid type: input_tensor={tensor} (of type {type(tensor)})")
        if batch_size is not None and (not tensor.shape or tensor.shape[0] != batch_size):
            raise ValueError("When providing the `input_tensor` argument, you cannot provide an incompatible "
                             f"`batch_size` argument. Received: batch_size={batch_size}")
        for name, told, sizes in (("shape", shape, tensor.shape[1:]), ("batch_shape", batch_shape, tensor.shape)):
            if told is not None and standardize_shape(told) != sizes:
                raise ValueError("When providing the `input_tensor` argument, you cannot provide an incompatible "
                                 f"`{name}` argument. Received: {name}={told}, input_tensor.shape={tensor.shape}")
        if dtype is not None and tensor.dtype != standardize_dtype(dtype):
            raise ValueError("When providing the `input_tensor` argument, you cannot provide an incompatible `dtype` "
                             f"argument. Received: dtype={dtype}")
        for name, value in (("sparse", sparse), ("ragged", ragged)):
            if value is not None and bool(value) != getattr(tensor, name):
                raise ValueError(f"When providing the `input_tensor` argument, you cannot provide an incompatible "
                                 f"`{name}` argument. Received: {name}={value}")
        return tensor.shape, tensor.dtype, tensor.sparse, tensor.ragged

    def call(self):
        """Return nothing: the numbers are the model's."""

    batch_shape = property(lambda self: self._batch_shape, doc="The sizes with the batch's.")
    dtype = property(lambda self: self._dtype, doc="The dtype of the input.")

    def get_config(self):
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "sparse": self.sparse, "ragged": self.ragged,
                "name": self.name, "optional": self.optional}


def Input(shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None, tensor=None,
          optional=False):
    """Return a symbolic tensor that a graph of layers begins with.

    Parameters
    ----------
    tensor : KerasTensor, optional
        A symbolic tensor to begin with.

    Returns
    -------
    KerasTensor
        The symbolic tensor.

    Examples
    --------
    >>> x = keras.Input(shape=(28, 28, 1), name="image")
    >>> x.shape, x.dtype
    ((None, 28, 28, 1), 'float32')

    """
    layer = InputLayer(shape=shape, batch_size=batch_size, dtype=dtype, sparse=sparse, ragged=ragged,
                       batch_shape=batch_shape, name=name, input_tensor=tensor, optional=optional)
    return layer.output
