"""A dense layer whose product is written as an Einstein sum."""
import math
import re

from dragon.vm.keras.core.promotion import alike
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.core.calibrated import KEPT, Calibrated
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.tensor import ops

# What may stand on the three places of an equation: plain, dots in front, dots behind.
FORMS = (("none", r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)"),
         ("left", r"0([a-zA-Z]+),([a-zA-Z]+)->0([a-zA-Z]+)"),
         ("right", r"([a-zA-Z]{2,})0,([a-zA-Z]+)->([a-zA-Z]+)0"))


class EinsumShapes:
    """The shapes that an equation asks for, given its input's and the result's without batch."""

    def __init__(self, equation, bias_axes, input_shape, output_shape):
        self.input_shape = tuple(input_shape)
        side, (self.input_spec, weight_spec, self.output_spec) = split_equation(equation)
        self.elided = len(self.input_shape) - len(self.input_spec)
        self.dots_left = side == "left"
        self.output = self.whole_output(output_shape)
        self.check()
        self.weight, self.input_axes, self.output_axes = self.whole_weight(weight_spec)
        self.bias = None if bias_axes is None else self.whole_bias(bias_axes)

    def whole_output(self, output_shape):
        """Return the result's shape with the batch and what the dots stand for."""
        output = [self.input_shape[0], *output_shape]
        if self.elided > 0 and self.dots_left:
            output[1:1] = self.input_shape[1:self.elided]
        elif self.elided > 0:
            output += self.input_shape[-self.elided:]
        return tuple(output)

    def sizes(self):
        """Return the sizes by letter of the input and of the result."""
        skipped = self.elided if self.dots_left else 0
        return (dict(zip(self.input_spec, self.input_shape[skipped:])),
                dict(zip(self.output_spec, self.output[skipped:])))

    def check(self):
        """Raise for letters whose sizes differ, or that come from nowhere."""
        inputs, outputs = self.sizes()
        for letter, size in inputs.items():
            made = outputs.get(letter)
            if made is not None and made != size:
                raise ValueError(f"Input shape and output shape do not match at shared dimension '{letter}'. Input "
                                 f"shape is {size}, and output shape is {made}.")

    def whole_weight(self, weight_spec):
        """Return the shape of the weight, and which of its axes are summed over or stay."""
        inputs, outputs = self.sizes()
        shape, input_axes, output_axes = [], [], []
        for letter in self.output_spec:
            if letter not in inputs and letter not in weight_spec:
                raise ValueError(f"Dimension '{letter}' was specified in the output '{self.output_spec}' but has no "
                                 f"corresponding dim in the input spec '{self.input_spec}' or weight spec "
                                 f"'{weight_spec}'")
        for axis, letter in enumerate(weight_spec):
            if letter not in outputs and letter not in inputs:
                raise ValueError(f"Weight dimension '{letter}' did not have a match in either the input spec "
                                 f"'{self.input_spec}' or the output spec '{self.output_spec}'. For this layer, the "
                                 "weight must be fully specified.")
            stays = letter in outputs
            shape.append(outputs[letter] if stays else inputs[letter])
            (output_axes if stays else input_axes).append(axis)
        return tuple(shape), input_axes, output_axes

    def whole_bias(self, bias_axes):
        """Return the shape of the bias: from its first letter on, 1 where it has none."""
        for letter in bias_axes:
            if letter not in self.output_spec:
                raise ValueError(f"Bias dimension '{letter}' was requested, but is not part of the output spec "
                                 f"'{self.output_spec}'")
        outputs = self.sizes()[1]
        first = min(self.output_spec.find(letter) for letter in bias_axes)
        shape = [outputs[letter] if letter in bias_axes else 1 for letter in self.output_spec[first:]]
        return tuple(shape + [1] * (0 if self.dots_left else self.elided))


def split_equation(equation):
    """Return on which side dots stand, and the letters of input, weight and result."""
    plain = equation.replace("...", "0")
    for side, form in FORMS:
        found = re.match(form, plain)
        if found:
            return side, found.groups()
    raise ValueError("Equations must be in the form [X],[Y]->[Z], ...[X],[Y]->...[Z], or [X]...,[Y]->[Z].... "
                     f"Invalid einsum equation '{equation}'.")


