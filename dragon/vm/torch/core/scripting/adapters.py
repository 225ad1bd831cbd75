"""Operators whose arguments stand otherwise in scripts than in Dragon's functions: all come in a row, no name said."""
from dragon.core import modes
from dragon.vm.torch.core.scripting import codes, fastpaths, windows
from dragon.vm.torch.core.scripting.windows import rooms
from dragon.vm.torch.core.tensor import Tensor, ops

REDUCTIONS = "none", "mean", "sum"


def tensor(data, dtype=None, device=None, requires_grad=False):
    """Return a tensor of numbers."""
    torch, _ = rooms()
    return torch.tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


def batch_norm(input, weight, bias, mean, var, training, momentum, eps, cudnn_enabled):
    """Return what batch normalization gives."""
    return rooms()[1].batch_norm(input, mean, var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn_enabled):
    """Return what instance normalization gives."""
    return rooms()[1].instance_norm(input, mean, var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(input, shape, weight, bias, eps, cudnn_enable):
    """Return what layer normalization gives."""
    return rooms()[1].layer_norm(input, shape, weight, bias, eps)


def group_norm(input, groups, weight, bias, eps, cudnn_enabled):
    """Return what group normalization gives."""
    return rooms()[1].group_norm(input, groups, weight, bias, eps)


def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *flags):
    """Return a convolution in any number of axes."""
    _, F = rooms()
    axes = weight.dim() - 2
    if transposed:
        return (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[axes - 1](
            input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (F.conv1d, F.conv2d, F.conv3d)[axes - 1](input, weight, bias, stride, padding, dilation, groups)


def dropped(name, inplace=False):
    """Return one of the dropouts."""
    def drop(input, p, train):
        return getattr(rooms()[1], name)(input, p, train, inplace)
    return drop


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Return rows of a table."""
    return rooms()[1].embedding(indices, weight, None if padding_idx < 0 else padding_idx, None, 2.0,
                                scale_grad_by_freq, sparse)


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Return a table whose named rows are no longer than wanted."""
    torch, F = rooms()
    with torch.no_grad():
        F.embedding(indices, weight, None, max_norm, norm_type)
    return weight


def embedding_bag(weight, indices, offsets, scale, mode, sparse, samples, include_last, padding=None):
    """Return sums of rows of a table."""
    found = rooms()[1].embedding_bag(indices, weight, offsets, None, 2.0, scale, ("sum", "mean", "max")[mode], sparse,
                                     samples, include_last, padding)
    return found, offsets, offsets, offsets


def loss(name):
    """Return a loss whose reduction is a number."""
    def compute(input, target, *rest):
        torch, F = rooms()
        function = getattr(F, name)
        if name in ("mse_loss", "l1_loss", "soft_margin_loss", "multilabel_margin_loss"):
            return function(input, target, reduction=REDUCTIONS[rest[0]])
        if name in ("smooth_l1_loss", "huber_loss"):
            word = "beta" if name == "smooth_l1_loss" else "delta"
            return function(input, target, reduction=REDUCTIONS[rest[0]], **{word: rest[1]})
        if name == "kl_div":
            return function(input, target, reduction=REDUCTIONS[rest[0]], log_target=rest[1])
        if name == "binary_cross_entropy":
            return function(input, target, rest[0], reduction=REDUCTIONS[rest[1]])
        if name == "binary_cross_entropy_with_logits":
            return function(input, target, rest[0], reduction=REDUCTIONS[rest[2]], pos_weight=rest[1])
        if name == "nll_loss":
            return function(input, target, rest[0], ignore_index=rest[2], reduction=REDUCTIONS[rest[1]])
        if name == "cross_entropy":
            return function(input, target, rest[0], reduction=REDUCTIONS[rest[1]], ignore_index=rest[2],
                            label_smoothing=rest[3])
        return function(input, target, *rest[:-1], reduction=REDUCTIONS[rest[-1]])
    return compute


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    """Return the loss of sequences without alignment."""
    return rooms()[1].ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, REDUCTIONS[reduction],
                               zero_infinity)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Return the loss of counts."""
    return rooms()[1].poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=REDUCTIONS[reduction])


def margin(name):
    """Return a loss with a margin."""
    def compute(*rest):
        return getattr(rooms()[1], name)(*rest[:-1], reduction=REDUCTIONS[rest[-1]])
    return compute


def triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction):
    """Return the loss of triplets."""
    return rooms()[1].triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                          reduction=REDUCTIONS[reduction])


def size(input, dim=None):
    """Return the sizes as a list, or one of them."""
    return list(input.shape) if dim is None else input.size(dim)


def index(input, indices):
    """Return elements by tensors."""
    return input[tuple(slice(None) if part is None else part for part in indices)]


def index_put(input, indices, values, accumulate=False):
    """Return a tensor with elements replaced."""
    return index_put_(input.clone(), indices, values, accumulate)


def index_put_(input, indices, values, accumulate=False):
    """Set elements by tensors."""
    place = tuple(slice(None) if part is None else part for part in indices)
    if accumulate:
        torch, _ = rooms()
        if all(part is not None for part in indices):
            return torch.Tensor.index_put_(input, tuple(indices), values, True)
        raise NotImplementedError("index_put_: got accumulate=True with whole axes, expected an index for each axis")
    input[place] = values
    return input


def to_dtype(input, dtype, non_blocking=False, copy=False, memory_format=None):
    """Return a tensor in another type, of which numbers and None are told."""
    return input.to(dtype=dtype, copy=copy) if dtype is not None else input


def to_layout(input, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, copy=False,
              memory_format=None):
    """Return a tensor in another type or elsewhere."""
    return Tensor.to(input, device=device or input.device, dtype=dtype or input.dtype, copy=copy)


def to_device(input, device, dtype=None, non_blocking=False, copy=False, memory_format=None):
    """Return a tensor elsewhere."""
    return Tensor.to(input, device=device or input.device, dtype=dtype or input.dtype, copy=copy)


def to_other(input, other, non_blocking=False, copy=False, memory_format=None):
    """Return a tensor in another one's type and place."""
    return Tensor.to(input, device=other.device, dtype=other.dtype, copy=copy)


def made(name, count):
    """Return a function that makes tensors: shape, numbers, then dtype, layout, device, pin_memory in a row."""
    def make(*values):
        torch, _ = rooms()
        dtype, _, device = (*values[count:], None, None, None)[:3]
        named = {} if device is None else {"device": device}
        if dtype is not None:
            named["dtype"] = dtype_of(dtype)
        return getattr(torch, name)(*values[:count], **named)
    return make


def made_like(name, count):
    """Return a function that makes tensors like another."""
    def make(input, *values):
        torch, _ = rooms()
        dtype, _, device = (*values[count:], None, None, None)[:3]
        named = {} if device is None else {"device": device}
        if dtype is not None:
            named["dtype"] = dtype_of(dtype)
        return getattr(torch, name)(input, *values[:count], **named)
    return make


def new(name, count):
    """Return a method that makes tensors of a tensor's type."""
    def make(input, *values):
        dtype, _, device = (*values[count:], None, None, None)[:3]
        named = {} if device is None else {"device": device}
        return getattr(input, name)(*values[:count], dtype=input.dtype if dtype is None else dtype_of(dtype), **named)
    return make


def recurrent(kind):
    """Return a recurrent layer over whole sequences, or over packed ones."""
    def run(*values):
        packed = not isinstance(values[1], (list, tuple)) and not isinstance(values[2], (list, tuple, bool)) or (
            isinstance(values[2], (list, tuple)) and kind == "lstm" and not isinstance(values[1], (list, tuple)))
        return getattr(ops, kind + ("_packed" if packed else ""))(*values)
    return run


def recurrent_cell(kind):
    """Return one step of a recurrent layer."""
    def run(*values):
        return getattr(rooms()[0], kind)(*values)
    return run


def pack_padded_sequence(input, lengths, batch_first):
    """Return (elements step by step, how many sequences have one at each step)."""
    torch, _ = rooms()
    return tuple(torch.nn.utils.rnn.pack_padded_sequence(input, lengths, batch_first))[:2]


def pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length):
    """Return (padded sequences, lengths)."""
    room = rooms()[0].nn.utils.rnn
    packed = room.PackedSequence(data, batch_sizes)
    return room.pad_packed_sequence(packed, batch_first, padding_value, total_length if total_length > 0 else None)


