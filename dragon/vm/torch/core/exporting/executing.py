"""PyTorch's operators that no function of the API is, in terms of the API's functions."""
from dragon.vm.torch.core.tensor import Tensor, ops

RUN = {}
REDUCTIONS = ("none", "mean", "sum")


def runs(*names):
    """Register what an operator, or one overload ("where.self"), does."""
    def register(function):
        RUN.update(dict.fromkeys(names, function))
        return function
    return register


def functional():
    """Return `torch.nn.functional`."""
    from dragon.vm.torch.nn import functional as found
    return found


def api():
    """Return `torch`."""
    from dragon.vm import torch
    return torch


# --- layers

@runs("batch_norm")
def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return functional().batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@runs("instance_norm")
def _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    return functional().instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@runs("_native_batch_norm_legit_no_training")
def _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps):
    made = functional().batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    return made, api().empty(0), api().empty(0)


@runs("_native_batch_norm_legit", "native_batch_norm")
def _native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps):
    made = functional().batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return made, api().empty(0), api().empty(0)
    axes = [axis for axis in range(input.ndim) if axis != 1]
    return made, input.mean(axes), (input.var(axes, correction=0) + eps).rsqrt()


@runs("_native_batch_norm_legit.no_stats")
def _batch_norm_without_statistics(input, weight, bias, training, momentum, eps):
    return _native_batch_norm_legit(input, weight, bias, None, None, training, momentum, eps)


@runs("_native_batch_norm_legit_functional")
def _native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, training, momentum, eps):
    mean, var = running_mean.clone(), running_var.clone()
    return (*_native_batch_norm_legit(input, weight, bias, mean, var, training, momentum, eps), mean, var)


@runs("layer_norm")
def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return functional().layer_norm(input, tuple(normalized_shape), weight, bias, eps)


@runs("group_norm")
def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    return functional().group_norm(input, num_groups, weight, bias, eps)


