"""Softmax as a layer, with a mask of what takes part."""
from dragon.vm.keras import activations
from dragon.vm.keras.layers.activations.elementwise import Elementwise
from dragon.vm.shared.tensors.tensor import ops

# What masked numbers become: as good as minus infinity, but finite in the dtype.
ALMOST_INFINITE = {"float16": -3e4}


def require_broadcast(inputs, mask):
    """Raise unless a mask broadcasts to the inputs without adding axes."""
    theirs, ours = tuple(mask.shape), tuple(inputs.shape)
    fits = len(theirs) <= len(ours) and all(
        None in (size, wanted) or size in (1, wanted) for size, wanted in zip(theirs[::-1], ours[::-1]))
    if not fits:
        raise ValueError("The `mask` must be broadcastable to `inputs` and must not have more dimensions. Received: "
                         f"inputs.shape={inputs.shape}, mask.shape={mask.shape}")


class Softmax(Elementwise):
    """Exponentiate and divide by the sum along axes.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=-1
        The axes.

    Examples
    --------
    >>> np.asarray(keras.layers.Softmax()(np.array([[0.0, 0.0]], "float32")))
    array([[0.5, 0.5]], dtype=float32)

    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self._build_at_init()

    def call(self, inputs, mask=None):
        """Apply the layer; what the mask leaves out becomes zero."""
        if mask is not None:
            require_broadcast(inputs, mask)
            mask = mask if mask.dtype.name == "bool" else ops.gt(mask, 0.5)
            inputs = ops.masked_fill(inputs, ops.logical_not(mask), ALMOST_INFINITE.get(inputs.dtype.name, -1e9))
        made = self.softmax(inputs)
        return made if mask is None else ops.masked_fill(made, ops.logical_not(mask), 0.0)

    def softmax(self, inputs):
        """Apply softmax along one axis or several."""
        if not isinstance(self.axis, (tuple, list)):
            return activations.softmax(inputs, axis=self.axis)
        if len(self.axis) == 1:
            return activations.softmax(inputs, axis=self.axis[0])
        return ops.exp(ops.sub(inputs, ops.logsumexp(inputs, list(self.axis), True)))
