"""What composite operators of PyTorch are in terms of the core ones."""
import math

from dragon.vm.torch.core.exporting.listening import aten

DECOMPOSITIONS = {}  # "name.overload" -> function of (the operators, arguments)


def is_made_of(*names):
    """Register a function under names of overloads."""
    def register(function):
        DECOMPOSITIONS.update(dict.fromkeys(names, function))
        return function
    return register


def default_table():
    """Return {OpOverload: function of its arguments}."""
    table = {}
    for name, function in DECOMPOSITIONS.items():
        packet, _, overload = name.partition(".")
        target = getattr(getattr(aten(), packet), overload)
        table[target] = _bound(function)
    return table


def _bound(function):
    def decomposition(*args, **kwargs):
        return function(aten(), *args, **kwargs)
    decomposition.__name__ = function.__name__
    return decomposition


def _permuted(a, x, first, second):
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return a.permute.default(x, order) if x.ndim else x


@is_made_of("t.default")
def _t(a, self):
    return a.permute.default(self, [1, 0]) if self.ndim == 2 else self


@is_made_of("transpose.int")
def _transpose(a, self, dim0, dim1):
    return _permuted(a, self, dim0, dim1)


@is_made_of("numpy_T.default")
def _numpy_t(a, self):
    return a.permute.default(self, list(range(self.ndim))[::-1])


@is_made_of("mT.default")
def _m_t(a, self):
    return _permuted(a, self, -1, -2)


@is_made_of("movedim.int")
def _movedim(a, self, source, destination):
    order = [axis for axis in range(self.ndim) if axis != source % self.ndim]
    order.insert(destination % self.ndim, source % self.ndim)
    return a.permute.default(self, order)


@is_made_of("linear.default")
def _linear(a, input, weight, bias=None):
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


def is_dense(x):
    """Return whether a tensor lies in memory in the order of its elements."""
    from dragon.vm.torch.core.exporting.listening import listener
    return listener().quietly(x.is_contiguous, (), {})


@is_made_of("matmul.default")
def _matmul(a, self, other):
    if self.ndim == 2 and other.ndim == 2:
        return a.mm.default(self, other)
    if self.ndim == 1 and other.ndim == 1:
        return a.sum.default(a.mul.Tensor(self, other))
    if other.ndim == 1:
        return _by_vector(a, self, other)
    if self.ndim == 1 and other.ndim > 2:
        return _by_vector(a, _permuted(a, other, -1, -2), self)
    if self.ndim == 1:
        return a.squeeze.dim(_matmul(a, a.unsqueeze.default(self, 0), other), -2)
    if self.ndim == 3 and other.ndim == 3 and type(self.shape[0]) is int and self.shape[0] == other.shape[0]:
        return a.bmm.default(self, other)
    if self.ndim > 2 and other.ndim == 2 and is_dense(self):  # else the matrix would be there once for each of a batch
        return _folded(a, self, other)
    batch = [one if one != 1 else another for one, another in zip(
        _padded(self.shape[:-2], other.ndim - 2), _padded(other.shape[:-2], self.ndim - 2))]
    parts = []
    for part in (self, other):
        wide = a.expand.default(part, [*batch, *part.shape[-2:]])
        parts.append(a.reshape.default(wide, [math.prod(batch), *part.shape[-2:]]))
    return a.view.default(a.bmm.default(*parts), [*batch, self.shape[-2], other.shape[-1]])


def _padded(sizes, rank):
    return [1] * (rank - len(sizes)) + list(sizes)