def expand(input, sizes, implicit=False):
    """Return a tensor repeated without a copy."""
    return input.expand(*sizes)


def contiguous(input, memory_format=None):
    """Return a tensor in order."""
    return input.contiguous()


def clone(input, memory_format=None):
    """Return a copy."""
    return input.clone()


def softmax(input, dim, dtype=None):
    """Return weights that sum to one."""
    return rooms()[1].softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, dtype=None):
    """Return their logarithms."""
    return rooms()[1].log_softmax(input, dim, dtype=dtype)


def half_softmax(name):
    """Return the inner softmax, whose last argument concerns half precision alone."""
    def run(input, dim, half_to_float):
        return getattr(rooms()[1], name)(input, dim)
    return run


def einsum(equation, operands, path=None):
    """Return Einstein's sum."""
    return rooms()[0].einsum(equation, *operands)


def rowed(name):
    """Return a function that takes tensors in a row."""
    def run(tensors, *rest):
        return getattr(rooms()[0], name)(*tensors, **({"indexing": rest[0]} if rest else {}))
    return run


def grid_sampler(input, grid, interpolation, padding, align_corners):
    """Return an input at the places of a grid."""
    return rooms()[1].grid_sample(input, grid, ("bilinear", "nearest", "bicubic")[interpolation],
                                  ("zeros", "border", "reflection")[padding], align_corners)


