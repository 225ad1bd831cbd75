"""What operators are made of for those who answer for them, and what is told of tensors without any operator.

A function that returns NotImplemented leaves the call to what exported programs have; one that returns ITSELF leaves it
to the operator, which has a letter for arguments that do not fit.
"""
import functools
import math

from dragon.vm.torch.core.dispatching.wrapper_subclass import bare
from dragon.vm.torch.core.exporting.decompositions import composite_table
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.layout import contiguous_format, preserve_format

ITSELF = object()

# Functions of the API that tell how a tensor lies: nobody answers for them.
SHOWN = frozenset("""dim ndimension size stride is_floating_point is_complex is_contiguous element_size storage_offset
    is_same_size get_device is_signed is_inference is_conj is_neg nelement numel __len__ is_tensor broadcast_shapes
    result_type promote_types can_cast finfo iinfo is_autocast_enabled is_grad_enabled is_pinned is_shared
    is_set_to type_of""".split())


def _matmul(a, self, other):
    """Say products with vectors as PyTorch's dispatcher is told of them; NotImplemented of others."""
    if self.ndim == 1 and other.ndim == 1:
        return a.dot.default(self, other)
    if self.ndim == 2 and other.ndim == 1:
        return a.mv.default(self, other)
    return NotImplemented


def _reshape(a, self, shape):
    lies = bare(lambda x: x.reshape(shape), (self,), {})
    if bare(lambda x: _views(x, lies.shape), (self,), {}):
        return a.view.default(self, list(lies.shape))
    return a._unsafe_view.default(a.clone.default(self, memory_format=contiguous_format), list(lies.shape))


def _views(x, shape):
    try:
        x.view(shape)
    except RuntimeError:
        return False
    return True


def _contiguous_of(a, self, memory_format=None):
    named = {} if memory_format is None else {"memory_format": memory_format}
    if bare(lambda x: x.is_contiguous(**named), (self,), {}):
        return self
    return a.clone.default(self, memory_format=memory_format or contiguous_format)


def _has_axis(x, axis):
    return -x.ndim <= axis < x.ndim


def _flatten(a, self, start_dim=0, end_dim=-1):
    if self.ndim == 0:
        return _reshape(a, self, [1])
    if not _has_axis(self, start_dim) or not _has_axis(self, end_dim):
        return ITSELF
    start, end = start_dim % self.ndim, end_dim % self.ndim
    if start > end:
        return ITSELF
    if start == end:
        return self
    sizes = list(self.shape)
    return _reshape(a, self, [*sizes[:start], math.prod(sizes[start:end + 1]), *sizes[end + 1:]])


def _to_dtype(a, self, dtype, non_blocking=False, copy=False, memory_format=None):
    return _to_device(a, self, self.device, dtype, non_blocking, copy, memory_format)


def _to_device(a, self, device, dtype, non_blocking=False, copy=False, memory_format=None):
    named = {} if dtype == self.dtype else {"dtype": dtype}
    if device.type != self.device.type:
        named["device"] = device
    if not named and not copy and _lies_in(self, memory_format):
        return self
    if memory_format is not None:
        named["memory_format"] = memory_format
    return a._to_copy.default(self, **named)


def _lies_in(x, memory_format):
    if memory_format is None or memory_format == preserve_format:
        return True
    return bare(lambda x: x.is_contiguous(memory_format=memory_format), (x,), {})


def _softmax(name):
    def made(a, self, dim, dtype=None):
        if dtype is not None and dtype != self.dtype:
            self = _to_dtype(a, self, dtype)
        return getattr(a, name).default(self, dim, False)
    return made


def _item(a, self):
    return a._local_scalar_dense.default(self)


