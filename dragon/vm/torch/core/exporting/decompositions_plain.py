"""What activations, reductions, losses and factories of PyTorch are in terms of the core operators."""
import math

from dragon.vm.torch.core.exporting.decompositions import DECOMPOSITIONS, is_made_of
from dragon.vm.torch.core.layout import strided


def _reduced(a, made, reduction):
    return made if reduction == 0 else a.mean.default(made) if reduction == 1 else a.sum.default(made)


def _whole(a, value, like):
    """Return a scalar tensor of a number."""
    return a.scalar_tensor.default(value, dtype=like.dtype, device=like.device)


# --- activations

@is_made_of("celu.default")
def _celu(a, self, alpha=1.0):
    if alpha == 1:
        negative = a.expm1.default(self)
    else:
        negative = a.mul.Tensor(a.expm1.default(a.div.Tensor(self, alpha)), alpha)
    return a.where.self(a.gt.Scalar(self, 0), self, negative)


@is_made_of("selu.default")
def _selu(a, self):
    return a.elu.default(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def _sixth(a, x):
    """Return `relu6(x + 3)`."""
    return a.clamp.default(a.clamp.default(a.add.Tensor(x, 3), 0), None, 6)


@is_made_of("hardswish.default")
def _hardswish(a, self):
    return a.div.Tensor(a.mul.Tensor(self, _sixth(a, self)), 6)


@is_made_of("hardsigmoid.default")
def _hardsigmoid(a, self):
    return a.div.Tensor(_sixth(a, self), 6)


@is_made_of("softplus.default")
def _softplus(a, self, beta=1, threshold=20):
    scaled = self if beta == 1 else a.mul.Tensor(self, beta)
    made = a.log1p.default(a.exp.default(scaled))
    return a.where.self(a.gt.Scalar(scaled, threshold), self, made if beta == 1 else a.div.Tensor(made, beta))


@is_made_of("mish.default")
def _mish(a, self):
    return a.mul.Tensor(self, a.tanh.default(_softplus(a, self)))


@is_made_of("log_sigmoid.default")
def _log_sigmoid(a, self):
    low = a.minimum.default(a.full.default([], 0, dtype=self.dtype, device=self.device), self)
    return a.sub.Tensor(low, a.log1p.default(a.exp.default(a.neg.default(a.abs.default(self)))))


@is_made_of("hardshrink.default")
def _hardshrink(a, self, lambd=0.5):
    return a.where.self(a.le.Scalar(a.abs.default(self), lambd), _whole(a, 0, self), self)


@is_made_of("softshrink.default")
def _softshrink(a, self, lambd=0.5):
    beyond = a.gt.Scalar(a.abs.default(self), lambd)
    made = a.sub.Tensor(self, a.mul.Tensor(a.sign.default(self), lambd))
    return a.where.self(beyond, made, a.mul.Tensor(self, 0))


@is_made_of("threshold.default")
def _threshold(a, self, threshold, value):
    return a.where.self(a.le.Scalar(self, threshold), _whole(a, value, self), self)


@is_made_of("glu.default")
def _glu(a, self, dim=-1):
    half = self.shape[dim] // 2
    first, second = a.slice.Tensor(self, dim, 0, half), a.slice.Tensor(self, dim, half, 2 * half)
    return a.mul.Tensor(first, a.sigmoid.default(second))


@is_made_of("prelu.default")
def _prelu(a, self, weight):
    shape = [1] * self.ndim
    if self.ndim > 1:
        shape[1] = weight.shape[0]
    weight = a.view.default(weight, shape if self.ndim else [])
    return a.where.self(a.gt.Scalar(self, 0), self, a.mul.Tensor(weight, self))


# --- reductions

@is_made_of("sum.default")
def _sum(a, self, *, dtype=None):
    return a.sum.dim_IntList(self, [], **({} if dtype is None else {"dtype": dtype}))


def _correction(unbiased, correction):
    return correction if correction is not None else 1 if unbiased else 0


@is_made_of("var.dim", "var.default")
def _var(a, self, dim=None, unbiased=True, keepdim=False):
    dim, unbiased = (None, dim) if isinstance(dim, bool) else (dim, unbiased)
    return a.var.correction(self, dim, correction=_correction(unbiased, None), keepdim=keepdim)


@is_made_of("std.dim", "std.default")
def _std(a, self, dim=None, unbiased=True, keepdim=False):
    return a.sqrt.default(_var(a, self, dim, unbiased, keepdim))


@is_made_of("std.correction")
def _std_correction(a, self, dim=None, *, correction=None, keepdim=False):
    return a.sqrt.default(a.var.correction(self, dim, correction=correction, keepdim=keepdim))


@is_made_of("all.dim")
def _all(a, self, dim, keepdim=False):
    return a.logical_not.default(a.any.dim(a.logical_not.default(self), dim, keepdim))


@is_made_of("all.default")
def _all_of_all(a, self):
    return a.logical_not.default(a.any.default(a.logical_not.default(self)))


@is_made_of("count_nonzero.dim_IntList")
def _count_nonzero(a, self, dim):
    return a.sum.dim_IntList(a.ne.Scalar(self, 0), dim)


@is_made_of("count_nonzero.default")
def _count_nonzero_along(a, self, dim=None):
    return a.sum.dim_IntList(a.ne.Scalar(self, 0), [] if dim is None else [dim])


@is_made_of("nansum.default")
def _nansum(a, self, dim=None, keepdim=False, *, dtype=None):
    known = a.where.self(a.isnan.default(self), _whole(a, 0, self), self)
    return a.sum.dim_IntList(known, dim or [], keepdim, **({} if dtype is None else {"dtype": dtype}))


@is_made_of("aminmax.default")
def _aminmax(a, self, *, dim=None, keepdim=False):
    dims = [] if dim is None else [dim]
    return a.amin.default(self, dims, keepdim), a.amax.default(self, dims, keepdim)


@is_made_of("trace.default")
def _trace(a, self):
    return a.sum.default(a.clone.default(a.diagonal.default(self)))


# --- losses

@is_made_of("mse_loss.default")
def _mse_loss(a, self, target, reduction=1):
    return _reduced(a, a.pow.Tensor_Scalar(a.sub.Tensor(self, target), 2), reduction)


@is_made_of("l1_loss.default")
def _l1_loss(a, self, target, reduction=1):
    return _reduced(a, a.abs.default(a.sub.Tensor(self, target)), reduction)


@is_made_of("smooth_l1_loss.default")
def _smooth_l1_loss(a, self, target, reduction=1, beta=1.0):
    if not beta:
        return _l1_loss(a, self, target, reduction)
    far = a.abs.default(a.sub.Tensor(self, target))
    is_near = a.lt.Scalar(far, beta)
    near = a.div.Tensor(a.mul.Tensor(a.pow.Tensor_Scalar(far, 2), 0.5), beta)
    return _reduced(a, a.where.self(is_near, near, a.sub.Tensor(far, 0.5 * beta)), reduction)


@is_made_of("huber_loss.default")
def _huber_loss(a, self, target, reduction=1, delta=1.0):
    far = a.abs.default(a.sub.Tensor(self, target))
    is_near = a.lt.Scalar(far, delta)
    near = a.mul.Tensor(a.mul.Tensor(far, 0.5), far)
    beyond = a.mul.Tensor(a.sub.Tensor(far, 0.5 * delta), delta)
    return _reduced(a, a.where.self(is_near, near, beyond), reduction)


@is_made_of("soft_margin_loss.default")
def _soft_margin_loss(a, self, target, reduction=1):
    made = a.log1p.default(a.exp.default(a.mul.Tensor(a.neg.default(self), target)))
    return _reduced(a, made, reduction)


@is_made_of("margin_ranking_loss.default")
def _margin_ranking_loss(a, input1, input2, target, margin=0.0, reduction=1):
    made = a.mul.Tensor(a.neg.default(target), a.sub.Tensor(input1, input2))
    return _reduced(a, a.clamp.default(a.add.Tensor(made, margin), 0), reduction)


@is_made_of("binary_cross_entropy_with_logits.default")
def _binary_cross_entropy_with_logits(a, self, target, weight=None, pos_weight=None, reduction=1):
    rest = a.mul.Tensor(a.sub.Tensor(1, target), self)
    if pos_weight is not None:
        pos_weight = a.add.Tensor(a.mul.Tensor(a.sub.Tensor(pos_weight, 1), target), 1)
    steep = _log_sigmoid(a, self)
    made = a.sub.Tensor(rest, steep if pos_weight is None else a.mul.Tensor(pos_weight, steep))
    return _reduced(a, made if weight is None else a.mul.Tensor(made, weight), reduction)


# --- factories

def _default_dtype():
    from dragon.vm import torch
    return torch.get_default_dtype()


def _filled(name, value):
    @is_made_of(f"{name}.default")
    def full(a, size, *, dtype=None, layout=None, **kwargs):
        return a.full.default(size, value, dtype=dtype or _default_dtype(), layout=layout or strided, **kwargs)

    @is_made_of(f"{name}_like.default")
    def full_like(a, self, **kwargs):
        return a.full_like.default(self, value, **kwargs)

    @is_made_of(f"new_{name}.default")
    def new_full(a, self, size, *, dtype=None, device=None, **kwargs):
        return a.full.default(size, value, dtype=dtype or self.dtype, device=device or self.device, **kwargs)


_filled("zeros", 0)
_filled("ones", 1)


@is_made_of("new_full.default")
def _new_full(a, self, size, fill_value, *, dtype=None, device=None, **kwargs):
    return a.full.default(size, fill_value, dtype=dtype or self.dtype, device=device or self.device, **kwargs)


@is_made_of("arange.default")
def _arange(a, end, **kwargs):
    return a.arange.start_step(0, end, **kwargs)


@is_made_of("arange.start")
def _arange_from(a, start, end, **kwargs):
    return a.arange.start_step(start, end, **kwargs)


# --- arithmetic

@is_made_of("masked_fill.Scalar")
def _masked_fill(a, self, mask, value):
    return a.where.self(mask, _whole(a, value, self), self)


@is_made_of("masked_fill.Tensor")
def _masked_fill_tensor(a, self, mask, value):
    return a.where.self(mask, value, self)


@is_made_of("where.ScalarOther")
def _where_other(a, condition, self, other):
    return a.where.self(condition, self, _whole(a, other, self))


@is_made_of("where.ScalarSelf")
def _where_self(a, condition, self, other):
    return a.where.self(condition, _whole(a, self, other), other)


@is_made_of("clamp_min.default")
def _clamp_min(a, self, min):
    return a.clamp.default(self, min)


@is_made_of("clamp_max.default")
def _clamp_max(a, self, max):
    return a.clamp.default(self, None, max)


@is_made_of("addcmul.default")
def _addcmul(a, self, tensor1, tensor2, *, value=1):
    return a.add.Tensor(self, a.mul.Tensor(a.mul.Tensor(tensor1, value), tensor2))


@is_made_of("addcdiv.default")
def _addcdiv(a, self, tensor1, tensor2, *, value=1):
    return a.add.Tensor(self, a.div.Tensor(a.mul.Tensor(tensor1, value), tensor2))


for _name, _factor in {"rad2deg": 180 / math.pi, "deg2rad": math.pi / 180}.items():
    DECOMPOSITIONS[f"{_name}.default"] = lambda a, self, factor=_factor: a.mul.Tensor(self, factor)


@is_made_of("frac.default")
def _frac(a, self):
    return a.sub.Tensor(self, a.trunc.default(self))


@is_made_of("isfinite.default")
def _isfinite(a, self):
    below = a.ne.Scalar(a.abs.default(self), math.inf)
    return a.mul.Tensor(a.eq.Tensor(self, self), below)


@is_made_of("baddbmm.default")
def _baddbmm(a, self, batch1, batch2, *, beta=1, alpha=1):
    made = a.bmm.default(batch1, batch2)
    return a.add.Tensor(made if alpha == 1 else a.mul.Tensor(made, alpha),
                        self if beta == 1 else a.mul.Tensor(self, beta))


@is_made_of("mv.default")
def _mv(a, self, vec):
    return a.sum.dim_IntList(a.mul.Tensor(self, vec), [1])


@is_made_of("dot.default")
def _dot(a, self, tensor):
    return a.sum.default(a.mul.Tensor(self, tensor))


@is_made_of("outer.default")
def _outer(a, self, vec2):
    return a.mul.Tensor(a.view.default(self, [self.shape[0], 1]), vec2)


# --- shapes

@is_made_of("squeeze.dim")
def _squeeze(a, self, dim):
    return a.squeeze.dims(self, [dim])


@is_made_of("squeeze.default")
def _squeeze_all(a, self):
    return a.squeeze.dims(self, [axis for axis, size in enumerate(self.shape) if type(size) is int and size == 1])


@is_made_of("pad.default")
def _pad(a, self, pad, mode="constant", value=None):
    if mode != "constant":
        return NotImplemented
    return a.constant_pad_nd.default(self, pad, 0 if value is None else value)


@is_made_of("broadcast_tensors.default")
def _broadcast_tensors(a, tensors):
    if any(tuple(tensor.shape) != tuple(tensors[0].shape) for tensor in tensors):
        return NotImplemented
    return list(tensors)


@is_made_of("pixel_shuffle.default")
def _pixel_shuffle(a, self, upscale_factor):
    *batch, channels, height, width = self.shape
    r, n = upscale_factor, len(batch)
    made = a.view.default(self, [*batch, channels // r ** 2, r, r, height, width])
    made = a.permute.default(made, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return a.reshape.default(made, [*batch, channels // r ** 2, height * r, width * r])


@is_made_of("pixel_unshuffle.default")
def _pixel_unshuffle(a, self, downscale_factor):
    *batch, channels, height, width = self.shape
    r, n = downscale_factor, len(batch)
    made = a.view.default(self, [*batch, channels, height // r, r, width // r, r])
    made = a.permute.default(made, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return a.reshape.default(made, [*batch, channels * r ** 2, height // r, width // r])


@is_made_of("swapaxes.default")
def _swapaxes(a, self, axis0, axis1):
    return a.transpose.int(self, axis0, axis1)


@is_made_of("ravel.default")
def _ravel(a, self):
    return a.reshape.default(self, [-1])


@is_made_of("hstack.default")
def _hstack(a, tensors):
    return a.cat.default(tensors, 0 if tensors[0].ndim == 1 else 1) if tensors[0].ndim else NotImplemented


@is_made_of("vstack.default")
def _vstack(a, tensors):
    return a.cat.default(tensors, 0) if tensors[0].ndim > 1 else NotImplemented


@is_made_of("tile.default")
def _tile(a, self, dims):
    return a.repeat.default(self, [1] * (self.ndim - len(dims)) + list(dims))


@is_made_of("rms_norm.default")
def _rms_norm(a, input, normalized_shape, weight=None, eps=None):
    from dragon.vm import torch
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    dims = [-(axis + 1) for axis in range(len(normalized_shape))][::-1]
    square = a.mean.dim(a.pow.Tensor_Scalar(input, 2), dims, True)
    made = a.mul.Tensor(input, a.rsqrt.default(a.add.Scalar(square, eps)))
    return made if weight is None else a.mul.Tensor(made, weight)


def _transposed(rank):
    @is_made_of(f"conv_transpose{rank}d.{'default' if rank == 1 else 'input'}")
    def convolution(a, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, padding, output_padding, dilation = (
            list(value) if isinstance(value, (list, tuple)) else [value] * rank
            for value in (stride, padding, output_padding, dilation))
        return a.convolution.default(input, weight, bias, stride, padding, dilation, True, output_padding, groups)


for _rank in (1, 2, 3):
    _transposed(_rank)
