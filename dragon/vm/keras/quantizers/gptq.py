"""GPTQ (Frantar et al., 2022): the error of each column that is rounded is made up for by those that follow."""
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.quantizers.configuration import GPTQConfig
from dragon.vm.keras.quantizers.groups import (
    compute_quantization_parameters, dequantize_with_zero_point, quantize_with_zero_point)
from dragon.vm.keras.quantizers.quantizer import Quantizer
from dragon.vm.keras.quantizers.statistics import Statistics
from dragon.vm.shared.tensors.tensor import ops


class GPTQQuantizer(Quantizer):
    """What finds the steps of weights as a configuration says.

    Parameters
    ----------
    config : GPTQConfig, optional
        How many bits, and what has steps of its own.
    compute_dtype : str, optional, default="float32"
        The dtype of the largest integer.

    """

    def __init__(self, config=None, compute_dtype="float32"):
        super().__init__()
        config = GPTQConfig(None, None) if config is None else config
        for name in ("weight_bits", "per_channel", "symmetric", "group_size"):
            setattr(self, name, getattr(config, name))
        self.compute_dtype = compute_dtype
        self.scale = self.zero = self.maxq = None

    def find_params(self, input_tensor):
        """Return the size of one step, the integer that stands for zero, and the largest integer, of weights."""
        self.scale, self.zero, self.maxq = compute_quantization_parameters(
            input_tensor, bits=self.weight_bits, symmetric=self.symmetric, per_channel=self.per_channel,
            group_size=self.group_size, compute_dtype=self.compute_dtype)
        return self.scale, self.zero, self.maxq

    def get_config(self):
        """Return what the configuration said."""
        return {name: getattr(self, name) for name in ("weight_bits", "per_channel", "symmetric", "group_size")}

    @classmethod
    def from_config(cls, config):
        """Return the quantizer that `get_config` described."""
        return cls(GPTQConfig(None, None, **config))


def order_by_importance(metric):
    """Return the places of numbers from the greatest to the least, equal ones as they come."""
    return ops.cast(ops.argsort(-convert_to_tensor(metric), stable=True), "int32")


def gptq_quantize_matrix(weights_transpose, inv_hessian, *, blocksize=128, group_size=-1, activation_order=False,
                         order_metric=None, compute_scale_zero=compute_quantization_parameters):
    """Return integers for weights, their steps and zeros by group, and which group each column is of.

    A column that is rounded has an error; over its own number in the inverse of the Hessian, times the inverse's row,
    it is taken from the columns behind: at once within the block, for all others when the block is done.

    Parameters
    ----------
    weights_transpose : Any
        Weights with a row for each result.
    inv_hessian : Any
        The inverse of the mean product of two inputs, for each two columns.
    blocksize : int, optional, default=128
        How many columns make a block.
    group_size : int, optional, default=-1
        How many columns have steps of their own; -1 for all together.
    activation_order : bool, optional, default=False
        Whether the columns that matter most go first.
    order_metric : Any, optional
        How much each column matters; one over the inverse's diagonal by default.
    compute_scale_zero : Callable, optional
        What finds steps, zeros and the largest integer of some columns.

    """
    weights, inverse = convert_to_tensor(weights_transpose), convert_to_tensor(inv_hessian)
    count = weights.shape[1]
    order = None
    if activation_order:
        order = order_by_importance(_importance(inverse, order_metric))
        weights = ops.index_select(weights, 1, order)
        inverse = ops.index_select(ops.index_select(inverse, 0, order), 1, order)
    size = count if group_size == -1 else group_size
    numbers, steps, zeros = [], [], []
    for start in range(0, count, blocksize):
        width = min(blocksize, count - start)
        rest, errors = ops.narrow(weights, 1, start, width), []
        for place in range(start, start + width):
            if place % size == 0:
                # As the weights stand when the block begins: what the block itself made up for is not in them.
                scale, zero, most = compute_scale_zero(ops.narrow(weights, 1, place, min(size, count - place)))
                steps.append(scale)
                zeros.append(zero)
            column = ops.narrow(rest, 1, 0, 1)
            numbers.append(quantize_with_zero_point(column, scale, zero, most))
            row = ops.narrow(ops.narrow(inverse, 0, place, 1), 1, place, start + width - place)
            errors.append((column - dequantize_with_zero_point(numbers[-1], scale, zero)) / ops.narrow(row, 1, 0, 1))
            rest = ops.narrow(rest - errors[-1] * row, 1, 1, start + width - place - 1)
        done, more = start + width, count - start - width
        if more:
            behind = ops.narrow(ops.narrow(inverse, 0, start, width), 1, done, more)
            rest = ops.narrow(weights, 1, done, more) - ops.matmul(ops.cat(errors, axis=1), behind)
            weights = ops.cat([ops.narrow(weights, 1, 0, done), rest], axis=1)
    integers = ops.cast(ops.cat(numbers, axis=1), "int32")
    groups = ops.arange(0, count, 1, dtype="float32") / float(size)
    if order is not None:
        back = ops.argsort(order)
        integers, groups = ops.index_select(integers, 1, back), ops.index_select(groups, 0, back)
    return integers, ops.cat(steps, axis=1), ops.cat(zeros, axis=1), groups