@runs("embedding")
def _embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return functional().embedding(indices, weight, None if padding_idx < 0 else padding_idx,
                                  scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def _dropped(name, function):
    def run(input, p, train):
        return getattr(functional(), function)(input, p, train)

    def run_inplace(input, p, train):
        return getattr(functional(), function)(input, p, train, inplace=True)
    RUN[name], RUN[name + "_"] = run, run_inplace


for _name, _target in {"dropout": "dropout", "alpha_dropout": "alpha_dropout", "feature_dropout": "dropout2d",
                       "feature_alpha_dropout": "feature_alpha_dropout"}.items():
    _dropped(_name, _target)


@runs("native_dropout")
def _native_dropout(input, p, train):
    kept = functional().dropout(api().ones_like(input), p, True if train is None else train)
    return input * kept, kept != 0


def _activated(name):
    def run(input, *args, **kwargs):
        return getattr(functional(), name)(input, *args, inplace=True, **kwargs)
    RUN[name + "_"] = run


for _name in ("relu6", "silu", "hardswish", "hardsigmoid", "mish"):
    _activated(_name)


@runs("elu")
def _elu(self, alpha=1, scale=1, input_scale=1):
    if input_scale != 1:
        return api().where(self > 0, self * scale, api().expm1(self * input_scale) * (alpha * scale))
    made = functional().elu(self, alpha)
    return made if scale == 1 else made * scale


@runs("log_sigmoid")
def _log_sigmoid(self):
    return functional().logsigmoid(self)


@runs("softmax", "_softmax")
def _softmax(self, dim, dtype=None):
    return api().softmax(self, dim, dtype=dtype if not isinstance(dtype, bool) else None)


@runs("log_softmax", "_log_softmax")
def _log_softmax(self, dim, dtype=None):
    return api().log_softmax(self, dim, dtype=dtype if not isinstance(dtype, bool) else None)


def _pooled(name):
    def run(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return getattr(functional(), name)(self, kernel_size, stride or None, padding, dilation, ceil_mode)

    def run_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return getattr(functional(), name)(self, kernel_size, stride or None, padding, dilation, ceil_mode, True)
    RUN[name], RUN[name + "_with_indices"] = run, run_indices


def _averaged(name):
    def run(self, kernel_size, stride=(), *rest, **named):
        return getattr(functional(), name)(self, kernel_size, stride or None, *rest, **named)
    RUN[name] = run


for _rank in (1, 2, 3):
    _pooled(f"max_pool{_rank}d")
    _averaged(f"avg_pool{_rank}d")


def _adaptive(name):
    def run(self, output_size):
        return getattr(functional(), name)(self, tuple(output_size), return_indices=True)
    RUN[name] = run


def _adaptive_average(name):
    def run(self, output_size):
        return getattr(functional(), name.strip("_"))(self, tuple(output_size))
    RUN[name] = run


for _rank in (1, 2, 3):
    _adaptive(f"adaptive_max_pool{_rank}d")
    _adaptive_average(f"adaptive_avg_pool{_rank}d")
for _rank in (2, 3):
    _adaptive_average(f"_adaptive_avg_pool{_rank}d")


@runs("convolution", "_convolution")
def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *_):
    rank = len(stride) if weight.ndim - 2 == len(stride) else weight.ndim - 2
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    more = (tuple(output_padding), groups, tuple(dilation)) if transposed else (tuple(dilation), groups)
    return getattr(functional(), name)(input, weight, bias, tuple(stride), tuple(padding), *more)


# --- losses

def _loss(name, function, before=()):
    def run(input, target, *args, **kwargs):
        order = (*before, "reduction")
        named = dict(zip(order, args))
        named.update(zip(AFTER.get(name, ()), args[len(order):]))
        named.update(kwargs)
        if "reduction" in named:
            named["reduction"] = REDUCTIONS[named["reduction"]]
        return getattr(functional(), function)(input, target, **named)
    RUN[name] = run


AFTER = {"cross_entropy_loss": ("ignore_index", "label_smoothing"), "nll_loss_nd": ("ignore_index",),
         "nll_loss": ("ignore_index",), "nll_loss2d": ("ignore_index",), "smooth_l1_loss": ("beta",),
         "huber_loss": ("delta",)}
for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div"):
    _loss(_name, _name)
_loss("cross_entropy_loss", "cross_entropy", ("weight",))
_loss("binary_cross_entropy", "binary_cross_entropy", ("weight",))
_loss("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", ("weight", "pos_weight"))
for _name in ("nll_loss_nd", "nll_loss", "nll_loss2d"):
    _loss(_name, "nll_loss", ("weight",))


@runs("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss_forward(self, target, weight, reduction, ignore_index):
    counted = api().where(target != ignore_index, 1.0 if weight is None else weight[target.clamp_min(0)], 0.0)
    return RUN["nll_loss"](self, target, weight, reduction, ignore_index), counted.sum().to(self.dtype)


# --- pictures

def _resized(name, mode):
    def run(input, output_size, *args, **kwargs):
        align, scales = None, kwargs.get("scale_factors")
        if "nearest" in mode:
            scales = args[0] if args else scales
        else:
            align = args[0] if args else kwargs.get("align_corners")
            scales = args[1] if len(args) > 1 else scales
        return functional().interpolate(input, None if output_size is None else tuple(output_size),
                                        None if output_size is not None or scales is None else tuple(scales), mode,
                                        align, antialias=name.endswith("_aa"))
    RUN[name] = run


for _name, _mode in {"upsample_linear1d": "linear", "upsample_bilinear2d": "bilinear", "upsample_bicubic2d": "bicubic",
                     "upsample_trilinear3d": "trilinear", "_upsample_bilinear2d_aa": "bilinear",
                     "_upsample_bicubic2d_aa": "bicubic"}.items():
    _resized(_name, _mode)
for _rank in (1, 2, 3):
    _resized(f"upsample_nearest{_rank}d", "nearest")
    _resized(f"_upsample_nearest_exact{_rank}d", "nearest-exact")


@runs("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def _grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return functional().grid_sample(input, grid, ("bilinear", "nearest", "bicubic")[interpolation_mode],
                                    ("zeros", "border", "reflection")[padding_mode], align_corners)


@runs("affine_grid_generator")
def _affine_grid_generator(theta, size, align_corners):
    return functional().affine_grid(theta, tuple(size), align_corners)


@runs("pad", "constant_pad_nd")
def _pad(self, pad, mode="constant", value=None):
    if not isinstance(mode, str):
        mode, value = "constant", mode
    return functional().pad(self, tuple(pad), mode, value)


# --- shapes

@runs("tensordot")
def _tensordot(self, other, dims_self, dims_other):
    return api().tensordot(self, other, (list(dims_self), list(dims_other)))


@runs("einsum")
def _einsum(equation, tensors, path=None):
    return api().einsum(equation, *tensors)


@runs("meshgrid")
def _meshgrid(tensors, indexing="ij"):
    return list(api().meshgrid(*tensors, indexing=indexing))


@runs("broadcast_tensors")
def _broadcast_tensors(tensors):
    return list(api().broadcast_tensors(*tensors))


@runs("split_with_sizes", "split_with_sizes_copy")
def _split_with_sizes(self, split_sizes, dim=0):
    return self.split(list(split_sizes), dim)


@runs("index_put_")
def _index_put_(self, indices, values, accumulate=False):
    return self.index_put_(indices, values, accumulate)


@runs("index_put", "_unsafe_index_put")
def _index_put(self, indices, values, accumulate=False):
    return _index_put_(self.clone(), indices, values, accumulate)


@runs("_unsafe_index")
def _unsafe_index(self, indices):
    return RUN["index"](self, indices)


@runs("index")
def _index(self, indices):
    return self[tuple(slice(None) if index is None else index for index in indices)]


@runs("slice")
def _slice_(self, dim=0, start=None, end=None, step=1):
    place = [slice(None)] * (dim % max(self.ndim, 1)) + [slice(start, end, step)]
    return self[tuple(place)]


@runs("select")
def _select(self, dim, index):
    return ops.select(self, dim, index) if not isinstance(index, Tensor) else self.index_select(dim, index).squeeze(dim)


@runs("numpy_T")
def _numpy_t(self):
    return self.T


@runs("mT")
def _m_t(self):
    return self.mT


@runs("alias", "lift", "lift_fresh")
def _alias(self):
    return self.view(self.shape)


@runs("im2col")
def _im2col(self, kernel_size, dilation, padding, stride):
    return functional().unfold(self, kernel_size, dilation, padding, stride)


@runs("col2im")
def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    return functional().fold(self, tuple(output_size), kernel_size, dilation, padding, stride)


@runs("linalg_vector_norm")
def _linalg_vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return api().linalg.vector_norm(self, ord, None if dim is None else tuple(dim), keepdim, dtype=dtype)


@runs("lift_fresh_copy", "alias_copy")
def _lift_fresh_copy(self):
    return self.clone()


@runs("detach_")
def _detach_(self):
    return self.detach()


@runs("copy")
def _copy(self, src, non_blocking=False):
    return src.to(self.dtype).expand_as(self).clone()


@runs("fill")
def _fill(self, value):
    return api().full_like(self, value) if not isinstance(value, Tensor) else value.to(self.dtype).expand_as(
        self).clone()


@runs("permute_copy")
def _permute_copy(self, dims):
    return self.permute(dims).clone()


@runs("rsub")
def _rsub(self, other, alpha=1):
    return other - self * alpha if alpha != 1 else other - self


for _name, _word in {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}.items():
    RUN[f"__{_name}__"] = lambda self, other, word=_word: getattr(api(), word)(self, other)
    RUN[f"__i{_name}__"] = lambda self, other, word=_word: getattr(self, word + "_")(other)


# --- dtypes

@runs("to")
def _to(self, *args, **kwargs):
    kwargs.pop("layout", None)
    kwargs.pop("pin_memory", None)
    return self.to(*args, **kwargs)


@runs("to.device")
def _to_device(self, device, dtype, non_blocking=False, copy=False, memory_format=None):
    return self.to(device=device, dtype=dtype, copy=copy, memory_format=memory_format)


@runs("to.dtype")
def _to_dtype(self, dtype, non_blocking=False, copy=False, memory_format=None):
    return self.to(dtype=dtype, copy=copy, memory_format=memory_format)


@runs("_assert_tensor_metadata")
def _assert_tensor_metadata(a, size=None, stride=None, dtype=None, *, device=None, layout=None):
    if dtype is not None and a.dtype != dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype}, Got: {a.dtype}")
    if size is not None and list(a.shape) != list(size):
        raise RuntimeError(f"Tensor sizes mismatch! Expected: {list(size)}, Got: {list(a.shape)}")
    if device is not None and a.device.type != device.type:
        raise RuntimeError(f"Tensor device mismatch! Expected: {device}, Got: {a.device}")


@runs("item", "_local_scalar_dense")
def _item(self):
    return self.item()


@runs("nonzero_numpy", "where.default")
def _nonzero_numpy(self):
    return list(self.nonzero(as_tuple=True))


@runs("_unique2")
def _unique2(self, sorted=True, return_inverse=False, return_counts=False):
    made = api().unique(self, sorted, return_inverse, return_counts)
    made = list(made) if isinstance(made, tuple) else [made]
    inverse = made.pop(1) if return_inverse else self.new_empty((0,), dtype=api().int64)
    return made[0], inverse, made[1] if return_counts else self.new_empty((0,), dtype=api().int64)


@runs("_assert_scalar")
def _assert_scalar(self, assert_msg):
    if not self:
        raise RuntimeError(assert_msg)


@runs("_assert_async")
def _assert_async(self, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    if not bool(self):
        raise RuntimeError(assert_msg)


@runs("sym_constrain_range_for_size", "sym_constrain_range")
def _sym_constrain_range_for_size(size, min=None, max=None):
    return None


# --- statistics

def _spread(name):
    def run(self, dim=None, unbiased=True, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        correction = float(unbiased) if correction is None else correction
        correction = int(correction) if correction == int(correction) else correction
        return getattr(api(), name)(self, None if dim is None else tuple(dim), correction=correction, keepdim=keepdim)
    RUN[name] = run


for _name in ("std", "var", "std_mean", "var_mean"):
    _spread(_name)
