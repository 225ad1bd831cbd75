"""MViT: transformers for videos whose attention pools as it goes."""
from dataclasses import dataclass
from functools import partial
from typing import List

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define, overwrite
from dragon.vm.torchvision.models.video._multiscale import (  # noqa: F401
    _unsqueeze, MultiscaleAttention, MultiscaleBlock, Pool)

nn = torch.nn


@dataclass
class MSBlockConfig:
    """The settings of a block: its heads, its channels, and how queries, and keys and values, are pooled."""

    num_heads: int
    input_channels: int
    output_channels: int
    kernel_q: List[int]
    kernel_kv: List[int]
    stride_q: List[int]
    stride_kv: List[int]


class PositionalEncoding(nn.Module):
    """Put a place for the class before all others, and add to each where it is.

    Parameters
    ----------
    embed_size : int
        The features.
    spatial_size : Tuple[int, int]
        Rows and columns.
    temporal_size : int
        Frames.
    rel_pos_embed : bool
        Whether scores know distances, and nothing need be added.

    """

    def __init__(self, embed_size, spatial_size, temporal_size, rel_pos_embed):
        super().__init__()
        self.spatial_size, self.temporal_size = spatial_size, temporal_size
        self.class_token = nn.Parameter(torch.zeros(embed_size))
        self.spatial_pos = self.temporal_pos = self.class_pos = None
        if not rel_pos_embed:
            self.spatial_pos = nn.Parameter(torch.zeros(spatial_size[0] * spatial_size[1], embed_size))
            self.temporal_pos = nn.Parameter(torch.zeros(temporal_size, embed_size))
            self.class_pos = nn.Parameter(torch.zeros(embed_size))

    def forward(self, x):
        x = torch.cat((self.class_token.expand(x.size(0), -1).unsqueeze(1), x), dim=1)
        if self.spatial_pos is not None:
            places = self.temporal_pos.unsqueeze(1) + self.spatial_pos.unsqueeze(0)
            x = x + torch.cat((self.class_pos.unsqueeze(0), places.flatten(0, 1)), dim=0).unsqueeze(0)
        return x


class MViT(nn.Module):
    """A transformer for videos whose attention pools as it goes.

    Parameters
    ----------
    spatial_size : Tuple[int, int]
        Rows and columns of a video.
    temporal_size : int
        Its frames.
    block_setting : Sequence[MSBlockConfig]
        The blocks.
    residual_pool, residual_with_cls_embed, rel_pos_embed, proj_after_attn : bool
        As for `MultiscaleBlock`.
    attention_dropout : float, optional, default=0.0
        The probability of zeroing in blocks.
    block, norm_layer : Callable, optional
        The classes of blocks and normalizations.
    patch_embed_kernel, patch_embed_stride, patch_embed_padding : Tuple[int, int, int], optional
        Of the first convolution.

    """

    def __init__(self, spatial_size, temporal_size, block_setting, residual_pool, residual_with_cls_embed,
                 rel_pos_embed, proj_after_attn, dropout=0.5, attention_dropout=0.0, stochastic_depth_prob=0.0,
                 num_classes=400, block=None, norm_layer=None, patch_embed_kernel=(3, 7, 7),
                 patch_embed_stride=(2, 4, 4), patch_embed_padding=(1, 3, 3)):
        super().__init__()
        if len(block_setting) == 0:
            raise ValueError("The configuration parameter can't be empty.")
        block, norm_layer = block or MultiscaleBlock, norm_layer or partial(nn.LayerNorm, eps=1e-6)
        width, last = block_setting[0].input_channels, block_setting[-1].output_channels
        self.conv_proj = nn.Conv3d(3, width, kernel_size=patch_embed_kernel, stride=patch_embed_stride,
                                   padding=patch_embed_padding)
        sizes = [size // step for size, step in zip((temporal_size, *spatial_size), self.conv_proj.stride)]
        self.pos_encoding = PositionalEncoding(width, tuple(sizes[1:]), sizes[0], rel_pos_embed)
        self.blocks = nn.ModuleList()
        for index, cnf in enumerate(block_setting):
            self.blocks.append(block(
                input_size=sizes, cnf=cnf, residual_pool=residual_pool, residual_with_cls_embed=residual_with_cls_embed,
                rel_pos_embed=rel_pos_embed, proj_after_attn=proj_after_attn, dropout=attention_dropout,
                stochastic_depth_prob=stochastic_depth_prob * index / (len(block_setting) - 1.0),
                norm_layer=norm_layer))
            if cnf.stride_q:
                sizes = [size // step for size, step in zip(sizes, cnf.stride_q)]
        self.norm = norm_layer(last)
        self.head = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(last, num_classes))
        for module in self.modules():
            _initialize(module)

    def forward(self, x):
        x = self.conv_proj(_unsqueeze(x, 5, 2)[0])
        x = self.pos_encoding(x.flatten(2).transpose(1, 2))
        thw = (self.pos_encoding.temporal_size,) + self.pos_encoding.spatial_size
        for block in self.blocks:
            x, thw = block(x, thw)
        return self.head(self.norm(x)[:, 0])


def _initialize(module):
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        if module.bias is not None:
            nn.init.constant_(module.bias, 0.0)
    elif isinstance(module, nn.LayerNorm):
        for parameter, value in ((module.weight, 1.0), (module.bias, 0.0)):
            if parameter is not None:
                nn.init.constant_(parameter, value)
    elif isinstance(module, PositionalEncoding):
        for parameter in module.parameters():
            nn.init.trunc_normal_(parameter, std=0.02)


def _blocks(heads, widths, pooled, kernel):
    """Return the settings of 16 blocks; queries are pooled where told, others by a kernel, or not at all if empty.

    Keys and values are pooled to the same size everywhere: the less the further on.
    """
    settings, step = [], 8
    for index in range(16):
        halves = index in pooled
        step = step // 2 if halves else step
        settings.append(MSBlockConfig(
            num_heads=heads[index], input_channels=widths[index], output_channels=widths[index + 1],
            kernel_q=[3, 3, 3] if halves else list(kernel), kernel_kv=[3, 3, 3],
            stride_q=[1, 2, 2] if halves else [1] * len(kernel), stride_kv=[1, step, step]))
    return settings


_HEADS = [1, 2, 2] + [4] * 11 + [8, 8]


def _make(settings, options, **kwargs):
    defaults = {"spatial_size": (224, 224), "temporal_size": 16, "stochastic_depth_prob": 0.2}
    return MViT(block_setting=settings(), **{**defaults, **options, **kwargs})


def _prepare(kwargs, weights):
    overwrite(kwargs, "spatial_size", weights.meta["min_size"])
    overwrite(kwargs, "temporal_size", weights.meta["min_temporal_size"])


define(globals(), "mvit_v1_b", "MViT_V1_B", partial(
    _make, lambda: _blocks(_HEADS, [96] + [192] * 2 + [384] * 11 + [768] * 3, (1, 3, 14), ()),
    {"residual_pool": False, "residual_with_cls_embed": False, "rel_pos_embed": False, "proj_after_attn": False}),
    _prepare)
define(globals(), "mvit_v2_s", "MViT_V2_S", partial(
    _make, lambda: _blocks(_HEADS, [96] * 2 + [192] * 2 + [384] * 11 + [768] * 2, (1, 3, 14), (3, 3, 3)),
    {"residual_pool": True, "residual_with_cls_embed": False, "rel_pos_embed": True, "proj_after_attn": True}),
    _prepare)