def _importance(inverse, metric):
    if metric is None:
        return 1.0 / (ops.diagonal(inverse) + 1e-12)
    metric = ops.cast(convert_to_tensor(metric), "float32")
    return ops.where(ops.isfinite(metric), metric, ops.zeros_like(metric))


class GPTQ(Statistics):
    """Rounds the weight of one layer by what the layer is called with.

    Parameters
    ----------
    layer : Layer
        A `Dense` or an `EinsumDense`.
    config : GPTQConfig, optional
        How.

    """

    def __init__(self, layer, config=None):
        super().__init__(layer, GPTQConfig(None, None) if config is None else config)
        self.quantizer = GPTQQuantizer(self.config, compute_dtype=layer.variable_dtype)
        self.hessian = ops.zeros((self.rows, self.rows), dtype="float32")

    def update_hessian_with_batch(self, input_batch):
        """Take inputs into the mean of their products.

        Parameters
        ----------
        input_batch : Any
            What the layer is called with; the last axis is summed over.

        """
        x = self.rows_of(input_batch)
        if x.shape[-1] != self.rows:
            raise ValueError(f"Hessian dimensions ({self.rows}) do not match input features ({x.shape[-1]}).")
        before, self.num_samples = self.num_samples, self.num_samples + x.shape[0]
        products = ops.matmul(ops.permute(x, (1, 0)), x)
        products = (products + ops.permute(products, (1, 0))) / 2.0  # which large numbers leave not quite symmetric
        self.hessian = self.hessian * (before / self.num_samples) + products * (2.0 / self.num_samples)

    update = update_hessian_with_batch

    def quantize_and_correct_layer(self, blocksize=128):
        """Give the layer integers.

        Parameters
        ----------
        blocksize : int, optional, default=128
            How many columns are made up for at once.

        """
        hessian, diagonal = convert_to_tensor(self.hessian), ops.diagonal(convert_to_tensor(self.hessian))
        diagonal = ops.where(diagonal == 0, ops.ones_like(diagonal), diagonal)  # of what is never other than 0
        diagonal = diagonal + self.config.hessian_damping * ops.mean(diagonal)
        hessian = hessian - ops.diag(ops.diagonal(hessian)) + ops.diag(diagonal)
        integers, scale, zero, groups = gptq_quantize_matrix(
            self.weights(), ops.linalg_inv(hessian), blocksize=blocksize, group_size=self.config.group_size,
            activation_order=self.config.activation_order, order_metric=diagonal,
            compute_scale_zero=self.quantizer.find_params)
        self.layer.take_integers(integers, scale, zero, groups)

    finish = quantize_and_correct_layer

    def free(self):
        """Let go of what was gathered."""
        del self.hessian, self.layer
