"""Transformers whose attention stays within windows, which shift from block to block."""
import math
from functools import partial
from typing import List, Optional

from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.ops.misc import MLP, Permute
from dragon.vm.torchvision.ops.stochastic_depth import StochasticDepth

Tensor = torch.Tensor
nn = torch.nn
F = nn.functional
for _name in ("_patch_merging_pad", "_get_relative_position_bias", "shifted_window_attention"):
    wrap(_name)  # what they do depends on sizes: graphs have calls of them


def _patch_merging_pad(x):
    height, width = x.size(-3), x.size(-2)
    x = F.pad(x, [0, 0, 0, width % 2, 0, height % 2])
    return torch.cat([x[..., row::2, column::2, :] for row, column in ((0, 0), (1, 0), (0, 1), (1, 1))], -1)


def _get_relative_position_bias(relative_position_bias_table: Tensor, relative_position_index: Tensor,
                                window_size: List[int]) -> Tensor:
    places = window_size[0] * window_size[1]
    bias = relative_position_bias_table[relative_position_index].view(places, places, -1)
    return bias.permute(2, 0, 1).contiguous().unsqueeze(0)


class PatchMerging(nn.Module):
    """Halve the size: four pixels become one, normalized before."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        return self.reduction(self.norm(_patch_merging_pad(x)))


class PatchMergingV2(nn.Module):
    """Halve the size: four pixels become one, normalized after."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x):
        return self.norm(self.reduction(_patch_merging_pad(x)))


