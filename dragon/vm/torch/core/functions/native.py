"""The layers' functions as `torch` itself has them, below `nn.functional`: other orders, and reductions by number."""
from dragon import _C
from dragon.dialects.aten.table import REDUCTIONS
from dragon.vm.guest import read_rows
from dragon.vm.torch._api import loss as losses
from dragon.vm.torch.core.functions import normalization, pooling
from dragon.vm.torch.core.functions.embedding import look_up_sparse, shrink_rows
from dragon.vm.torch.core.functions.loss import lengths
from dragon.vm.torch.core.register import FUNCTIONS, function
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops


def reduction_by_number(name, place):
    """Register a loss whose reduction is a number."""
    operator = getattr(ops, name)

    def loss(*args, **kwargs):
        if len(args) > place:
            args = (*args[:place], REDUCTIONS[args[place]], *args[place + 1:])
        else:
            kwargs["reduction"] = REDUCTIONS[kwargs.get("reduction", 1)]
        return operator(*args, **kwargs)
    return function(named(loss, name,
                          f"Compute `nn.functional.{name}` with a reduction by number: 0 none, 1 mean, 2 sum."))


def _places():
    """Return {loss: the place of its reduction} of those that `torch` has, too."""
    words = {row.name: [argument["name"] for argument in _C.schema(row.operator)["arguments"]]
             for row in read_rows(losses.ROWS) if "torch" in row.places}
    return {name: known.index("reduction") for name, known in words.items() if "reduction" in known}


PLACES = _places()
for _name, _place in PLACES.items():
    reduction_by_number(_name, _place)
for _axes in (1, 2, 3):
    FUNCTIONS[f"max_pool{_axes}d"] = getattr(pooling, f"max_pool{_axes}d")
FUNCTIONS["max_pool1d_with_indices"] = pooling.max_pool1d_with_indices
FUNCTIONS["adaptive_max_pool1d"] = pooling.adaptive_max_pool1d_with_indices
FUNCTIONS["native_channel_shuffle"] = ops.channel_shuffle


def dropping(name, drop):
    """Register a kind of dropout, all arguments of which have to be given."""
    def dropout(input, p, train):
        return drop(input, p, train)
    return function(named(dropout, name, f"Compute `{name}` where `train` is true."))


dropping("dropout", normalization.dropout)
dropping("alpha_dropout", normalization.alpha_dropout)
dropping("feature_alpha_dropout", normalization.feature_alpha_dropout)
dropping("feature_dropout", lambda input, p, train: normalization.drop_channels(input, p, train, False))


@function
def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    """Return the cross entropy of the sigmoid of logits."""
    return ops.binary_cross_entropy_with_logits(input, target, weight, REDUCTIONS[reduction], pos_weight)


@function
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    """Return the connectionist temporal classification loss."""
    return ops.ctc_loss(log_probs, targets, lengths(input_lengths, log_probs.device),
                        lengths(target_lengths, log_probs.device), blank, REDUCTIONS[reduction], zero_infinity)


@function
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Return rows of a table by index."""
    padding = padding_idx if padding_idx >= 0 else None
    if sparse:
        return look_up_sparse("embedding", weight, indices, padding, scale_grad_by_freq)
    return ops.embedding(weight, indices, padding, scale_grad_by_freq)


@function
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scale, in place, the rows of a table that are used and longer than `max_norm`."""
    shrink_rows(input, indices, max_norm, norm_type)
    return input


@function
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Normalize each channel over the batch, or by running statistics."""
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@function
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Normalize each channel of each sample."""
    return ops.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@function
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """Normalize groups of channels of each sample."""
    return ops.group_norm(input, num_groups, weight, bias, eps)


@function
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """Normalize over the last axes."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


@function
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """Normalize groups of channels; returns the statistics too."""
    return ops.native_group_norm(input, group, weight, bias, eps)


@function
def constant_pad_nd(input, pad, value=0):
    """Widen the last axes by a constant."""
    return ops.pad(input, pad, "constant", value)


@function
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Convolve, or transposed, along as many axes as the weight has beyond two."""
    if transposed:
        return ops.conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return ops.conv(input, weight, bias, stride, padding, dilation, groups)


@function
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """Read images at the places that a grid names; modes are numbers."""
    return ops.grid_sample(input, grid, ("bilinear", "nearest", "bicubic")[interpolation_mode],
                           ("zeros", "border", "reflection")[padding_mode], align_corners)


FUNCTIONS["grid_sampler_2d"] = FUNCTIONS["grid_sampler_3d"] = FUNCTIONS["grid_sampler"]


@function
def affine_grid_generator(theta, size, align_corners):
    """Return the grid of an affine transformation."""
    return ops.affine_grid(theta, size, align_corners)


@function
def norm_except_dim(v, pow=2, dim=0):
    """Return the norms of a tensor over all axes but one, or all."""
    axes = [axis for axis in range(v.ndim) if axis != dim % v.ndim] if dim != -1 else None
    if axes == []:
        return ops.norm(ops.unsqueeze(v, -1), pow, -1)
    return ops.norm(v, pow, axes, axes is not None)


@function
def frobenius_norm(input, dim=(), keepdim=False, *, out=None):
    """Return the root of the sum of squares."""
    axes = tuple(dim) if hasattr(dim, "__len__") else (dim,)
    return ops.linalg_vector_norm(input, 2, axes or None, keepdim, out=out)


@function
def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    """Return the sum of singular values."""
    return ops.linalg_matrix_norm_name(input, "nuc", dim, keepdim, out=out)


def _recurrent(name):
    plain, packed = getattr(ops, name), getattr(ops, name + "_packed")

    def run(*args, **kwargs):
        # A packed sequence brings its batch sizes as the second argument, before the states.
        states = args[1] if name == "lstm" else args[2]
        return (packed if isinstance(states, Tensor) else plain)(*args, **kwargs)
    return function(named(run, name, f"Run the layers of `nn.{name.upper()}` over a sequence or a packed one."))


for _name in _C.op_names():
    if _name.endswith("_packed"):
        _recurrent(_name.removesuffix("_packed"))


def gone(name, successor):
    """Register a function that PyTorch took out, which says what to use."""
    def removed(*args, **kwargs):
        raise RuntimeError(f"{name}: PyTorch has removed it, expected {successor}")
    return function(named(removed, name, f"Raise: `{successor}` has taken its place."))


for _name, _successor in (("matrix_rank", "torch.linalg.matrix_rank"), ("lstsq", "torch.linalg.lstsq"),
                          ("solve", "torch.linalg.solve"), ("symeig", "torch.linalg.eigh"),
                          ("eig", "torch.linalg.eig")):
    gone(_name, _successor)