def _chunk(a, self, chunks, dim=0):
    if not _has_axis(self, dim) or chunks < 1:
        return ITSELF
    size = self.shape[dim]
    if size == 0:
        return NotImplemented
    return tuple(a.split.Tensor(self, -(-size // chunks), *([dim] if dim else [])))


def _outer(a, self, vec2):
    if self.ndim != 1 or vec2.ndim != 1:
        return ITSELF
    return a.mul.Tensor(_reshape(a, self, [self.shape[0], 1]), vec2)


def _layer_norm(a, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return a.native_layer_norm.default(input, normalized_shape, weight, bias, eps)[0]


def _batch_norm(a, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return a.native_batch_norm.default(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _dropout(a, input, p, train):
    if not 0 <= p <= 1:
        return ITSELF
    if p == 0 or not train or 0 in input.shape:
        return input
    if p == 1:
        return a.mul.Tensor(input, a.zeros.default([], dtype=input.dtype, device=input.device))
    noise = a.div_.Scalar(a.bernoulli_.float(a.empty_like.default(input), 1 - p), 1 - p)
    return a.mul.Tensor(input, noise)


def _cross_entropy(a, self, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if label_smoothing or target.is_floating_point() or self.ndim > 2:
        return NotImplemented
    axis = 0 if self.ndim == 1 else 1
    return a.nll_loss_forward.default(a._log_softmax.default(self, axis, False), target, weight, reduction,
                                      ignore_index)[0]


def _nll_loss(a, self, target, weight=None, reduction=1, ignore_index=-100):
    return a.nll_loss_forward.default(self, target, weight, reduction, ignore_index)[0]


def _max_pool(a, self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return a.max_pool2d_with_indices.default(self, kernel_size, list(stride) or kernel_size, padding, dilation,
                                             ceil_mode)[0]


def _std(name):
    def made(a, self, dim=None, unbiased=True, keepdim=False):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        named = {"correction": 1 if unbiased else 0} if dim is not None or not unbiased else {}
        return getattr(a, name).correction(self, *([] if dim is None else [dim]), **named,
                                           **({"keepdim": True} if keepdim else {}))
    return made


def _einsum(a, equation, tensors, path=None):
    """Say a sum over products of two tensors as products of matrices; NotImplemented of others."""
    words = equation.replace(" ", "").split("->")
    inputs = words[0].split(",")
    if len(tensors) != 2 or "." in equation or any(len(set(word)) != len(word) for word in inputs):
        return NotImplemented
    left, right = inputs
    if any(len(word) != tensor.ndim for word, tensor in zip(inputs, tensors)):
        return ITSELF
    both = [letter for letter in left if letter in right]
    result = words[1] if len(words) == 2 else "".join(sorted(set(left) ^ set(right)))
    sizes, other = (dict(zip(word, tensor.shape)) for word, tensor in zip(inputs, tensors))
    if len(set(result)) != len(result) or set(result) - set(left + right) or any(
            sizes[letter] != other[letter] for letter in both):
        return ITSELF
    sizes.update(other)
    if set(left) - set(right) - set(result) or set(right) - set(left) - set(result) or 1 in sizes.values():
        return NotImplemented  # sums of one operand, and axes of length 1 that may stand for others
    batch, summed = ([letter for letter in both if (letter in result) == kept] for kept in (True, False))
    rows, columns = ([letter for letter in word if letter not in both] for word in (left, right))

    def count(letters):
        return math.prod(sizes[letter] for letter in letters)

    def folded(tensor, word, first, second):
        tensor = a.permute.default(tensor, [word.index(letter) for letter in (*batch, *first, *second)])
        return _reshape(a, tensor, [count(batch), count(first), count(second)])
    made = a.bmm.default(folded(tensors[0], left, rows, summed), folded(tensors[1], right, summed, columns))
    order = [*batch, *rows, *columns]
    made = a.view.default(made, [sizes[letter] for letter in order])
    return a.permute.default(made, [order.index(letter) for letter in result])


def _view_as(a, self, other):
    return a.view.default(self, list(other.shape))


def _narrow(a, self, dim, start, length):
    if not _has_axis(self, dim):
        return ITSELF
    size = self.shape[dim]
    begin = start + size if start < 0 else start
    return NotImplemented if begin >= 0 and length >= 0 and begin + length <= size else ITSELF


OWN = {"matmul.default": _matmul, "reshape.default": _reshape, "contiguous.default": _contiguous_of,
       "flatten.using_ints": _flatten, "to.dtype": _to_dtype, "to.device": _to_device, "item.default": _item,
       "softmax.int": _softmax("_softmax"), "log_softmax.int": _softmax("_log_softmax"), "chunk.default": _chunk,
       "outer.default": _outer, "layer_norm.default": _layer_norm, "batch_norm.default": _batch_norm,
       "dropout.default": _dropout, "cross_entropy_loss.default": _cross_entropy, "nll_loss.default": _nll_loss,
       "nll_loss_nd.default": _nll_loss, "max_pool2d.default": _max_pool, "std.default": _std("std"),
       "std.dim": _std("std"), "var.default": _std("var"), "var.dim": _std("var"), "view_as.default": _view_as,
       "narrow.default": _narrow, "einsum.default": _einsum}
# Made of others for exported programs, and operators that can be answered for here.
WHOLE = frozenset("""rsub.Scalar rsub.Tensor floor_divide.default nan_to_num.default isnan.default
    linalg_vector_norm.default allclose.default sort.default repeat.default relu.default elu.default
    hardtanh.default""".split())


@functools.cache
def _table():
    return {str(target).removeprefix("aten."): made for target, made in composite_table().items()}


def decomposition(target):
    """Return what PyTorch's dispatcher takes an operator apart into before anybody is asked, None of one that is whole.

    Parameters
    ----------
    target : OpOverload
        The operator.

    Returns
    -------
    Optional[Callable]
        A function of its arguments, which may return NotImplemented.

    """
    if target.namespace != "aten":
        return None
    name = str(target).removeprefix("aten.")
    own, usual = OWN.get(name), None if name in WHOLE else _table().get(name)
    if own is None:
        return usual

    def made(*args, **kwargs):
        found = own(aten(), *args, **kwargs)
        if found is ITSELF:
            return NotImplemented
        return usual(*args, **kwargs) if found is NotImplemented and usual is not None else found
    return made
