"""What is computed of nested tensors of layout `torch.strided`: of all numbers at once, or sample by sample.

PyTorch has far fewer functions of this layout than of the jagged one; what it refuses is refused here.
"""
import functools

from dragon.dialects.aten.signatures import NESTED, signatures
from dragon.vm.torch.core.aten.kinds import CONSTANT, POINTWISE, RANDOM, kinds_of, synonyms
from dragon.vm.torch.core.nested.conversions import with_numbers
from dragon.vm.torch.core.nested.making import strided_of
from dragon.vm.torch.core.nested.parts import (NestedTensor, StridedNested, is_nested, make_strided, parts_of,
                                               sizes_of, strided_rule, values_of)
from dragon.vm.torch.core.nested.properties import axis_of, samples_of, strided_size
from dragon.vm.torch.core.nested.shapes import given_sizes
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops

ITSELF = "conj"  # of real numbers what its argument is, which takes no kernel
NOT_HERE = "where"  # PyTorch's takes nested tensors alone, here numbers are taken too


@functools.cache
def applies(name):
    """Return whether a function is computed of all numbers at once: pointwise ones of which PyTorch has a kernel."""
    kinds = kinds_of(name)
    if POINTWISE not in kinds or name == NOT_HERE:
        return False
    if name == ITSELF or CONSTANT in kinds and RANDOM not in kinds:
        return True
    known = signatures(NESTED)
    return any(f"aten::{room}{one}" in known for one in synonyms(name) for room in ("", "native_"))


def compute(func, name, args, kwargs):
    """Return a function of the numbers, in the samples' shapes."""
    nested = next(one for one in (*args, *kwargs.values()) if is_nested(one))
    tensors = [one for one in args if isinstance(one, Tensor)]
    for other in tensors[1:] if is_nested(tensors[0]) else tensors[:1]:
        require_same(name, nested, other)
    if args and not is_nested(args[0]) and name in ("sub", "subtract"):
        raise NestedTensor._refusal("rsub")
    kwargs = {key: value for key, value in kwargs.items() if key != "layout"}
    made = func(*(values_of(one) if is_nested(one) else one for one in args), **kwargs)
    return args[0] if name.endswith("_") or kwargs.get("inplace") else with_numbers(nested, made)


def require_same(name, nested, other):
    """Raise unless two operands are nested and alike, or one is a number."""
    if other.ndim == 0 and not is_nested(other):
        return
    if not isinstance(other, StridedNested):
        raise RuntimeError(f"{name}: Expected both self and other to be nested, but got a nested self and non-nested "
                           "other")
    if name == "eq":
        raise RuntimeError("eq does not support nested tensor as other value: got two nested tensors")
    if sizes_of(nested) != sizes_of(other):
        raise RuntimeError(f"{name} does not support broadcasting when given a NestedTensor: got samples of shapes "
                           f"{sizes_of(nested)} and {sizes_of(other)}, expected the same")


StridedNested.ELEMENTWISE[applies] = compute


def each(name, change, *nested):
    """Return a nested tensor of what samples become."""
    return strided_of(name, [change(*parts) for parts in zip(*map(samples_of, nested))], nested[0].dtype)


