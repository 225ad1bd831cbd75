"""What is gathered of a layer's inputs before its weight is rounded."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


class Statistics:
    """Base of what rounds the weight of one layer by what the layer is called with.

    Parameters
    ----------
    layer : Layer
        A `Dense` or an `EinsumDense`.
    config : QuantizationConfig
        How.

    """

    def __init__(self, layer, config):
        name = type(self).__name__
        if not hasattr(layer, "take_integers"):
            raise TypeError(f"Unsupported layer type for {name}: {type(layer)}, expected a Dense or an EinsumDense")
        self.layer, self.original_layer, self.config = layer, layer, config
        self.kernel_shape = tuple(layer.kernel.shape)
        self.rows, self.columns = layer.calibrated_shape()
        self.num_samples = 0

    def rows_of(self, inputs):
        """Return inputs as float rows, or raise for none."""
        if inputs is None:
            raise ValueError("Input tensor cannot be None.")
        x = convert_to_tensor(inputs)
        if len(x.shape) < 2:
            raise ValueError(f"Input tensor must have rank >= 2 (got rank {len(x.shape)}).")
        if 0 in tuple(x.shape):
            raise ValueError("Input tensor cannot be empty.")
        return ops.cast(ops.reshape(x, (-1, x.shape[-1])), "float32")

    def weights(self):
        """Return the layer's weight with a row for each result, in the precision that statistics have."""
        return ops.cast(self.layer.as_rows(self.layer.kernel.value), "float32")

    def watch(self, inputs):
        """Take in what the layer is called with, as the rows of its weight meet it."""
        summed, rows = self.layer.matrix_shape()[0], self.rows
        x = ops.reshape(inputs, (-1, summed))
        if rows < summed:  # some summed axes lie in columns: each place there is a sample
            x = ops.reshape(ops.permute(ops.reshape(x, (-1, rows, summed // rows)), (0, 2, 1)), (-1, rows))
        elif rows > summed:  # axes of results lie in rows: each result meets its own rows alone
            results = rows // summed
            alone = ops.reshape(ops.eye(results, dtype=x.dtype), (1, results, 1, results))
            x = ops.reshape(ops.reshape(x, (-1, 1, summed, 1)) * alone, (-1, rows))
        self.update(x)
