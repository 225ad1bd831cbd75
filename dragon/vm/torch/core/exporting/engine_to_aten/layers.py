"""What the engine's operators of layers, losses and their gradients are in PyTorch's."""
from dragon.vm.torch.core.exporting.engine_to_aten.table import lowering, torch_dtype


# --- products

def _convolution(t, x, weight, bias, stride, padding, dilation, groups):
    return t.a.convolution.default(x, weight, bias, stride, padding, dilation, False, [0] * len(stride), groups)


def _pads_alike(t, x, weight, made, stride, padding, dilation):
    """Return whether a convolution pads after the image as before it, as PyTorch's operator does; values by number."""
    shapes = (t.shape_of(value)[2:] for value in (x, weight, made))
    return all((image + 2 * pad - (window - 1) * space - 1) // step + 1 == places
               for image, window, places, step, pad, space in zip(*shapes, stride, padding, dilation))


@lowering("conv_forward")
def _conv_forward(t, x, weight, bias, size, stride, padding, dilation, groups):
    own = t.numbers()
    if not _pads_alike(t, own["x"], own["weight"], t.call.outputs[0], stride, padding, dilation):
        return NotImplemented
    return _convolution(t, x, weight, bias, stride, padding, dilation, groups)


@lowering("conv_backward_weights")
def _conv_backward_weights(t, dy, x, size, stride, padding, dilation, groups):
    own = t.numbers()
    known = t.partner("conv_forward", x=own["x"], stride=t.call.attrs["stride"], groups=groups)
    if known is None or not _pads_alike(t, known["x"], known["weight"], own["dy"], stride, padding, dilation):
        return NotImplemented
    weight = t.values[known["weight"]]
    return t.a.convolution_backward.default(dy, x, weight, None, stride, padding, dilation, False, [0] * len(stride),
                                            groups, [False, True, False])[1]


@lowering("conv_backward_data")
def _conv_backward_data(t, dy, weight, bias, size, stride, padding, dilation, groups):
    """A transposed convolution: where a part of the image was never seen, its gradient there is 0."""
    known = t.partner("conv_forward", weight=t.numbers()["weight"], stride=t.call.attrs["stride"], groups=groups)
    if known is not None and bias is None and t.shape_of(known["x"])[2:] == size and _pads_alike(
            t, known["x"], known["weight"], t.numbers()["dy"], stride, padding, dilation):
        x = t.values[known["x"]]
        return t.a.convolution_backward.default(dy, x, weight, None, stride, padding, dilation, False,
                                                [0] * len(stride), groups, [True, False, False])[0]
    reach = [(places - 1) * step - 2 * pad + (window - 1) * space + 1 for places, step, pad, window, space in zip(
        dy.shape[2:], stride, padding, weight.shape[2:], dilation)]
    more = [wanted - found for wanted, found in zip(size, reach)]
    if any(not 0 <= rest < max(step, space) for rest, step, space in zip(more, stride, dilation)):
        return NotImplemented
    return t.a.convolution.default(dy, weight, bias, stride, padding, dilation, True, more, groups)


# --- normalizations

@lowering("native_batch_norm")
def _native_batch_norm(t, x, weight, bias, running_mean, running_var, training, momentum, eps):
    made = t.a.native_batch_norm.default(x, weight, bias, running_mean, running_var, training, momentum, eps)
    if training:
        return made
    return made[0], running_mean, t.a.rsqrt.default(t.a.add.Tensor(running_var, eps)) if t.wants(2) else None


@lowering("batch_norm_backward")
def _batch_norm_backward(t, dy, x, mean, rstd, weight, training, with_x, with_weight, with_bias):
    known, mask = t.maker("native_batch_norm", 2, t.numbers()["rstd"]), [with_x, with_weight, with_bias]
    if training or known is None:
        return NotImplemented if known is None else t.a.native_batch_norm_backward.default(
            dy, x, weight, None, None, mean, rstd, True, known.attrs["eps"], mask)
    running_mean, running_var = (t.values[value] for value in known.inputs[3:5])
    return t.a.native_batch_norm_backward.default(dy, x, weight, running_mean, running_var, None, None, False,
                                                  known.attrs["eps"], mask)


@lowering("embedding_bag")
def _embedding_bag(t, weight, index, offsets, per_sample_weights, scale_grad_by_freq, mode, include_last_offset,
                   padding_idx):
    if mode == "max" and t.wants(1):  # the engine's rows tell bags of nothing, PyTorch's do not
        return NotImplemented
    made = t.a.embedding_bag.padding_idx(weight, index, offsets, scale_grad_by_freq, ("sum", "mean", "max").index(mode),
                                         False, per_sample_weights, include_last_offset, padding_idx)
    return made[0], t.a.new_empty.default(index, [0], pin_memory=False) if t.wants(1) else None


# --- pooling

@lowering("max_pool_with_indices")
def _max_pool_with_indices(t, x, size, window, stride, padding, dilation, adaptive):
    if adaptive or len(size) == 1 or _is_ceiled(x.shape[2:], size, window, stride, padding, dilation):
        return NotImplemented
    return getattr(t.a, f"max_pool{len(size)}d_with_indices").default(x, window, stride, padding, dilation)


def _is_ceiled(given, size, window, stride, padding, dilation):
    return any((length + 2 * pad - space * (reach - 1) - 1) // step + 1 != places for length, places, reach, step, pad,
               space in zip(given, size, window, stride, padding, dilation))


