"""The transformer: encoder, decoder, and both together."""
import copy

from dragon.core import warnings
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import default_dtype
from dragon.vm.torch.core.nested.parts import is_nested
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.init import xavier_uniform_
from dragon.vm.torch.nn.modules._attention import no_history_wanted
from dragon.vm.torch.nn.modules.activation import GELU, MultiheadAttention, ReLU
from dragon.vm.torch.nn.modules.container import ModuleList
from dragon.vm.torch.nn.modules.dropout import Dropout
from dragon.vm.torch.nn.modules.linear import Linear
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.normalization import LayerNorm
from dragon.vm.torch.nn.modules.utils import factory


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    """Return the mask that hides what comes later: minus infinity above the diagonal."""
    return ops.triu(ops.full((sz, sz), float("-inf"), dtype=dtype or default_dtype(), device=as_device(device)), 1)


def _get_seq_len(src, batch_first):
    if is_nested(src):
        return None  # samples have lengths of their own
    return src.shape[0] if src.dim() == 2 else src.shape[1 if batch_first else 0]


def _get_clones(module, N):
    if not isinstance(module, Module):  # before it is copied as often as is asked
        raise TypeError(f"TransformerEncoder: got {type(module).__name__} for a layer, expected a module")
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation):
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _detect_is_causal_mask(mask, is_causal=None, size=None):
    """Return whether a mask is the causal one: as is said, or if nothing is said, by looking."""
    if is_causal is not None or mask is None:
        return is_causal is True
    length = mask.shape[-2] if size is None else size
    if tuple(mask.shape) != (length, length):
        return False
    causal = _generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return bool(ops.all(ops.eq(mask, causal)).item())


class Transformer(Module):
    """An encoder and a decoder that attends to what the encoder made.

    Parameters
    ----------
    d_model : int, optional, default=512
        Features.
    nhead : int, optional, default=8
        Heads of attention.
    num_encoder_layers, num_decoder_layers : int, optional, default=6, 6
        How many layers.
    dim_feedforward : int, optional, default=2048
        Features between the two linear layers.
    dropout : float, optional, default=0.1
        Probability of dropping.
    activation : Union[str, Callable], optional, default=relu
        "relu", "gelu" or a function.
    custom_encoder, custom_decoder : Module, optional
        In place of those that would be made.
    layer_norm_eps : float, optional, default=1e-05
        Added to variances.
    norm_first : bool, optional, default=False
        Normalize before attention and feedforward, not after.
    bias : bool, optional, default=True
        Have biases.

    """

    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = factory(device, dtype)
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*shared, **made)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*shared, **made)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **made)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        """Return the decoder's output for a source and a target."""
        batch_axis = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch_axis] != tgt.shape[batch_axis]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """Return the mask that hides what comes later: minus infinity above the diagonal."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self):
        for param in self.parameters():
            if param.dim() > 1:
                xavier_uniform_(param)


class TransformerEncoder(Module):
    """Encoder layers one after the other.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        What is copied.
    num_layers : int
        How often.
    norm : Module, optional
        What comes after the last.
    enable_nested_tensor : bool, optional, default=True
        In evaluation, give zeros for what `src_key_padding_mask` says is not there.
    mask_check : bool, optional, default=True
        Do so only where a mask says that for the ends of sequences alone.

    """

    __constants__ = ["norm"]

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why_not = _why_not_nested(encoder_layer) if enable_nested_tensor else ""
        self.use_nested_tensor = enable_nested_tensor and not why_not
        if why_not:
            warnings.warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}")

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """Return the encoded source."""
        padding = F._canonical_mask(mask=src_key_padding_mask, mask_name="src_key_padding_mask",
                                    other_type=F._none_or_dtype(mask), other_name="mask", target_type=src.dtype)
        mask = F._canonical_mask(mask=mask, mask_name="mask", other_type=None, other_name="", target_type=src.dtype,
                                 check_other=False)
        first = self.layers[0]
        is_causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, first.self_attn.batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if padding is not None and mask is None and self._goes_nested(first, src, padding):
            # PyTorch leaves the padding out here and puts zeros there at the end.
            output = ops.masked_fill(output, ops.unsqueeze(ops.ne(padding, 0), -1), 0.0)
        return output if self.norm is None else self.norm(output)

    def _goes_nested(self, first, src, padding):
        """Return whether PyTorch would compute on sequences without their padding."""
        if not self.use_nested_tensor or first.training or src.dim() != 3 or not no_history_wanted(
                [src, *first.parameters()]):
            return False
        hidden = ops.cast(ops.ne(padding, 0), OBJECTS["int8"])
        # Padding stands at the ends alone if nothing hidden is followed by something that is not.
        ends = ops.eq(ops.cummax(hidden, 1)[0], hidden)
        return not self.mask_check or bool(ops.all(ends).item())


def _why_not_nested(layer):
    """Return why PyTorch would not take its fast way through an encoder, or an empty text."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        "norm_first was True": layer.norm_first,
        "self_attn.batch_first was not True(use batch_first for better inference performance)":
            not attention.batch_first,
        "self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        "self_attn was passed bias=False": attention.in_proj_bias is None,
        "activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        "norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        "self_attn.num_heads is odd": attention.num_heads % 2 == 1}
    return next((f"encoder_layer.{reason}" for reason, holds in reasons.items() if holds), "")