def _convolved(name, rank):
    @is_made_of(f"{name}.default")
    def convolution(a, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        many = [value if isinstance(value, (list, tuple)) else [value] * rank for value in (stride, padding, dilation)]
        return a.convolution.default(input, weight, bias, *map(list, many), False, [0] * rank, groups)


for _rank in (1, 2, 3):
    _convolved(f"conv{_rank}d", _rank)


@is_made_of("batch_norm.default")
def _batch_norm(a, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
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


@is_made_of("layer_norm.default")
def _layer_norm(a, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return a.native_layer_norm.default(input, normalized_shape, weight, bias, eps)[0]


@is_made_of("group_norm.default")
def _group_norm(a, input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    n, c = input.shape[:2]
    return a.native_group_norm.default(input, weight, bias, n, c, math.prod(input.shape[2:]), num_groups, eps)[0]


@is_made_of("dropout.default")
def _dropout(a, input, p, train):
    return a.native_dropout.default(input, p, True)[0] if train and p else a.clone.default(input)


@is_made_of("softmax.int")
def _softmax(a, self, dim, dtype=None):
    return a._softmax.default(self if dtype is None else a._to_copy.default(self, dtype=dtype), dim, False)


@is_made_of("log_softmax.int")
def _log_softmax(a, self, dim, dtype=None):
    return a._log_softmax.default(self if dtype is None else a._to_copy.default(self, dtype=dtype), dim, False)


@is_made_of("reshape.default", "view_as.default")
def _reshape(a, self, shape):
    shape = list(shape.shape) if hasattr(shape, "shape") else shape
    if -1 in shape and all(type(size) is int for size in (*self.shape, *shape)) and 0 not in shape:
        shape = [math.prod(self.shape) // -math.prod(shape) if size == -1 else size for size in shape]
    if is_dense(self) or _is_view(self, shape):
        return a.view.default(self, shape)
    return a.view.default(a.clone.default(self, memory_format=_row_major()), shape)


def _is_view(x, shape):
    """Return whether memory that does not lie in order has another shape all the same, at all sizes that may come."""
    if any(type(size) is not int for size in (*x.shape, *shape)):
        return len(shape) == x.ndim and all(one is another for one, another in zip(x.shape, shape))
    from dragon.vm.torch.core.exporting.listening import listener
    try:
        listener().quietly(x.view, (tuple(shape),), {})
    except RuntimeError:
        return False
    return True


def _row_major():
    from dragon.vm.torch.core.layout import contiguous_format
    return contiguous_format


@is_made_of("flatten.using_ints")
def _flatten(a, self, start_dim=0, end_dim=-1):
    if self.ndim == 0:
        return a.view.default(self, [1])
    first, last = start_dim % self.ndim, end_dim % self.ndim
    if first == last:
        return self
    sizes = list(self.shape)
    return a.reshape.default(self, [*sizes[:first], math.prod(sizes[first:last + 1]), *sizes[last + 1:]])


@is_made_of("unflatten.int")
def _unflatten(a, self, dim, sizes):
    dim %= self.ndim
    return a.view.default(self, [*self.shape[:dim], *sizes, *self.shape[dim + 1:]])


@is_made_of("contiguous.default")
def _contiguous(a, self, memory_format=None):
    return a.clone.default(self, memory_format=memory_format or _row_major())


@is_made_of("expand_as.default")
def _expand_as(a, self, other):
    return a.expand.default(self, list(other.shape))


@is_made_of("chunk.default")
def _chunk(a, self, chunks, dim=0):
    size = -(-self.shape[dim] // chunks)
    return a.split.Tensor(self, size, dim)


@is_made_of("split.Tensor")
def _split(a, self, split_size, dim=0):
    length = int(self.shape[dim])
    sizes = [min(split_size, length - start) for start in range(0, length, split_size)]
    return a.split_with_sizes.default(self, sizes, dim)


@is_made_of("unbind.int")
def _unbind(a, self, dim=0):
    return [a.select.int(self, dim, place) for place in range(int(self.shape[dim]))]


@is_made_of("stack.default")
def _stack(a, tensors, dim=0):
    return a.cat.default([a.unsqueeze.default(tensor, dim) for tensor in tensors], dim)


@is_made_of("narrow.default")
def _narrow(a, self, dim, start, length):
    if isinstance(start, int) and start < 0:  # from the end: a slice of the last ones would stop at 0, their beginning
        start = start + self.shape[dim]
    return a.slice.Tensor(self, dim, start, start + length)


@is_made_of("to.dtype", "to.dtype_layout")
def _to_dtype(a, self, dtype, non_blocking=False, copy=False, memory_format=None):
    return self if self.dtype == dtype and not copy else a._to_copy.default(self, dtype=dtype)


@is_made_of("type_as.default")
def _type_as(a, self, other):
    return _to_dtype(a, self, other.dtype)


@is_made_of("rsub.Scalar", "rsub.Tensor")
def _rsub(a, self, other, alpha=1):
    scaled = self if alpha == 1 else a.mul.Tensor(self, alpha)
    return a.sub.Tensor(other, scaled) if hasattr(other, "shape") else a.add.Tensor(a.neg.default(scaled), other)


@is_made_of("floor_divide.default")
def _floor_divide(a, self, other):
    return a.div.Tensor_mode(self, other, rounding_mode="floor")


for _name, _target in {"multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div"}.items():
    DECOMPOSITIONS[f"{_name}.Tensor"] = lambda a, x, y, target=_target: getattr(a, target).Tensor(x, y)
for _name in ("and", "or", "xor"):
    DECOMPOSITIONS[f"__{_name}__.Tensor"] = lambda a, x, y, target=f"bitwise_{_name}": getattr(a, target).Tensor(x, y)


@is_made_of("square.default")
def _square(a, self):
    return a.pow.Tensor_Scalar(self, 2)


@is_made_of("silu.default")
def _silu(a, self):
    return a.mul.Tensor(self, a.sigmoid.default(self))


@is_made_of("relu6.default")
def _relu6(a, self):
    return a.hardtanh.default(self, 0.0, 6.0)


@is_made_of("max_pool2d.default")
def _max_pool2d(a, self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return a.max_pool2d_with_indices.default(self, kernel_size, list(stride), padding, dilation, ceil_mode)[0]


@is_made_of("adaptive_avg_pool2d.default")
def _adaptive_avg_pool2d(a, self, output_size):
    if list(output_size) == [1, 1]:
        return a.mean.dim(self, [-1, -2], True)
    return a._adaptive_avg_pool2d.default(self, output_size)


@is_made_of("cross_entropy_loss.default")
def _cross_entropy_loss(a, self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if label_smoothing or target.is_floating_point() or self.ndim != 2:
        return NotImplemented
    return a.nll_loss_forward.default(a.log_softmax.int(self, 1), target, weight, reduction, ignore_index)[0]


@is_made_of("nll_loss_nd.default")
def _nll_loss_nd(a, self, target, weight=None, reduction=1, ignore_index=-100):
    if self.ndim != 2:
        return NotImplemented
    return a.nll_loss_forward.default(self, target, weight, reduction, ignore_index)[0]


@is_made_of("scaled_dot_product_attention.default")
def _scaled_dot_product_attention(a, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
                                  enable_gqa=False):
    if dropout_p or enable_gqa:
        return NotImplemented
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    weights = a.matmul.default(a.mul.Tensor(query, math.sqrt(factor)),
                               a.mul.Tensor(a.transpose.int(key, -2, -1), math.sqrt(factor)))
    if is_causal:
        from dragon.vm import torch
        ones = a.ones.default([query.shape[-2], key.shape[-2]], dtype=torch.bool)
        attn_mask = a.tril.default(ones)
    if attn_mask is not None and not attn_mask.is_floating_point():
        weights = a.masked_fill.Scalar(weights, a.logical_not.default(attn_mask), -math.inf)
    elif attn_mask is not None:
        weights = a.add.Tensor(weights, attn_mask)
    return a.matmul.default(a._softmax.default(weights, -1, False), value)


@is_made_of("item.default")
def _item(a, self):
    return a._local_scalar_dense.default(self)


@is_made_of("lift_fresh_copy.default")
def _lift_fresh_copy(a, self):
    return a.clone.default(self)


@is_made_of("detach_.default")
def _detach_(a, self):
    return self