def _windows(x: Tensor, window: List[int]) -> Tensor:
    """Return an image (B, H, W, C) as rows of windows (B * windows, places, C)."""
    b, h, w, c = x.shape
    x = x.view(b, h // window[0], window[0], w // window[1], window[1], c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window[0] * window[1], c)


def _image(x: Tensor, window: List[int], h: int, w: int) -> Tensor:
    """Return rows of windows as an image."""
    x = x.view(-1, h // window[0], w // window[1], window[0], window[1], x.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, h, w, x.shape[-1])


def _shift_mask(h: int, w: int, window: List[int], shift: List[int], like: Tensor) -> Tensor:
    """Return what keeps places apart that only a shift brought into one window."""
    regions = like.new_zeros((h, w))
    number = 0
    for rows in ((0, -window[0]), (-window[0], -shift[0]), (-shift[0], None)):
        for columns in ((0, -window[1]), (-window[1], -shift[1]), (-shift[1], None)):
            regions[rows[0]:rows[1], columns[0]:columns[1]] = number
            number += 1
    regions = _windows(regions[None, :, :, None], window).squeeze(-1)
    apart = regions.unsqueeze(1) - regions.unsqueeze(2)
    return apart.masked_fill(apart != 0, -100.0)


def shifted_window_attention(input: Tensor, qkv_weight: Tensor, proj_weight: Tensor, relative_position_bias: Tensor,
                             window_size: List[int], num_heads: int, shift_size: List[int],
                             attention_dropout: float = 0.0, dropout: float = 0.0, qkv_bias: Optional[Tensor] = None,
                             proj_bias: Optional[Tensor] = None, logit_scale: Optional[Tensor] = None,
                             training: bool = True) -> Tensor:
    """Return the attention of places (B, H, W, C) within windows that are shifted.

    Parameters
    ----------
    input : Tensor
        The places.
    qkv_weight, proj_weight, qkv_bias, proj_bias : Tensor
        The linear layers before and after.
    relative_position_bias : Tensor
        Added to the scores.
    window_size, shift_size : List[int]
        Down and across.
    num_heads : int
        The heads.
    attention_dropout, dropout : float, optional, default=0.0
        The probabilities of zeroing.
    logit_scale : Tensor, optional
        Scales scores of unit vectors, instead of the root of the features.
    training : bool, optional, default=True
        Whether to zero.

    Returns
    -------
    Tensor
        The places.

    """
    height, width, channels = input.size(1), input.size(2), input.size(3)
    x = F.pad(input, (0, 0, 0, -width % window_size[1], 0, -height % window_size[0]))
    h, w = x.size(1), x.size(2)
    shift = [0 if window >= side else step for window, side, step in zip(window_size, [h, w], shift_size)]
    if sum(shift) > 0:
        x = torch.roll(x, shifts=(-shift[0], -shift[1]), dims=(1, 2))
    x = _windows(x, window_size)
    if logit_scale is not None and qkv_bias is not None:
        third = qkv_bias.numel() // 3
        qkv_bias = torch.cat((qkv_bias[:third], torch.zeros_like(qkv_bias[third:2 * third]), qkv_bias[2 * third:]))
    rows, places = x.size(0), x.size(1)
    qkv = F.linear(x, qkv_weight, qkv_bias).reshape(rows, places, 3, num_heads, channels // num_heads)
    q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
    if logit_scale is not None:
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        scores = scores * torch.clamp(logit_scale, max=math.log(100.0)).exp()
    else:
        scores = (q * (channels // num_heads) ** -0.5).matmul(k.transpose(-2, -1))
    scores = scores + relative_position_bias
    if sum(shift) > 0:
        mask = _shift_mask(h, w, window_size, shift, x)
        scores = scores.view(rows // len(mask), len(mask), num_heads, places, places) + mask.unsqueeze(1).unsqueeze(0)
        scores = scores.view(-1, num_heads, places, places)
    scores = F.dropout(F.softmax(scores, dim=-1), p=attention_dropout, training=training)
    x = F.linear(scores.matmul(v).transpose(1, 2).reshape(rows, places, channels), proj_weight, proj_bias)
    x = _image(F.dropout(x, p=dropout, training=training), window_size, h, w)
    if sum(shift) > 0:
        x = torch.roll(x, shifts=(shift[0], shift[1]), dims=(1, 2))
    return x[:, :height, :width, :].contiguous()


class ShiftedWindowAttention(nn.Module):
    """Attention within windows that are shifted; see `shifted_window_attention`."""

    def __init__(self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0,
                 dropout=0.0):
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size, self.shift_size, self.num_heads = window_size, shift_size, num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self):
        """Draw a number for each head and each difference of places."""
        rows, columns = (2 * size - 1 for size in self.window_size)
        self.relative_position_bias_table = nn.Parameter(torch.zeros(rows * columns, self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self):
        """Number the differences of places."""
        high, wide = self.window_size
        rows = torch.arange(high).repeat_interleave(wide)
        columns = torch.arange(wide).repeat(high)
        down = rows[:, None] - rows[None, :] + high - 1
        across = columns[:, None] - columns[None, :] + wide - 1
        self.register_buffer("relative_position_index", (down * (2 * wide - 1) + across).flatten())

    def get_relative_position_bias(self):
        """Return what is added to the scores."""
        return _get_relative_position_bias(self.relative_position_bias_table, self.relative_position_index,
                                           self.window_size)

    def forward(self, x):
        return shifted_window_attention(x, self.qkv.weight, self.proj.weight, self.get_relative_position_bias(),
                                        self.window_size, self.num_heads, shift_size=self.shift_size,
                                        attention_dropout=self.attention_dropout, dropout=self.dropout,
                                        qkv_bias=self.qkv.bias, proj_bias=self.proj.bias,
                                        logit_scale=getattr(self, "logit_scale", None), training=self.training)


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Attention of unit vectors within windows, with what is added computed from the differences of places."""

    def __init__(self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0,
                 dropout=0.0):
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias=qkv_bias, proj_bias=proj_bias,
                         attention_dropout=attention_dropout, dropout=dropout)
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones((num_heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512, bias=True), nn.ReLU(inplace=True),
                                     nn.Linear(512, num_heads, bias=False))
        if qkv_bias:
            third = self.qkv.bias.numel() // 3
            with torch.no_grad():
                self.qkv.bias[third:2 * third].zero_()

    def define_relative_position_bias_table(self):
        """Note the differences of places, on a logarithmic scale."""
        rows, columns = (torch.arange(1 - size, size, dtype=torch.float32) / (size - 1) for size in self.window_size)
        shape = (len(rows), len(columns))
        table = torch.stack((rows[:, None].expand(shape), columns[None, :].expand(shape)), -1).unsqueeze(0) * 8
        self.register_buffer("relative_coords_table", torch.sign(table) * torch.log2(table.abs() + 1.0) / 3.0)

    def get_relative_position_bias(self):
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        return 16 * torch.sigmoid(_get_relative_position_bias(table, self.relative_position_index, self.window_size))


class SwinTransformerBlock(nn.Module):
    """Attention within windows and two linear layers, normalized before; the input is led around both."""

    def __init__(self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
                 stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttention):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout,
                               dropout=dropout)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x):
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Attention within windows and two linear layers, normalized after; the input is led around both."""

    def __init__(self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
                 stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttentionV2):
        super().__init__(dim, num_heads, window_size, shift_size, mlp_ratio=mlp_ratio, dropout=dropout,
                         attention_dropout=attention_dropout, stochastic_depth_prob=stochastic_depth_prob,
                         norm_layer=norm_layer, attn_layer=attn_layer)

    def forward(self, x):
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    """A transformer whose attention stays within windows.

    Parameters
    ----------
    patch_size : List[int]
        The patches, down and across.
    embed_dim : int
        The features of the first stage.
    depths, num_heads : List[int]
        The blocks and the heads of each stage.
    window_size : List[int]
        The windows, down and across.
    mlp_ratio : float, optional, default=4.0
        The inner features of linear layers, as multiples.
    dropout, attention_dropout : float, optional, default=0.0
        The probabilities of zeroing.
    norm_layer, block, downsample_layer : Callable, optional
        The classes of normalizations, of blocks and of what halves the size.

    """

    def __init__(self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0,
                 attention_dropout=0.0, stochastic_depth_prob=0.1, num_classes=1000, norm_layer=None, block=None,
                 downsample_layer=PatchMerging):
        super().__init__()
        self.num_classes = num_classes
        block, norm_layer = block or SwinTransformerBlock, norm_layer or partial(nn.LayerNorm, eps=1e-5)
        layers = [nn.Sequential(nn.Conv2d(3, embed_dim, kernel_size=tuple(patch_size), stride=tuple(patch_size)),
                                Permute([0, 2, 3, 1]), norm_layer(embed_dim))]
        number, width = 0, embed_dim
        for index, depth in enumerate(depths):
            stage, width = [], embed_dim * 2 ** index
            for place in range(depth):
                drop = stochastic_depth_prob * float(number) / (sum(depths) - 1)
                stage.append(block(width, num_heads[index], window_size=window_size,
                                   shift_size=[size // 2 if place % 2 else 0 for size in window_size],
                                   mlp_ratio=mlp_ratio, dropout=dropout, attention_dropout=attention_dropout,
                                   stochastic_depth_prob=drop, norm_layer=norm_layer))
                number += 1
            layers.append(nn.Sequential(*stage))
            if index < len(depths) - 1:
                layers.append(downsample_layer(width, norm_layer))
        self.features = nn.Sequential(*layers)
        self.norm = norm_layer(width)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


_V2 = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2}
for _size, _embed, _deep, _drop in (("t", 96, 6, 0.2), ("s", 96, 18, 0.3), ("b", 128, 18, 0.5)):
    _options = {"patch_size": [4, 4], "embed_dim": _embed, "depths": [2, 2, _deep, 2],
                "num_heads": [_embed // 32 * factor for factor in (1, 2, 4, 8)], "stochastic_depth_prob": _drop}
    define(globals(), f"swin_{_size}", f"Swin_{_size.upper()}",
           partial(SwinTransformer, window_size=[7, 7], **_options))
    define(globals(), f"swin_v2_{_size}", f"Swin_V2_{_size.upper()}",
           partial(SwinTransformer, window_size=[8, 8], **_options, **_V2))
