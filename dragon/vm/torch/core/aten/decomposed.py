"""What operators of PyTorch's are made of, where that takes more than a row's expression."""
import math

from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.exporting.tracer import aten, current_tracer
from dragon.vm.torch.core.layout import contiguous_format, preserve_format
from dragon.vm.torch.core.tensor import Tensor


def reduced(losses, reduction):
    """Return losses of elements, their mean, or their sum."""
    a = aten()
    return losses if reduction == 0 else a.mean.default(losses) if reduction == 1 else a.sum.default(losses)


def count(sizes):
    """Return the number of elements of a shape."""
    return math.prod(sizes)


def as_tensor(value):
    """Return a number as a tensor of its usual dtype, each of a list; tensors and None as they are."""
    if isinstance(value, (list, tuple)):
        return [as_tensor(item) for item in value]
    if value is None or isinstance(value, Tensor):
        return value
    torch = api()
    usual = torch.get_default_dtype() if isinstance(value, float) else torch.bool if isinstance(value, bool) else (
        torch.int64)
    return aten().scalar_tensor.default(value, dtype=usual)


# --- axes

def swapped(x, first, second):
    """Return a tensor with two axes in each other's place."""
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return aten().permute.default(x, order) if x.ndim else x


def moved(x, source, destination):
    """Return a tensor with one axis elsewhere."""
    order = [axis for axis in range(x.ndim) if axis != source % x.ndim]
    order.insert(destination % x.ndim, source % x.ndim)
    return aten().permute.default(x, order)


def alike(tensors):
    """Return tensors of one shape, NotImplemented for others."""
    if any(tuple(tensor.shape) != tuple(tensors[0].shape) for tensor in tensors):
        return NotImplemented
    return list(tensors)


def split(x, split_size, dim):
    """Return pieces of one length, the last of which may be shorter."""
    length = int(x.shape[dim])
    sizes = [min(split_size, length - start) for start in range(0, length, split_size)]
    return aten().split_with_sizes.default(x, sizes, dim)


