"""AWQ (Lin et al., 2023): weights that meet large inputs are made larger before they are rounded."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.quantizers.configuration import AWQConfig
from dragon.vm.keras.quantizers.groups import (
    compute_quantization_parameters, dequantize_with_sz_map, quantize_with_sz_map)
from dragon.vm.keras.quantizers.statistics import Statistics
from dragon.vm.shared.tensors.tensor import ops

LEAST = 1e-8


def _round(weights, group_size):
    """Return four-bit integers, their steps and zeros, and which group each column is of."""
    scale, zero, most = compute_quantization_parameters(weights, bits=4, per_channel=True, group_size=group_size)
    count = weights.shape[1]
    groups = ops.zeros((count,), dtype="float32") if group_size == -1 else ops.floor_divide(
        ops.arange(0, count, 1, dtype="float32"), float(group_size))
    return quantize_with_sz_map(weights, scale, zero, groups, most), scale, zero, groups


def awq_search_optimal_scales(weights, activation_magnitudes, *, num_grid_points=20, group_size=-1):
    """Return what to multiply columns with before they are rounded: the power of their inputs that errs least.

    Parameters
    ----------
    weights : Any
        Weights with a row for each result.
    activation_magnitudes : Any
        The largest magnitude that each column met.
    num_grid_points : int, optional, default=20
        How many powers between 0 and 1 are tried.
    group_size : int, optional, default=-1
        How many columns have steps of their own; -1 for all together.

    """
    weights = convert_to_tensor(weights)
    greatest = ops.cast(convert_to_tensor(activation_magnitudes), "float32")
    greatest = ops.where(greatest < LEAST, ops.ones_like(greatest), greatest)
    best, least = None, None
    for point in range(num_grid_points + 1):
        scales = ops.clamp(ops.pow(greatest, point / num_grid_points), 1e-4, None)
        middle = ops.sqrt(ops.amax(scales) * ops.amin(scales))
        scales = scales / ops.clamp(middle, LEAST, None)
        integers, *told = _round(weights * scales, group_size)
        errors = (weights - dequantize_with_sz_map(integers, *told) / scales) * greatest  # of results
        loss = float(ops.mean(ops.square(errors)))
        if best is None or loss < least:
            best, least = scales, loss
    return best


def awq_quantize_matrix(weights_transpose, activation_magnitudes, *, num_grid_points=20, group_size=-1):
    """Return integers, their steps and zeros by group, what columns were multiplied with, and columns' groups.

    Parameters
    ----------
    weights_transpose : Any
        Weights with a row for each result.
    activation_magnitudes, num_grid_points, group_size : optional
        As of `awq_search_optimal_scales`.

    """
    weights = convert_to_tensor(weights_transpose)
    scales = awq_search_optimal_scales(weights, activation_magnitudes, num_grid_points=num_grid_points,
                                       group_size=group_size)
    integers, scale, zero, groups = _round(weights * scales, group_size)
    return integers, scale, zero, scales, groups


class AWQ(Statistics):
    """Rounds the weight of one layer by the largest numbers that the layer is called with.

    Parameters
    ----------
    layer : Layer
        A `Dense` or an `EinsumDense`.
    config : AWQConfig, optional
        How.

    """

    def __init__(self, layer, config=None):
        super().__init__(layer, AWQConfig(None, None) if config is None else config)
        self.activation_magnitudes = ops.zeros((self.rows,), dtype="float32")

    def update_activation_magnitudes(self, input_batch):
        """Take the largest magnitudes of inputs.

        Parameters
        ----------
        input_batch : Any
            What the layer is called with; the last axis is summed over.

        """
        x = self.rows_of(input_batch)
        self.activation_magnitudes = ops.maximum(self.activation_magnitudes, ops.amax(ops.abs(x), axis=0))
        self.num_samples += x.shape[0]

    update = update_activation_magnitudes

    def quantize_layer(self):
        """Give the layer integers."""
        integers, scale, zero, scales, groups = awq_quantize_matrix(
            self.weights(), self.activation_magnitudes, num_grid_points=self.config.num_grid_points,
            group_size=self.config.group_size)
        self.layer.take_integers(integers, scale, zero, groups, awq_scales=scales)

    finish = quantize_layer

    def free(self):
        """Let go of what was gathered."""
        del self.activation_magnitudes, self.layer