def _analyze_einsum_string(equation, bias_axes, input_shape, output_shape):
    """Return the shapes of weight, bias and result, and which axes of the weight are the input's and the result's."""
    found = EinsumShapes(equation, bias_axes, input_shape, output_shape)
    bias = None if found.bias is None else list(found.bias)
    return list(found.weight), bias, tuple(found.output), found.input_axes, found.output_axes


class EinsumDense(Calibrated, Layer):
    """Multiply by a weight along the axes that an equation names, add a bias, apply an activation.

    Parameters
    ----------
    equation : str
        As "abc,cd->abd": letters of the input, the kernel and the result; "..." may stand for axes of the input.
    output_shape : Union[int, Sequence[Optional[int]]]
        Of the result, without batch and what the dots stand for.
    bias_axes : str, optional
        The letters of the result along which a bias varies; no bias if None.
    kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer : optional
        As for `Dense`.
    kernel_constraint, bias_constraint, lora_rank, lora_alpha : optional
        As for `Dense`.

    """

    _arguments = ("output_shape=partial_output_shape ... activity_regularizer kernel_constraint "
                  "bias_constraint quantization_config lora_rank=_told_rank? lora_alpha=_told_alpha? "
                  "gptq_unpacked_column_size?")
    zero_name = "zero_point"
    quantized_modes = Calibrated.quantized_modes

    def __init__(self, equation, output_shape, activation=None, bias_axes=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, lora_rank=None, lora_alpha=None, gptq_unpacked_column_size=None,
                 quantization_config=None, **kwargs):
        super().__init__(**kwargs)
        expect(equation, str, type(self).__name__, "equation")
        shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        store(self, locals(), "equation activation bias_axes", "kernel bias")
        self.partial_output_shape = shape
        self.prepare_lora(lora_rank, lora_alpha)
        self.gptq_unpacked_column_size = gptq_unpacked_column_size
        self.quantization_config = quantization_config

    def shapes(self, input_shape):
        """Return the shapes that the equation asks for."""
        return EinsumShapes(self.equation, self.bias_axes, input_shape, self.partial_output_shape)

    def build(self, input_shape):
        """Make the weights."""
        shapes = self.shapes(input_shape)
        self.input_spec = InputSpec(ndim=len(input_shape))
        mode = self.quantization_mode
        if mode is not None:
            self.quantized_build(shapes.weight, mode, self.quantization_config)
        if mode not in KEPT:
            self._kernel = self.add_weight(
                name="kernel", shape=shapes.weight, initializer=self.placed_initializer(shapes),
                regularizer=self.kernel_regularizer, constraint=self.kernel_constraint, dtype=self.dtype)
        self.bias = None if shapes.bias is None else self.add_weight(
            name="bias", shape=shapes.bias, initializer=self.bias_initializer, regularizer=self.bias_regularizer,
            constraint=self.bias_constraint, dtype=self.dtype)
        self.built = True
        if self.lora_rank:
            self.enable_lora(self.lora_rank, lora_alpha=self.lora_alpha)

    def placed_initializer(self, shapes):
        """Return the kernel's initializer, told which axes are summed over if it counts them."""
        from dragon.vm.keras.initializers import VarianceScaling
        made = self.kernel_initializer
        if not isinstance(made, VarianceScaling) or not (made.input_axes is None or made.output_axes is None):
            return made
        config = {**made.get_config(), "seed": made.seed, "input_axes": shapes.input_axes,
                  "output_axes": shapes.output_axes}
        return made.__class__.from_config(config)

    kernel = property(lambda self: self.adapted(), doc="The weight, with the low-rank product if there is one.")

    def call(self, inputs, training=None):
        kernel = self.adapted() if self.lora_enabled else self._kernel.value
        made = ops.einsum(self.equation, list(alike(inputs, kernel)))
        made = made if self.bias is None else ops.add(made, self.bias.value)
        return made if self.activation is None else self.activation(made)

    # --- quantized forms

    def _letters(self):
        """Return the letters of input, weight and result, those that dots stand for included."""
        side, specs = split_equation(self.equation)
        elided = "0123456789"[:max(self.input_spec.ndim - len(specs[0]), 0)]  # which are no letters of an equation
        given, weight, made = specs
        return (elided + given, weight, elided + made) if side == "left" else (given + elided, weight, made + elided)

    @property
    def step_axis(self):
        """Tuple[int]: the axes of the weight that are summed over."""
        _, weight, made = self._letters()
        return tuple(axis for axis, letter in enumerate(weight) if letter not in made)

    def matrix_shape(self):
        rows = math.prod(self.whole_shape[axis] for axis in self.step_axis)
        return rows, math.prod(self.whole_shape) // rows

    def calibrated_shape(self):
        rows, columns = super().calibrated_shape()
        shape = self.whole_shape
        if len(shape) != 3:
            return rows, columns
        # Files of genuine Keras: whatever is summed over, the longest axis decides.
        rows = shape[0] if max(shape) == shape[0] else shape[0] * shape[1]
        return rows, math.prod(shape) // rows

    def build_calibrated(self, mode, config):
        super().build_calibrated(mode, config)
        setattr(self, f"{mode}_unpacked_column_size", self.calibrated_shape()[1])

    def check_matrix(self, mode):
        if self.step_axis != tuple(range(len(self.step_axis))):
            raise NotImplementedError(f"EinsumDense: got mode='{mode}' for the equation '{self.equation}', expected "
                                      "one whose weight has the axes that are summed over in front")

    def as_matrix(self, weight):
        return ops.reshape(weight, self.matrix_shape())

    def from_matrix(self, matrix):
        return ops.reshape(matrix, self.whole_shape)

    def scale_shape(self):
        _, weight, made = self._letters()
        return tuple(self.whole_shape[weight.index(letter)] if letter in weight else 1 for letter in made)

    def to_outputs(self, scale):
        _, weight, made = self._letters()
        kept = [letter for letter in weight if letter in made]
        order = [kept.index(letter) for letter in made if letter in kept]
        return ops.reshape(ops.permute(ops.squeeze(scale, self.step_axis), order), self.scale_shape())

    def from_outputs(self, scale):
        _, weight, made = self._letters()
        placed = [letter for letter in made if letter in weight]
        sizes = [self.whole_shape[weight.index(letter)] for letter in placed]
        order = [placed.index(letter) for letter in weight if letter in placed]
        scale = ops.permute(ops.reshape(scale, sizes), order)
        return ops.reshape(scale, [size if letter in made else 1 for letter, size in zip(weight, self.whole_shape)])

    def quantized_call(self, inputs, training=None):
        """Compute with the numbers that integers stand for, or with eight-bit floats."""
        self.check_mode()
        self.watch(inputs)
        if self.quantization_mode == "float8":
            return self._float8_call(inputs, training)
        given, _, made = self._letters()
        summed = tuple(axis for axis, letter in enumerate(given) if letter not in made)
        made = ops.einsum(self.equation, list(alike(self.quantized_inputs(inputs, summed), self.float_weight())))
        return self._finish(made, inputs, None if self.bias is None else self.bias.value)

    def _float8_call(self, inputs, training):
        if self.lora_enabled:
            raise NotImplementedError("Currently, `_float8_call` doesn't support LoRA")
        kernel = self.rounded(self._kernel.value, "kernel", training)
        made = ops.einsum(self.equation, list(alike(self.rounded(inputs, "inputs", training), kernel)))
        return self._finish(self.with_rounded_gradient(made), inputs, None if self.bias is None else self.float8_bias())

    def _finish(self, made, inputs, bias):
        product = self.low_rank_product()
        if product is not None:
            more = ops.einsum(self.equation, [inputs, ops.cast(product, inputs.dtype)])
            made = ops.cast(made + more, self.compute_dtype)
        made = made if bias is None else made + bias
        return made if self.activation is None else self.activation(made)

    def compute_output_shape(self, input_shape):
        return self.shapes(input_shape).output