def affine_grid(theta, size, align_corners):
    """Return a grid of places."""
    return rooms()[1].affine_grid(theta, size, align_corners)


def attention(query, key, value, mask=None, dropout=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Return attention."""
    return rooms()[1].scaled_dot_product_attention(query, key, value, mask, dropout, is_causal, scale=scale,
                                                   enable_gqa=enable_gqa)


def unique2(input, sorted=True, return_inverse=False, return_counts=False):
    """Return (elements, places, counts)."""
    torch, _ = rooms()
    return torch.unique(input, sorted=True, return_inverse=True, return_counts=True)


def unique_dim(input, dim, sorted=True, return_inverse=False, return_counts=False):
    """Return (rows, places, counts)."""
    torch, _ = rooms()
    return torch.unique(input, sorted=True, return_inverse=True, return_counts=True, dim=dim)


def copy_(input, other, non_blocking=False):
    """Write into a tensor."""
    return input.copy_(other)


def set_grad_enabled(value):
    """Switch the recording of gradients."""
    modes.set_recording(value)


def unsqueeze_index(input, dim, index):
    """Return one of an axis."""
    return ops.select(input, dim, index)


def slice_axis(input, dim=0, start=None, end=None, step=1):
    """Return a slice of one axis."""
    place = [slice(None)] * (dim % max(input.dim(), 1))
    return input[(*place, slice(start, end, step))]


def named_like(name):
    """Return a method of tensors that takes its arguments as they stand."""
    return lambda input, *values: getattr(input, name)(*values)


def scalar_tensor(value, dtype=None, layout=None, device=None, pin_memory=None):
    """Return a number as a tensor; without a dtype a floating one."""
    torch, _ = rooms()
    return torch.tensor(value, dtype=dtype or torch.get_default_dtype(), device=device)


def norm_scalar(name):
    """Return a method with optional arguments in a row."""
    return lambda input, *values: getattr(input, name)(*values)


BY_NAME = {
    **fastpaths.BY_NAME, **windows.BY_NAME,
    "batch_norm": batch_norm, "instance_norm": instance_norm, "layer_norm": layer_norm, "group_norm": group_norm,
    "_convolution": _convolution, "embedding": embedding, "embedding_renorm_": embedding_renorm_,
    "embedding_bag": embedding_bag, "size": size, "index_put": index_put,
    "index_put_": index_put_, "_index_put_impl_": lambda *values: index_put_(*values[:4]), "expand": expand,
    "contiguous": contiguous, "clone": clone, "softmax": softmax, "log_softmax": log_softmax, "einsum": einsum,
    "_softmax": half_softmax("softmax"), "_log_softmax": half_softmax("log_softmax"),
    "grid_sampler": grid_sampler, "grid_sampler_2d": grid_sampler, "grid_sampler_3d": grid_sampler,
    "affine_grid_generator": affine_grid, "scaled_dot_product_attention": attention, "_unique2": unique2,
    "unique_dim": unique_dim, "copy_": copy_, "set_grad_enabled": set_grad_enabled, "slice": slice_axis,
    "select": unsqueeze_index, "tensor": tensor, "ctc_loss": ctc_loss, "poisson_nll_loss": poisson_nll_loss,
    "triplet_margin_loss": triplet_margin_loss, "cosine_embedding_loss": margin("cosine_embedding_loss"),
    "margin_ranking_loss": margin("margin_ranking_loss"), "hinge_embedding_loss": margin("hinge_embedding_loss"),
    "scalar_tensor": scalar_tensor, "nll_loss_nd": loss("nll_loss"), "nll_loss2d": loss("nll_loss"),
    "cross_entropy_loss": loss("cross_entropy"), "lift_fresh": lambda value: value, "detach": named_like("detach"),
    "item": lambda value: value.item(), "is_floating_point": named_like("is_floating_point"),
    "view": lambda input, size: input.view(size) if isinstance(size, list) else input.view(codes.from_code(
        "dtype", size) if isinstance(size, int) else size), "reciprocal": named_like("reciprocal"),
    "numpy_T": lambda value: value.T, "matrix_H": lambda value: value.H, "mT": lambda value: value.mT,
    "mH": lambda value: value.mH, "real": lambda value: value.real, "imag": lambda value: value.imag,
    "is_leaf": lambda value: value.is_leaf, "_cast_Float": lambda value, *_: value.float(),
    "type_as": named_like("type_as"), "numel": named_like("numel"), "dim": named_like("dim"),
    "__and__": lambda one, other: one & other, "__or__": lambda one, other: one | other,
    "__xor__": lambda one, other: one ^ other, "__lshift__": lambda one, other: one << other,
    "__rshift__": lambda one, other: one >> other, "__iand__": lambda one, other: one.__iand__(other),
    "__ior__": lambda one, other: one.__ior__(other), "__ixor__": lambda one, other: one.__ixor__(other),
    "is_grad_enabled": lambda: rooms()[0].is_grad_enabled(), "isnan": lambda value: rooms()[0].isnan(value),
    "multi_margin_loss": lambda input, target, p, margin, weight, reduction: rooms()[1].multi_margin_loss(
        input, target, p, margin, weight, reduction=REDUCTIONS[reduction]),
    "binary_cross_entropy_with_logits": loss("binary_cross_entropy_with_logits"),
    "unflatten": lambda input, dim, sizes: input.unflatten(dim, sizes),
    "_pack_padded_sequence": pack_padded_sequence, "_pad_packed_sequence": pad_packed_sequence}
BY_NAME.update((name, loss(name)) for name in (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy", "nll_loss",
    "soft_margin_loss", "multilabel_margin_loss"))
BY_NAME.update((name, rowed(name)) for name in ("meshgrid", "broadcast_tensors", "cartesian_prod", "block_diag"))
BY_NAME.update((name, made(name, 1)) for name in ("zeros", "ones", "empty", "rand", "randn", "eye", "randperm"))
BY_NAME.update((name, made_like(name, 0)) for name in ("zeros_like", "ones_like", "empty_like", "rand_like",
                                                       "randn_like"))
BY_NAME.update({"full": made("full", 2), "full_like": made_like("full_like", 1), "new_zeros": new("new_zeros", 1),
                "new_ones": new("new_ones", 1), "new_empty": new("new_empty", 1), "new_full": new("new_full", 2)})
BY_NAME.update((name, recurrent(name)) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"))
BY_NAME.update((name, recurrent_cell(name)) for name in ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"))
BY_NAME.update((name, dropped(name.rstrip("_"), name.endswith("_"))) for name in (
    "dropout", "dropout_", "alpha_dropout", "alpha_dropout_", "feature_alpha_dropout"))
BY_NAME.update({"feature_dropout": dropped("dropout2d"), "feature_dropout_": dropped("dropout2d", True)})
# By the full name of one signature.
EXACT = {
    "aten::to.dtype": lambda input, dtype, *rest: to_dtype(input, dtype_of(dtype), *rest),
    "aten::to.prim_dtype": lambda input, dtype=None, *rest: to_dtype(input, dtype_of(dtype), *rest),
    "aten::to.dtype_layout": lambda input, dtype=None, *rest: to_layout(input, dtype_of(dtype), *rest),
    "aten::to.device": lambda input, device, dtype, *rest: to_device(input, device, dtype_of(dtype), *rest),
    "aten::to.prim_Device": lambda input, device, dtype=None, *rest: to_device(input, device, dtype_of(dtype), *rest),
    "aten::to.other": to_other, "aten::to.prim_other": lambda input, *_: input,
    "aten::index.Tensor": index, "aten::index.Tensor_hacked_twin": index,
    "aten::randint": lambda high, size, *rest: made("randint", 3)(0, high, size, *rest),
    "aten::randint.low": made("randint", 3), "aten::arange": made("arange", 1), "aten::arange.start": made("arange", 2),
    "aten::arange.start_step": made("arange", 3), "aten::linspace": made("linspace", 3),
    "prim::abs": lambda value: abs(value), "prim::NumToTensor.Scalar": tensor, "prim::NumToTensor.bool": tensor,
    "aten::view.dtype": lambda input, dtype: input.view(dtype_of(dtype)), "aten::len.Tensor": len,
    "aten::randperm": made("randperm", 1), "aten::eye.m": made("eye", 2),
    "aten::set_grad_enabled": set_grad_enabled, "aten::unbind.int": lambda input, dim=0: list(input.unbind(dim))}


def dtype_of(code):
    """Return a dtype of a number, or None."""
    return codes.from_code("dtype", code) if isinstance(code, int) else code
