"""Softmax and normalizations of jagged tensors."""
from dragon.vm.torch.core.functions.activation import implicit_dim
from dragon.vm.torch.core.nested.padding import packed, rectangular
from dragon.vm.torch.core.nested.parts import form_of, is_jagged, lengths_of, make, rule, shape_of, values_of
from dragon.vm.torch.core.nested.properties import axis_of
from dragon.vm.torch.core.nested.ragged_size import NestedInt
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import ops


def softmax_along(name, x, dim, dtype):
    """Return softmax or its logarithm along a dim that is not the batch's."""
    if isinstance(dim, (tuple, list)):
        raise RuntimeError(f"{name}(): not supported for dimensions of type 'tuple' for NestedTensor: got {dim}")
    form, axis, held = form_of(x), axis_of(name, x.ndim, dim), values_of(x)
    if axis == 0:
        raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor: got "
                           f"dim {dim}")
    if axis != form.dim:
        return make(FUNCTIONS[name](held, axis - 1, dtype=dtype), form)
    if name == "log_softmax" or form.dim > 1:
        raise RuntimeError(f"{name}(): not supported when reducing along the ragged dimension for ragged_idx > 1 for "
                           f"NestedTensor: got dim {dim}" if name == "softmax" else
                           f"{name}(): not supported when reducing along the ragged dimension for NestedTensor: got "
                           f"dim {dim}")
    if form.lengths is not None:
        raise RuntimeError("softmax(): not supported where lengths is not None if reducing across the ragged dimension "
                           "for NestedTensor")
    whole = ops.softmax(rectangular(x, float("-inf")), axis, dtype=dtype)
    return make(packed(whole, form, held.shape[0]), form)


@rule("softmax")
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return shares of 1 along a dim."""
    return softmax_along("softmax", input, *implied("softmax", input, dim, _stacklevel, dtype))


@rule("log_softmax")
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return the logarithm of shares of 1 along a dim."""
    return softmax_along("log_softmax", input, *implied("log_softmax", input, dim, _stacklevel, dtype))


def implied(name, x, dim, third, dtype):
    """Return a dim and a dtype: methods have the dtype in the third place, and a dim that is left out warns."""
    if dtype is None and hasattr(third, "is_floating_point"):
        dtype = third
    if dim is None:
        dim = implicit_dim(name, x.ndim)
    return dim, dtype


@rule("layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """Normalize over the last dims, perhaps over the ragged one: each sample over what it has."""
    form, shape = form_of(input), tuple(normalized_shape)
    if input.ndim <= 2:
        raise RuntimeError(f"layer_norm(): not supported for NestedTensor objects with 2 or fewer dimensions: got "
                           f"{input.ndim}")
    if len(shape) == input.ndim:
        raise RuntimeError("layer_norm(): not supported when normalizing over the batch dimension for NestedTensor: "
                           f"got {len(shape)} sizes for {input.ndim} dims")
    if not any(isinstance(size, NestedInt) and size == form.size for size in shape):
        return make(ops.layer_norm(values_of(input), shape, weight, bias, eps), form)
    if form.lengths is not None:
        raise RuntimeError("layer_norm(): not supported where lengths is not None if operating on the ragged dimension "
                           "for NestedTensor")
    if weight is not None or bias is not None:
        raise NotImplementedError("layer_norm: got weight or bias with a ragged normalized_shape, expected none")
    if shape != shape_of(input)[-len(shape):] or form.dim != 1:
        raise RuntimeError(f"layer_norm: got normalized_shape {shape}, expected the last sizes of {shape_of(input)} "
                           "from the ragged one on")
    return make(over_samples(input, form, eps), form)


def over_samples(x, form, eps):
    """Return values of which every sample has mean 0 and variance 1."""
    held, axes = values_of(x), tuple(range(1, x.ndim))
    whole = rectangular(x, 0.0)
    there = rectangular(make(ops.ones_like(held), form), 0.0)
    per_row = 1
    for size in held.shape[1:]:
        per_row *= size
    counts = ops.mul(ops.reshape(lengths_of(form), (-1,) + (1,) * len(axes)), per_row)
    mean = ops.div(ops.sum(whole, axes, True), counts)
    shifted = ops.mul(ops.sub(whole, mean), there)
    variance = ops.div(ops.sum(ops.square(shifted), axes, True), counts)
    return packed(ops.div(shifted, ops.sqrt(ops.add(variance, eps))), form, held.shape[0])


@rule("rms_norm")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root of the mean square over dims behind the ragged one."""
    form = form_of(input)
    if len(normalized_shape) > input.ndim - form.dim - 1:
        raise ValueError("rms_norm(): Normalization over the ragged dim not supported for nested tensors: got "
                         f"normalized_shape {tuple(normalized_shape)}")
    return make(FUNCTIONS["rms_norm"](values_of(input), normalized_shape, weight, eps), form)


@rule("embedding")
def embedding(input, weight, *args, **options):
    """Return the rows of a table that a jagged tensor of indices names."""
    # The function takes indices first, its operator the table.
    index, table = (input, weight) if is_jagged(input) else (weight, input)
    from dragon.vm.torch.nn.functional import embedding as look_up
    return make(look_up(values_of(index), table, *args, **options), form_of(index))
