"""Multi-head attention over nested tensors of layout `torch.strided`: what PyTorch's fast way for inference takes."""
from dragon.core import modes
from dragon.vm.torch.core.nested.making import strided_of
from dragon.vm.torch.core.nested.parts import StridedNested, sizes_of
from dragon.vm.torch.core.nested.strided import to_padded_tensor
from dragon.vm.torch.core.functions.creation import as_tensor
from dragon.vm.torch.core.sparse.keys import count_up
from dragon.vm.torch.core.tensor import ops


def why_not(module, query, key, value, masks):
    """Return why PyTorch has no way for a call with nested tensors, or an empty text."""
    reasons = {
        "some Tensor argument has_torch_function": not isinstance(query, StridedNested),
        "non-self attention was used (query, key, and value are not the same Tensor)":
            query is not key or key is not value,
        f"input not batched; expected query.dim() of 3 but got {query.dim()}": query.dim() != 3,
        "batch_first was not True": not module.batch_first, "training is enabled": module.training,
        "in_proj_bias was None": module.in_proj_bias is None, "num_heads is odd": module.num_heads % 2 == 1,
        "self.bias_k was not None": module.bias_k is not None, "add_zero_attn was enabled": module.add_zero_attn,
        "_qkv_same_embed_dim was not True": not module._qkv_same_embed_dim,
        "supplying both src_key_padding_mask and src_mask at the same time is not supported with NestedTensor input":
            any(mask is not None for mask in masks),
        "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad":
            modes.is_recording() and (query.requires_grad or any(one.requires_grad for one in module.parameters()))}
    return next((reason for reason, holds in reasons.items() if holds), "")


def attend(module, query, key, value, masks, need_weights, average_attn_weights):
    """Return what a `MultiheadAttention` makes of one nested tensor, and the weights, padded, or None."""
    reason = why_not(module, query, key, value, masks)
    if reason:
        raise AssertionError("MultiheadAttention does not support NestedTensor outside of its fast path. The fast path "
                             f"was not hit because {reason}; expected strided tensors with a key_padding_mask else")
    whole = to_padded_tensor(query, 0.0)
    lengths = as_tensor([shape[0] for shape in sizes_of(query)])
    hidden = ops.ge(ops.unsqueeze(count_up(whole.shape[1], lengths), 0), ops.unsqueeze(lengths, 1))
    made, weights = module(whole, whole, whole, key_padding_mask=hidden, need_weights=need_weights,
                           average_attn_weights=average_attn_weights)
    samples = [sample[:length] for sample, length in zip(made, lengths.tolist())]
    if weights is not None:
        rows = ops.reshape(hidden, (hidden.shape[0], *(1,) * (weights.ndim - 3), hidden.shape[1], 1))
        weights = ops.masked_fill(weights, rows, 0.0)
    return strided_of("MultiheadAttention", samples, query.dtype), weights
