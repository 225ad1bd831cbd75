"""Transformers for videos whose attention stays within windows of frames, rows and columns."""
from functools import partial

from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models.swin_transformer import PatchMerging, SwinTransformerBlock

nn, F = torch.nn, torch.nn.functional
for _name in ("_get_window_and_shift_size", "_get_relative_position_bias", "_padded", "shifted_window_attention_3d"):
    wrap(_name)  # what they do depends on sizes: graphs have calls of them


def _get_window_and_shift_size(shift_size, size_dhw, window_size):
    """Return windows and shifts; a window that holds a whole side is cut to it and does not shift."""
    pairs = [(size, 0) if size <= window else (window, shift)
             for size, window, shift in zip(size_dhw, window_size, shift_size)]
    return [window for window, _ in pairs], [shift for _, shift in pairs]


def _get_relative_position_bias(relative_position_bias_table, relative_position_index, window_size):
    places = window_size[0] * window_size[1] * window_size[2]
    bias = relative_position_bias_table[relative_position_index[:places, :places].flatten()]
    return bias.view(places, places, -1).permute(2, 0, 1).contiguous().unsqueeze(0)


def _padding(sizes, parts):
    """Return what `pad` takes to make three sides before the channels multiples of others."""
    down, rows, columns = (-size % part for size, part in zip(sizes, parts))
    return (0, columns, 0, rows, 0, down)


def _padded(x, parts):
    """Return a video (N, C, T, H, W) whose sides are multiples of others."""
    return F.pad(x, _padding(x.shape[-3:], parts))