def pixel_shuffle(x, factor):
    """Return a picture with its channels in squares beside each other."""
    a, (*batch, channels, height, width) = aten(), x.shape
    n, rest = len(batch), channels // factor ** 2
    made = a.view.default(x, [*batch, rest, factor, factor, height, width])
    made = a.permute.default(made, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return a.reshape.default(made, [*batch, rest, height * factor, width * factor])


def pixel_unshuffle(x, factor):
    """Return a picture with the elements of its squares in channels of their own."""
    a, (*batch, channels, height, width) = aten(), x.shape
    n, height, width = len(batch), height // factor, width // factor
    made = a.view.default(x, [*batch, channels, height, factor, width, factor])
    made = a.permute.default(made, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return a.reshape.default(made, [*batch, channels * factor ** 2, height, width])


def has_axis(x, axis):
    """Return whether a tensor has an axis."""
    return -x.ndim <= axis < x.ndim


def chunk(x, chunks, dim):
    """Return so many pieces of one length, NotImplemented of nothing or where there is no such axis."""
    if not has_axis(x, dim) or chunks < 1 or type(x.shape[dim]) is int and x.shape[dim] == 0:
        return NotImplemented
    return tuple(aten().split.Tensor(x, -(-x.shape[dim] // chunks), dim))


def split_along(x, sections, dim, rank):
    """Return parts of one length, or between places, NotImplemented where there are not so many axes, or none such."""
    if x.ndim < rank:
        return NotImplemented
    a = aten().tensor_split
    if type(sections) is int and (sections < 1 or type(x.shape[dim]) is int and x.shape[dim] % sections):
        return NotImplemented
    return tuple((a.sections if type(sections) is int else a.indices)(x, sections, dim))


def narrow(x, dim, start, length):
    """Return a part of an axis, NotImplemented where it is not there."""
    if not has_axis(x, dim):
        return NotImplemented
    size, numbers = x.shape[dim], all(type(item) is int for item in (start, length))
    start = start + size if type(start) is int and start < 0 else start
    if numbers and (length < 0 or type(size) is int and not 0 <= start <= size - length):
        return NotImplemented
    return aten().slice.Tensor(x, dim, start, start + length)


def inverse(dims):
    """Return the order of axes that takes another one back."""
    order = [axis % len(dims) for axis in dims]
    return [order.index(axis) for axis in range(len(order))]


def with_part(x, new, parts, dim, place):
    """Return a tensor with another one in the place of one of its parts along an axis."""
    start = sum(part.shape[dim] for part in parts[:place])
    return aten().slice_scatter.default(x, new, dim, start, start + new.shape[dim])


# --- shapes

def is_dense(x):
    """Return whether a tensor lies in memory in the order of its elements."""
    return lies_in(x, contiguous_format)


def lies_in(x, memory_format):
    """Return whether a tensor lies in memory in an order of its axes."""
    return current_tracer().quietly(x.is_contiguous, (), {"memory_format": memory_format})


def converted(x, device, dtype, copy, memory_format):
    """Return a tensor in another dtype, on another device, or in another order; itself where that changes nothing."""
    named = {} if dtype == x.dtype else {"dtype": dtype}
    if device.type != x.device.type:
        named["device"] = device
    if not named and not copy and (memory_format in (None, preserve_format) or lies_in(x, memory_format)):
        return x
    if memory_format is not None:
        named["memory_format"] = memory_format
    return aten()._to_copy.default(x, **named)


def reshape(x, shape):
    """Return a view of another shape, of a copy where the memory does not lie in order."""
    shape, a = list(shape), aten()
    if -1 in shape and all(type(size) is int for size in (*x.shape, *shape)) and 0 not in shape:
        shape = [math.prod(x.shape) // -math.prod(shape) if size == -1 else size for size in shape]
    if is_dense(x) or _is_view(x, shape):
        return a.view.default(x, shape)
    return a._unsafe_view.default(a.clone.default(x, memory_format=contiguous_format), shape)


def _is_view(x, shape):
    """Return whether memory that does not lie in order has another shape all the same, at all sizes that may come."""
    if any(type(size) is not int for size in (*x.shape, *shape)):
        return len(shape) == x.ndim and all(one is another for one, another in zip(x.shape, shape))
    try:
        current_tracer().quietly(x.view, (tuple(shape),), {})
    except RuntimeError:
        return False
    return True


def flatten(x, start_dim, end_dim):
    """Return a tensor with some axes as one."""
    a = aten()
    if x.ndim == 0:
        return a.view.default(x, [1])
    if not has_axis(x, start_dim) or not has_axis(x, end_dim) or start_dim % x.ndim > end_dim % x.ndim:
        return NotImplemented
    first, last = start_dim % x.ndim, end_dim % x.ndim
    if first == last:
        return x
    sizes = list(x.shape)
    return a.reshape.default(x, [*sizes[:first], math.prod(sizes[first:last + 1]), *sizes[last + 1:]])


# --- products

def linear(input, weight, bias):
    """Return the products with a matrix that the dispatcher takes a layer apart into.

    The matrix is transposed by `t`, which is an operator for the dispatcher.
    """
    a = aten()
    if weight.ndim != 2 or input.ndim < 2:
        return linear_by_table(input, weight, bias)
    turned, sizes = a.t.default(weight), list(input.shape)
    folded = a.view if is_dense(input) else a.reshape
    flat = input if input.ndim == 2 else folded.default(input, [math.prod(sizes[:-1]), sizes[-1]])
    made = a.mm.default(flat, turned) if bias is None else a.addmm.default(bias, flat, turned)
    return made if input.ndim == 2 else a.view.default(made, [*sizes[:-1], weight.shape[0]])


def linear_by_table(input, weight, bias):
    """Return the products with a matrix that PyTorch's table of decompositions takes a layer apart into."""
    a = aten()
    if weight.ndim != 2 or bias is None and input.ndim < 2 or input.ndim > 2 and not is_dense(input):
        made = a.matmul.default(input, a.permute.default(weight, [1, 0]) if weight.ndim == 2 else weight)
        return made if bias is None else a.add.Tensor(made, bias)
    shape = list(input.shape)
    if bias is None:
        return _folded(a, input, a.permute.default(weight, [1, 0]))
    flat = input if input.ndim == 2 else a.view.default(input, [math.prod(shape[:-1]), shape[-1]])
    made = a.addmm.default(bias, flat, a.permute.default(weight, [1, 0]))
    return made if input.ndim == 2 else a.view.default(made, [*shape[:-1], weight.shape[0]])


def _by_vector(a, x, vector):
    """Return the products of all rows, whatever axes they lie along, and a vector."""
    shape = list(x.shape)
    rows = a.reshape.default(x, [math.prod(shape[:-1]), shape[-1]]) if x.ndim > 2 else x
    made = a.sum.dim_IntList(a.mul.Tensor(rows, vector), [1])
    return a.view.default(made, shape[:-1]) if x.ndim > 2 else made


def _folded(a, x, matrix):
    """Return one product of all rows, whatever axes they lie along, and a matrix."""
    if x.ndim == 2:
        return a.mm.default(x, matrix)
    shape = list(x.shape)
    made = a.mm.default(a.view.default(x, [math.prod(shape[:-1]), shape[-1]]), matrix)
    return a.view.default(made, [*shape[:-1], matrix.shape[1]])


def matmul(x, y):
    """Return the product of two tensors by operators of one form each."""
    a = aten()
    if x.ndim == 2 and y.ndim == 2:
        return a.mm.default(x, y)
    if x.ndim == 1 and y.ndim == 1:
        return a.dot.default(x, y)
    if x.ndim == 2 and y.ndim == 1:
        return a.mv.default(x, y)
    if y.ndim == 1:
        return _by_vector(a, x, y)
    if x.ndim == 1 and y.ndim > 2:
        return _by_vector(a, swapped(y, -1, -2), x)
    if x.ndim == 1:
        return a.squeeze.dim(matmul(a.unsqueeze.default(x, 0), y), -2)
    if x.ndim == 3 and y.ndim == 3 and type(x.shape[0]) is int and x.shape[0] == y.shape[0]:
        return a.bmm.default(x, y)
    if x.ndim > 2 and y.ndim == 2 and is_dense(x):  # else the matrix would be there once for each of a batch
        return _folded(a, x, y)
    batch = [one if one != 1 else another for one, another in zip(
        _padded(x.shape[:-2], y.ndim - 2), _padded(y.shape[:-2], x.ndim - 2))]
    parts = []
    for part in (x, y):
        wide = a.expand.default(part, [*batch, *part.shape[-2:]])
        parts.append(a.reshape.default(wide, [math.prod(batch), *part.shape[-2:]]))
    return a.view.default(a.bmm.default(*parts), [*batch, x.shape[-2], y.shape[-1]])


def _padded(sizes, rank):
    return [1] * (rank - len(sizes)) + list(sizes)


def einsum(equation, tensors):
    """Return a sum over products of two tensors as a product of matrices, NotImplemented of others."""
    words = equation.replace(" ", "").split("->")
    inputs = words[0].split(",")
    if len(tensors) != 2 or len(inputs) != 2 or "." in equation or any(
            len(set(word)) != len(word) or len(word) != tensor.ndim for word, tensor in zip(inputs, tensors)):
        return NotImplemented
    left, right = inputs
    both = [letter for letter in left if letter in right]
    result = words[1] if len(words) == 2 else "".join(sorted(set(left) ^ set(right)))
    sizes, other = (dict(zip(word, tensor.shape)) for word, tensor in zip(inputs, tensors))
    if len(set(result)) != len(result) or set(result) - set(left + right) or any(
            sizes[letter] != other[letter] for letter in both):
        return NotImplemented
    sizes.update(other)
    if set(left) - set(right) - set(result) or set(right) - set(left) - set(result) or 1 in sizes.values():
        return NotImplemented  # sums of one operand, and axes of length 1 that may stand for others
    batch, summed = ([letter for letter in both if (letter in result) == kept] for kept in (True, False))
    rows, columns = ([letter for letter in word if letter not in both] for word in (left, right))
    return _product(tensors, inputs, (batch, rows, summed, columns), sizes, result)


def _product(tensors, words, letters, sizes, result):
    """Return the product of two tensors, whose axes have letters: of a batch, rows, sums, and columns."""
    a, (batch, rows, summed, columns) = aten(), letters

    def folded(tensor, word, first, second):
        tensor = a.permute.default(tensor, [word.index(letter) for letter in (*batch, *first, *second)])
        return reshape(tensor, [math.prod(sizes[letter] for letter in part) for part in (batch, first, second)])
    made = a.bmm.default(folded(tensors[0], words[0], rows, summed), folded(tensors[1], words[1], summed, columns))
    order = [*batch, *rows, *columns]
    made = a.view.default(made, [sizes[letter] for letter in order])
    return a.permute.default(made, [order.index(letter) for letter in result])


# --- layers

def dropout(x, p, train):
    """Return a tensor without some of its elements, which were drawn, NotImplemented for what is no probability."""
    a = aten()
    if not 0 <= p <= 1:
        return NotImplemented
    if p == 0 or not train or 0 in x.shape:
        return x
    if p == 1:
        return a.mul.Tensor(x, a.zeros.default([], dtype=x.dtype, device=x.device))
    return a.mul.Tensor(x, a.div_.Scalar(a.bernoulli_.float(a.empty_like.default(x), 1 - p), 1 - p))


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """Return the normalized batch; running statistics are written to in training."""
    a = aten()
    if not training:
        return a._native_batch_norm_legit_no_training.default(input, weight, bias, running_mean, running_var, momentum,
                                                              eps)[0]
    if running_mean is None:
        return a._native_batch_norm_legit.no_stats(input, weight, bias, True, momentum, eps)[0]
    made = a._native_batch_norm_legit_functional.default(input, weight, bias, running_mean, running_var, True, momentum,
                                                         eps)
    a.copy_.default(running_mean, made[3])
    a.copy_.default(running_var, made[4])
    return made[0]


def attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """Return attention as products and a softmax, NotImplemented with dropout or grouped heads."""
    if dropout_p or enable_gqa:
        return NotImplemented
    a = aten()
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    weights = a.matmul.default(a.mul.Tensor(query, math.sqrt(factor)),
                               a.mul.Tensor(a.transpose.int(key, -2, -1), math.sqrt(factor)))
    if is_causal:
        torch = api()
        ones = a.ones.default([query.shape[-2], key.shape[-2]], dtype=torch.bool)
        attn_mask = a.tril.default(ones)
    if attn_mask is not None and not attn_mask.is_floating_point():
        weights = a.masked_fill.Scalar(weights, a.logical_not.default(attn_mask), -math.inf)
    elif attn_mask is not None:
        weights = a.add.Tensor(weights, attn_mask)
    return a.matmul.default(a._softmax.default(weights, -1, False), value)