@lowering("max_pool_backward")
def _max_pool_backward(t, dy, indices, size):
    known = t.maker("max_pool_with_indices", 1, t.numbers()["indices"])
    if known is None or len(size) != 2 or known.attrs["adaptive"]:
        return NotImplemented
    given = [list(known.attrs[name]) for name in ("window", "stride", "padding", "dilation")]
    return t.a.max_pool2d_with_indices_backward.default(dy, t.values[known.inputs[0]], *given, False, indices)


@lowering("average_pool")
def _average_pool(t, x, size, window, stride, padding, dilation, adaptive, count_include_pad, divisor):
    rank = len(size)
    if rank > 1 and adaptive:
        return getattr(t.a, f"_adaptive_avg_pool{rank}d").default(x, size)
    if rank == 1 or set(dilation) != {1} or _is_ceiled(x.shape[2:], size, window, stride, padding, dilation):
        return NotImplemented
    return getattr(t.a, f"avg_pool{rank}d").default(x, window, stride, padding, False, count_include_pad,
                                                    divisor or None)


@lowering("average_pool_backward")
def _average_pool_backward(t, dy, size, window, stride, padding, dilation, adaptive, count_include_pad, divisor):
    rank = len(size)
    if adaptive or rank == 1 or set(dilation) != {1} or _is_ceiled(
            size, dy.shape[2:], window, stride, padding, dilation):
        return NotImplemented
    for call in t.calls[:t.place]:
        if call.op == "average_pool" and t.shape_of(call.inputs[0])[2:] == size:
            x = t.values[call.inputs[0]]
            if list(x.shape[:2]) == list(dy.shape[:2]):
                return getattr(t.a, f"avg_pool{rank}d_backward").default(dy, x, window, stride, padding, False,
                                                                         count_include_pad, divisor or None)
    return NotImplemented


# --- losses over classes: samples, classes, places

def _one_place(t, target):
    return target.shape[1] == 1


@lowering("nll_loss_terms")
def _nll_loss_terms(t, x, target, weight, ignore_index):
    return _terms(t, x, target, weight, ignore_index)


def _terms(t, x, target, weight, ignore_index):
    """Return what every target loses: losses of one place each, or of a picture of one column."""
    if _one_place(t, target):
        rows, classes = t.a.squeeze.dim(x, 2), t.a.squeeze.dim(target, 1)
        return t.a.unsqueeze.default(t.a.nll_loss_forward.default(rows, classes, weight, 0, ignore_index)[0], 1)
    wide, places = t.a.unsqueeze.default(x, 3), t.a.unsqueeze.default(target, 2)
    return t.a.squeeze.dim(t.a.nll_loss2d_forward.default(wide, places, weight, 0, ignore_index)[0], 2)


def _terms_backward(t, dy, x, target, weight, ignore_index):
    none = t.a.scalar_tensor.default(0.0, dtype=dy.dtype)  # of what is not divided by
    if _one_place(t, target):
        made = t.a.nll_loss_backward.default(t.a.squeeze.dim(dy, 1), t.a.squeeze.dim(x, 2), t.a.squeeze.dim(target, 1),
                                             weight, 0, ignore_index, none)
        return t.a.unsqueeze.default(made, 2)
    made = t.a.nll_loss2d_backward.default(t.a.unsqueeze.default(dy, 2), t.a.unsqueeze.default(x, 3),
                                           t.a.unsqueeze.default(target, 2), weight, 0, ignore_index, none)
    return t.a.squeeze.dim(made, 3)


@lowering("nll_loss_terms_backward")
def _nll_loss_terms_backward(t, dy, target, weight, classes, ignore_index):
    known = t.partner("nll_loss_terms", target=t.numbers()["target"], ignore_index=ignore_index)
    is_known = known is not None and t.shape_of(known["x"])[1] == classes
    rows, places = target.shape
    like = t.values[known["x"]] if is_known else t.a.new_zeros.default(dy, [rows, classes, places], pin_memory=False)
    return _terms_backward(t, dy, like, target, weight, ignore_index)


@lowering("target_weights")
def _target_weights(t, target, weight, ignore_index, dtype):
    counts = t.a.ne.Scalar(target, ignore_index)
    if weight is None:
        return t.a.to.dtype(counts, torch_dtype(dtype))
    safe = t.a.where.self(counts, target, t.a.zeros_like.default(target, pin_memory=False))
    return t.a.mul.Tensor(t.a.index.Tensor(weight, [safe]), t.a.to.dtype(counts, torch_dtype(dtype)))


@lowering("cross_entropy_terms")
def _cross_entropy_terms(t, x, target, weight, ignore_index, label_smoothing):
    if label_smoothing:
        return NotImplemented
    logs = t.a._log_softmax.default(x, 1, False)
    t.notes["logs", t.numbers()["x"]] = logs
    return _terms(t, logs, target, weight, ignore_index), None  # the sum is noted for the gradient alone


@lowering("cross_entropy_terms_backward")
def _cross_entropy_terms_backward(t, dy, lse, x, target, weight, ignore_index, label_smoothing):
    if label_smoothing:
        return NotImplemented
    logs = t.notes["logs", t.numbers()["x"]]
    made = _terms_backward(t, dy, logs, target, weight, ignore_index)
    return t.a._log_softmax_backward_data.default(made, logs, 1, x.dtype)