@strided_rule("linear")
def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias` of every sample."""
    if input.ndim != 3:
        raise RuntimeError(f"linear: got a nested tensor of {input.ndim} dims, expected 3: Inputs to linear must be "
                           "3-dimensional nested tensors")
    width = strided_size(input, -1)
    rows = ops.linear(ops.reshape(values_of(input), (-1, width)), weight, bias)
    sizes = parts_of(input)[0]
    ends = ops.full((sizes.shape[0], 1), weight.shape[0], dtype=sizes.dtype)
    return make_strided(ops.cat((sizes[:, :-1], ends), 1), ops.reshape(rows, (-1,)))


@strided_rule("layer_norm")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """Normalize every sample over its last dims, of which all samples have the same."""
    if weight is None or bias is None:
        raise ValueError("layer_norm: got no weight or bias, expected both: NestedTensor layer_norm requires weight "
                         "and bias")
    shape = tuple(normalized_shape)
    if any(one[len(one) - len(shape):] != shape for one in sizes_of(input)):
        raise RuntimeError(f"layer_norm: got normalized_shape {shape} for samples of shapes {sizes_of(input)}, "
                           "expected their last sizes")
    rows = ops.reshape(values_of(input), (-1, *shape))
    return with_numbers(input, ops.reshape(ops.layer_norm(rows, shape, weight, bias, eps), (-1,)))


@strided_rule("softmax")
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Return shares of 1 along a dim of every sample."""
    if dim is None:
        raise RuntimeError("softmax: got no dim for a nested tensor, expected one")
    axis = axis_of("softmax", input.ndim, dim)
    if axis == 0:
        raise RuntimeError("softmax: got dim 0, expected another: Cannot apply softmax across nested dimension 0")
    return each("softmax", lambda one: ops.softmax(one, axis - 1), input)


@strided_rule("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Return the sum along the last dim, which is kept."""
    if dim is None:
        raise NestedTensor._refusal("sum")
    dims = [dim] if hasattr(dim, "__index__") else list(dim)
    if len(dims) != 1:
        raise RuntimeError(f"sum: got dims {tuple(dims)}: NestedTensor only allows reduction of a single dimension for "
                           "now.")
    if axis_of("sum", input.ndim, dims[0]) != input.ndim - 1:
        raise RuntimeError("sum: NestedTensor can only be reduced across the last dimension for now got dimension "
                           f"{dims[0]} instead.")
    if not keepdim:
        raise RuntimeError("sum: got keepdim=False: NestedTensor always requires keepdim=True for now.")
    made = [ops.sum(one, -1, True, dtype=dtype) for one in samples_of(input)]
    return strided_of("sum", made) if made else input


@strided_rule("transpose", "swapaxes", "swapdims", "swap_axes", "swap_dims")
def transpose(input, dim0, dim1):
    """Exchange two dims of every sample."""
    one, two = axis_of("transpose", input.ndim, dim0), axis_of("transpose", input.ndim, dim1)
    if one == two:
        return input
    if 0 in (one, two):
        raise RuntimeError(f"transpose: got dims {dim0} and {dim1}: Nested tensor dimension 0 cannot be transposed")
    return each("transpose", lambda sample: ops.transpose(sample, one - 1, two - 1), input)


@strided_rule("view", "reshape")
def reshape(input, *shape):
    """Give every sample other sizes; -1 keeps that of a dim that samples differ in."""
    shape, batch = given_sizes(shape), parts_of(input)[0].shape[0]
    if len(shape) < input.ndim or batch == 0 or shape[0] != batch:
        raise RuntimeError(f"reshape: got sizes {shape} for {batch} samples of {input.ndim - 1} dims, expected "
                           f"{batch} first and as many sizes as there are dims: view: For now only underlying reshape "
                           "of dims behind the batch is implemented")
    made = []
    for sample in samples_of(input):
        # -1 inherits in its own place; behind the dims that there are, it is inferred.
        sizes = [sample.shape[axis] if size == -1 and axis < sample.ndim else size
                 for axis, size in enumerate(shape[1:])]
        made.append(ops.reshape(sample, tuple(sizes)))
    return strided_of("reshape", made, input.dtype)


@strided_rule("unsqueeze")
def unsqueeze(input, dim):
    """Add a dim of size 1 to every sample."""
    axis = axis_of("unsqueeze", input.ndim + 1, dim)
    if axis == 0:
        raise RuntimeError("unsqueeze(): For nested tensors, unsqueezing dimension 0 is not supported at the moment: "
                           f"got dim {dim}")
    return each("unsqueeze", lambda one: ops.unsqueeze(one, axis - 1), input)


@strided_rule("squeeze")
def squeeze(input, dim=None):
    """Take a dim away from every sample if its size is 1."""
    if dim is None:
        raise RuntimeError("squeeze(): For nested tensors, squeeze without the dim argument is not supported")
    axis = axis_of("squeeze", input.ndim, dim)
    if axis == 0:
        raise RuntimeError("squeeze(): For nested tensors, squeezing dimension 0 is not supported at the moment")
    return each("squeeze", lambda one: ops.squeeze(one, axis - 1), input) if strided_size(input, axis) == 1 else input


@strided_rule("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    """Return the tensor if one dim alone is to be flattened; there are no sizes to join."""
    start, end = (axis_of("flatten", input.ndim, dim) for dim in (start_dim, end_dim))
    return input if start == end else strided_size(input)


@strided_rule("select")
def select(input, dim, index):
    """Return one sample, or what every sample has at one place of a dim."""
    axis = axis_of("select", input.ndim, dim)
    if axis:
        return each("select", lambda one: ops.select(one, axis - 1, index), input)
    count = parts_of(input)[0].shape[0]
    if not -count <= index < count:
        raise IndexError(f"select: index {index} is out of bounds for dimension 0 with size {count}")
    return samples_of(input)[index]


@strided_rule("__getitem__")
def get_item(self, key):
    """Return a sample, or what every sample has behind `...`."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if keys and hasattr(keys[0], "__index__") and not isinstance(keys[0], Tensor):
        sample = select(self, 0, keys[0].__index__())
        return sample[tuple(keys[1:])] if keys[1:] else sample
    if keys and keys[0] is Ellipsis and all(hasattr(one, "__index__") for one in keys[1:]):
        return each("__getitem__", lambda one: one[tuple(keys)], self)
    raise NestedTensor._refusal("__getitem__")


@strided_rule("narrow")
def narrow(input, dim, start, length):
    """Return a range of the samples."""
    if dim != 0:
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
    samples = samples_of(input)
    if not 0 <= start <= start + length <= len(samples):
        raise RuntimeError(f"narrow: got start {start} and length {length}, expected a range within 0 to "
                           f"{len(samples)}")
    return strided_of("narrow", list(samples[start:start + length]), input.dtype)


def parted(input, parts):
    """Return nested tensors of the parts of every sample."""
    return tuple(strided_of("chunk", list(one), input.dtype) for one in zip(*map(parts, samples_of(input))))


@strided_rule("chunk")
def chunk(input, chunks, dim=0):
    """Return so many parts along the last dim."""
    if axis_of("chunk", input.ndim, dim) != input.ndim - 1:
        raise RuntimeError(f"chunk: got dim {dim}: Chunk for nested tensors is currently only supported for the last "
                           "dimension.")
    if strided_size(input, -1) % chunks:
        raise RuntimeError("chunk: Chunk for nested tensors is only supported for nested tensors with trailing "
                           f"dimension divisible by chunks, got: {strided_size(input, -1)} % {chunks} != 0")
    return parted(input, lambda one: ops.chunk(one, chunks, -1))


@strided_rule("split", "split_with_sizes")
def split(tensor, split_size_or_sections, dim=0):
    """Return parts of some sizes along the last dim."""
    if hasattr(split_size_or_sections, "__index__"):
        raise NestedTensor._refusal("split")
    if axis_of("split_with_sizes", tensor.ndim, dim) != tensor.ndim - 1:
        raise RuntimeError(f"split_with_sizes for nested tensors is currently only supported for the last dimension: "
                           f"got dim {dim}")
    return parted(tensor, lambda one: FUNCTIONS["split"](one, split_size_or_sections, -1))


@strided_rule("cat", "concat", "concatenate")
def cat(tensors, dim=0):
    """Return nested tensors one after the other, or their samples side by side."""
    tensors = list(tensors)
    if not all(isinstance(one, StridedNested) for one in tensors):
        raise RuntimeError("cat(): expected each tensor in given list to be nested")
    axis = axis_of("cat", tensors[0].ndim, dim)
    if axis == 0:
        return strided_of("cat", [sample for one in tensors for sample in samples_of(one)], tensors[0].dtype)
    if len({parts_of(one)[0].shape[0] for one in tensors}) > 1:
        raise RuntimeError("cat(): got batches of other sizes, expected as many samples in each")
    return each("cat", lambda *parts: ops.cat(parts, axis - 1), *tensors)


@strided_rule("bmm", "matmul", "__matmul__")
def matmul(input, mat2, *, out=None):
    """Return the products of the samples of two nested tensors."""
    if not (isinstance(input, StridedNested) and isinstance(mat2, StridedNested)):
        told = ["nested" if is_nested(one) else "non-nested" for one in (input, mat2)]
        raise RuntimeError(f"matmul: Expected both to be nested, but got a {told[0]} self and {told[1]} other")
    if input.ndim < 3 or mat2.ndim < 3 or parts_of(input)[0].shape[0] != parts_of(mat2)[0].shape[0] or out is not None:
        raise RuntimeError(f"matmul: got nested tensors of {input.ndim} and {mat2.ndim} dims, expected at least 3, as "
                           "many samples in both, and no out=")
    return each("matmul", ops.matmul, input, mat2)


@strided_rule("to_padded_tensor", "nested_to_padded_tensor")
def to_padded_tensor(input, padding, output_size=None, out=None):
    """Return one strided tensor of all samples, with a number behind the shorter ones."""
    shapes, rank = sizes_of(input), input.ndim - 1
    widest = tuple(max((shape[axis] for shape in shapes), default=0) for axis in range(rank))
    wanted = (len(shapes), *widest) if output_size is None else tuple(int(one) for one in output_size)
    if len(wanted) != rank + 1 or any(a < b for a, b in zip(wanted, (len(shapes), *widest))):
        raise RuntimeError(f"to_padded_tensor: got output_size {wanted}, expected at least {(len(shapes), *widest)}: "
                           "Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
    made = []
    for sample in samples_of(input):
        behind = [count for axis in reversed(range(rank)) for count in (0, wanted[axis + 1] - sample.shape[axis])]
        made.append(ops.pad(sample, behind, "constant", padding))
    made += [ops.full(wanted[1:], padding, dtype=input.dtype) for _ in range(wanted[0] - len(shapes))]
    whole = ops.stack(made, 0) if made else ops.zeros(wanted, dtype=input.dtype)
    return whole if out is None else out.copy_(whole)


@strided_rule("embedding")
def embedding(input, weight, *args, **options):
    """Return the rows of a table that vectors of indices name."""
    from dragon.vm.torch.nn.functional import embedding as look_up
    if input.ndim > 2:
        raise RuntimeError(f"embedding: got a nested tensor of {input.ndim} dims, expected vectors of indices")
    made = [look_up(one, weight, *args, **options) for one in samples_of(input)]
    return strided_of("embedding", made)


@strided_rule("scaled_dot_product_attention")
def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Return attention within every sample."""
    from dragon.vm.torch.nn.functional import scaled_dot_product_attention
    if attn_mask is not None or is_causal:
        raise RuntimeError("scaled_dot_product_attention: Nested tensors for query / key are not supported when "
                           "is_causal=True or an attn_mask is given; expected neither, or the layout torch.jagged")
    if not all(isinstance(one, StridedNested) for one in (query, key, value)):
        raise RuntimeError("scaled_dot_product_attention: got nested and strided tensors, expected three nested ones")
    return each("scaled_dot_product_attention", lambda *three: scaled_dot_product_attention(
        *three, dropout_p=dropout_p, scale=scale, enable_gqa=enable_gqa), query, key, value)