def _windows(x, window):
    """Return a video (B, T, H, W, C) as rows of windows (B * windows, places, C)."""
    b, t, h, w, c = x.shape
    x = x.view(b, t // window[0], window[0], h // window[1], window[1], w // window[2], window[2], c)
    return x.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(-1, window[0] * window[1] * window[2], c)


def _video(x, window, t, h, w):
    """Return rows of windows as a video."""
    x = x.view(-1, t // window[0], h // window[1], w // window[2], *window, x.shape[-1])
    return x.permute(0, 1, 4, 2, 5, 3, 6, 7).reshape(-1, t, h, w, x.shape[-1])


def _shift_mask(sizes, window, shift, like):
    """Return what keeps places apart that only a shift brought into one window."""
    regions, number = like.new_zeros(sizes), 0
    parts = [((0, -side), (-side, -step), (-step, None)) for side, step in zip(window, shift)]
    for frames in parts[0]:
        for rows in parts[1]:
            for columns in parts[2]:
                regions[frames[0]:frames[1], rows[0]:rows[1], columns[0]:columns[1]] = number
                number += 1
    regions = _windows(regions[None, ..., None], window).squeeze(-1)
    apart = regions.unsqueeze(1) - regions.unsqueeze(2)
    return apart.masked_fill(apart != 0, -100.0)


def shifted_window_attention_3d(input, qkv_weight, proj_weight, relative_position_bias, window_size, num_heads,
                                shift_size, attention_dropout=0.0, dropout=0.0, qkv_bias=None, proj_bias=None,
                                training=True):
    """Return the attention of places (B, T, H, W, C) within windows that are shifted.

    Parameters
    ----------
    input : Tensor
        The places.
    qkv_weight, proj_weight, qkv_bias, proj_bias : Tensor
        The linear layers before and after.
    relative_position_bias : Tensor
        Added to the scores.
    window_size, shift_size : List[int]
        In time, down and across.
    num_heads : int
        The heads.
    attention_dropout, dropout : float, optional, default=0.0
        The probabilities of zeroing.
    training : bool, optional, default=True
        Whether to zero.

    Returns
    -------
    Tensor
        The places.

    """
    _, frames, height, width, channels = input.shape
    x = F.pad(input, (0, 0, *_padding((frames, height, width), window_size)))
    sizes, shifts = tuple(x.shape[1:4]), sum(shift_size) > 0
    if shifts:
        x = torch.roll(x, shifts=tuple(-step for step in shift_size), dims=(1, 2, 3))
    x = _windows(x, window_size)
    rows, places = x.shape[:2]
    qkv = F.linear(x, qkv_weight, qkv_bias).reshape(rows, places, 3, num_heads, channels // num_heads)
    q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
    scores = (q * (channels // num_heads) ** -0.5).matmul(k.transpose(-2, -1)) + relative_position_bias
    if shifts:
        mask = _shift_mask(sizes, window_size, shift_size, x)
        scores = scores.view(rows // len(mask), len(mask), num_heads, places, places) + mask.unsqueeze(1).unsqueeze(0)
        scores = scores.view(-1, num_heads, places, places)
    scores = F.dropout(F.softmax(scores, dim=-1), p=attention_dropout, training=training)
    x = F.linear(scores.matmul(v).transpose(1, 2).reshape(rows, places, channels), proj_weight, proj_bias)
    x = _video(F.dropout(x, p=dropout, training=training), window_size, *sizes)
    if shifts:
        x = torch.roll(x, shifts=tuple(shift_size), dims=(1, 2, 3))
    return x[:, :frames, :height, :width, :].contiguous()


class ShiftedWindowAttention3d(nn.Module):
    """Attention within windows that are shifted; see `shifted_window_attention_3d`."""

    def __init__(self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0,
                 dropout=0.0):
        super().__init__()
        if len(window_size) != 3 or len(shift_size) != 3:
            raise ValueError("window_size and shift_size must be of length 3")
        self.window_size, self.shift_size, self.num_heads = window_size, shift_size, num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self):
        """Draw a number for each head and each difference of places."""
        count = 1
        for size in self.window_size:
            count *= 2 * size - 1
        self.relative_position_bias_table = nn.Parameter(torch.zeros(count, self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self):
        """Number the differences of places."""
        axes = torch.meshgrid(*(torch.arange(size) for size in self.window_size), indexing="ij")
        index = 0
        for axis, size in zip(axes, self.window_size):
            at = axis.flatten()
            index = index * (2 * size - 1) + at[:, None] - at[None, :] + size - 1
        self.register_buffer("relative_position_index", index)

    def get_relative_position_bias(self, window_size):
        """Return what is added to the scores of windows of a size."""
        return _get_relative_position_bias(self.relative_position_bias_table, self.relative_position_index,
                                           window_size)

    def forward(self, x):
        window_size, shift_size = _get_window_and_shift_size(self.shift_size, x.shape[1:4], self.window_size)
        return shifted_window_attention_3d(
            x, self.qkv.weight, self.proj.weight, self.get_relative_position_bias(window_size), window_size,
            self.num_heads, shift_size=shift_size, attention_dropout=self.attention_dropout, dropout=self.dropout,
            qkv_bias=self.qkv.bias, proj_bias=self.proj.bias, training=self.training)


class PatchEmbed3d(nn.Module):
    """A video as features of patches (N, T, H, W, C).

    Parameters
    ----------
    patch_size : List[int]
        The patches, in time, down and across.
    in_channels, embed_dim : int, optional
        The channels and the features.
    norm_layer : Callable, optional
        Normalizes features.

    """

    def __init__(self, patch_size, in_channels=3, embed_dim=96, norm_layer=None):
        super().__init__()
        self.tuple_patch_size = tuple(patch_size)
        self.proj = nn.Conv3d(in_channels, embed_dim, kernel_size=self.tuple_patch_size, stride=self.tuple_patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x):
        return self.norm(self.proj(_padded(x, self.tuple_patch_size)).permute(0, 2, 3, 4, 1))


class SwinTransformer3d(nn.Module):
    """A transformer for videos whose attention stays within windows.

    Parameters
    ----------
    patch_size : List[int]
        The patches, in time, down and across.
    embed_dim : int
        The features of the first stage.
    depths, num_heads : List[int]
        The blocks and the heads of each stage.
    window_size : List[int]
        The windows, in time, down and across.
    mlp_ratio : float, optional, default=4.0
        The inner features of linear layers, as multiples.
    dropout, attention_dropout : float, optional, default=0.0
        The probabilities of zeroing.
    norm_layer, block, downsample_layer, patch_embed : Callable, optional
        The classes of normalizations, of blocks, of what halves the size and of what makes patches.

    """

    def __init__(self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0,
                 attention_dropout=0.0, stochastic_depth_prob=0.1, num_classes=400, norm_layer=None, block=None,
                 downsample_layer=PatchMerging, patch_embed=None):
        super().__init__()
        self.num_classes = num_classes
        block = block or partial(SwinTransformerBlock, attn_layer=ShiftedWindowAttention3d)
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        self.patch_embed = (patch_embed or PatchEmbed3d)(patch_size=patch_size, embed_dim=embed_dim,
                                                         norm_layer=norm_layer)
        self.pos_drop = nn.Dropout(p=dropout)
        layers, number = [], 0
        for index, depth in enumerate(depths):
            stage, width = [], embed_dim * 2 ** index
            for place in range(depth):
                drop = stochastic_depth_prob * float(number) / (sum(depths) - 1)
                stage.append(block(width, num_heads[index], window_size=window_size,
                                   shift_size=[size // 2 if place % 2 else 0 for size in window_size],
                                   mlp_ratio=mlp_ratio, dropout=dropout, attention_dropout=attention_dropout,
                                   stochastic_depth_prob=drop, norm_layer=norm_layer,
                                   attn_layer=ShiftedWindowAttention3d))
                number += 1
            layers.append(nn.Sequential(*stage))
            if index < len(depths) - 1:
                layers.append(downsample_layer(width, norm_layer))
        self.features = nn.Sequential(*layers)
        self.num_features = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm_layer(self.num_features)
        self.avgpool = nn.AdaptiveAvgPool3d(1)
        self.head = nn.Linear(self.num_features, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.norm(self.features(self.pos_drop(self.patch_embed(x))))
        return self.head(torch.flatten(self.avgpool(x.permute(0, 4, 1, 2, 3)), 1))


for _size, _embed, _deep in (("t", 96, 6), ("s", 96, 18), ("b", 128, 18)):
    define(globals(), f"swin3d_{_size}", f"Swin3D_{_size.upper()}", partial(
        SwinTransformer3d, patch_size=[2, 4, 4], embed_dim=_embed, depths=[2, 2, _deep, 2],
        num_heads=[_embed // 32 * factor for factor in (1, 2, 4, 8)], window_size=[8, 7, 7],
        stochastic_depth_prob=0.1))