class TransformerDecoder(Module):
    """Decoder layers one after the other.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        What is copied.
    num_layers : int
        How often.
    norm : Module, optional
        What comes after the last.

    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        """Return the decoded target."""
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                           tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                           tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)
        return output if self.norm is None else self.norm(output)


class _Layer(Module):
    """The base of both layers: attention of a sequence to itself."""

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        attended, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                     need_weights=False, is_causal=is_causal)
        return self.dropout1(attended)


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feedforward network, each with a shortcut and a normalization.

    Parameters
    ----------
    d_model, nhead : int
        Features, and heads of attention.
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        See Transformer.

    Examples
    --------
    >>> layer = nn.TransformerEncoderLayer(d_model=16, nhead=4, batch_first=True)
    >>> layer(torch.zeros(8, 5, 16)).shape
    torch.Size([8, 5, 16])

    """

    __constants__ = ["norm_first"]

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-05,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = {"bias": bias, **factory(device, dtype)}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **made)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **made)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        self.activation_relu_or_gelu = (1 if activation is F.relu or isinstance(activation, ReLU) else
                                        2 if activation is F.gelu or isinstance(activation, GELU) else 0)
        self.activation = activation

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """Return the encoded source."""
        padding = F._canonical_mask(mask=src_key_padding_mask, mask_name="src_key_padding_mask",
                                    other_type=F._none_or_dtype(src_mask), other_name="src_mask", target_type=src.dtype)
        src_mask = F._canonical_mask(mask=src_mask, mask_name="src_mask", other_type=None, other_name="",
                                     target_type=src.dtype, check_other=False)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), src_mask, padding, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, src_mask, padding, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the memory and a feedforward network, each with a shortcut and a normalization.

    Parameters
    ----------
    d_model, nhead : int
        Features, and heads of attention.
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        See Transformer.

    """

    __constants__ = ["norm_first"]

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-05,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        made = {"bias": bias, **factory(device, dtype)}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        for name in ("norm1", "norm2", "norm3"):
            setattr(self, name, LayerNorm(d_model, eps=layer_norm_eps, **made))
        for name in ("dropout1", "dropout2", "dropout3"):
            setattr(self, name, Dropout(dropout))
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def __setstate__(self, state):
        super().__setstate__({"activation": F.relu, **state})

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        """Return the decoded target."""
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory_mask, memory_key_padding_mask, memory_is_causal
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        attended, _ = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                          is_causal=is_causal, need_weights=False)
        return self.dropout2(attended)

    def _ff_block(self, x):
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
