"""Multi-head attention as a layer."""
from dragon.core import modes
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.nested import encoding
from dragon.vm.torch.core.nested.parts import is_nested
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.init import constant_, xavier_normal_, xavier_uniform_
from dragon.vm.torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty, factory
from dragon.vm.torch.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Attend to keys and values in several subspaces.

    Parameters
    ----------
    embed_dim : int
        Features of the query and the output.
    num_heads : int
        How many subspaces.
    dropout : float, optional, default=0.0
        Probability of dropping a weight while training.
    bias : bool, optional, default=True
        Add biases in the projections.
    add_bias_kv : bool, optional, default=False
        Add a learned key and value to each sequence.
    add_zero_attn : bool, optional, default=False
        Add a key and value of zeros to each sequence.
    kdim, vdim : int, optional
        Features of keys and values, `embed_dim` by default.

    Examples
    --------
    >>> layer = nn.MultiheadAttention(16, num_heads=4, batch_first=True)
    >>> x = torch.zeros(8, 5, 16)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([8, 5, 16]), torch.Size([8, 5, 5]))

    """

    __module__ = __name__.replace("._attention", ".activation")  # where PyTorch has it
    __constants__ = ["batch_first"]

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        made = factory(device, dtype)
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"MultiheadAttention: embed_dim must be divisible by num_heads: got {embed_dim} and "
                                 f"{num_heads}")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim, **made))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(empty(embed_dim, embed_dim, **made))
            self.k_proj_weight = Parameter(empty(embed_dim, self.kdim, **made))
            self.v_proj_weight = Parameter(empty(embed_dim, self.vdim, **made))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * embed_dim, **made)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(empty(1, 1, embed_dim, **made))
            self.bias_v = Parameter(empty(1, 1, embed_dim, **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        weights = (self.in_proj_weight,) if self._qkv_same_embed_dim else (
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in weights:
            xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)  # what older files lack
        super().__setstate__(state)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        """Return the attention's output and, if wanted, its weights.

        Parameters
        ----------
        query, key, value : Tensor
            `(sequence, batch, feature)`, or the other order with `batch_first`, or without a batch.
        key_padding_mask : Tensor, optional
            True, or a number to add, for keys that are not there: `(batch, sequence)`.
        need_weights : bool, optional, default=True
            Return the weights too.
        attn_mask : Tensor, optional
            True, or a number to add, where a query does not see a key.
        average_attn_weights : bool, optional, default=True
            Return the mean of the heads' weights.
        is_causal : bool, optional, default=False
            Says that `attn_mask` is the causal one.

        Returns
        -------
        Tuple[Tensor, Optional[Tensor]]
            The output, and the weights or None.

        """
        if is_nested(query) or is_nested(key) or is_nested(value):
            return encoding.attend(self, query, key, value, (key_padding_mask, attn_mask), need_weights,
                                   average_attn_weights)
        key_padding_mask = F._canonical_mask(
            mask=key_padding_mask, mask_name="key_padding_mask", other_type=F._none_or_dtype(attn_mask),
            other_name="attn_mask", target_type=query.dtype)
        attn_mask = F._canonical_mask(
            mask=attn_mask, mask_name="attn_mask", other_type=None, other_name="", target_type=query.dtype,
            check_other=False)
        swap = self.batch_first and query.dim() == 3
        if swap:
            # Equal arguments stay one object: the projections then run at once.
            query, key, value = _swapped(query, key, value)
        separate = {} if self._qkv_same_embed_dim else {
            "use_separate_proj_weight": True, "q_proj_weight": self.q_proj_weight,
            "k_proj_weight": self.k_proj_weight, "v_proj_weight": self.v_proj_weight}
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **separate)
        return (output.transpose(1, 0), weights) if swap else (output, weights)

    def merge_masks(self, attn_mask, key_padding_mask, query):
        """Return one mask for both and its kind: 0 for an attention mask, 1 for padding, 2 for both; None for none."""
        if key_padding_mask is None and attn_mask is None:
            return None, None
        if attn_mask is None:
            return key_padding_mask, 1
        batch, length = query.shape[:2]
        merged = (attn_mask.view(batch, -1, length, length) if attn_mask.dim() == 3
                  else attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1))
        if key_padding_mask is None:
            return merged, 2
        padding = key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged + padding, 2


def _swapped(*tensors):
    """Return tensors with the first two axes exchanged, one object for one."""
    made = {id(tensor): ops.transpose(tensor, 1, 0) for tensor in tensors}
    return [made[id(tensor)] for tensor in tensors]


def no_history_wanted(tensors):
    """Return whether PyTorch would take its way for inference: nothing is recorded for gradients."""
    return not modes.is_recording() or not any(tensor is not None and tensor.requires_grad for tensor in tensors)


def as_added(mask, dtype):
    """Return a mask of truths as one of numbers to add, as attention takes them."""
    if mask is None or mask.dtype != OBJECTS["bool"]:
        return mask
    return ops.masked_fill(ops.zeros(mask.shape, dtype=dtype, device=mask.device), mask, float("-inf"))
