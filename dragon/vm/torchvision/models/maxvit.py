"""MaxViT: convolutions, attention within windows, and attention across them, by turns."""
import math
from collections import OrderedDict
from functools import partial

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define
from dragon.vm.torchvision.models._utils import initialize
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation
from dragon.vm.torchvision.ops.stochastic_depth import StochasticDepth

nn = torch.nn
F = nn.functional


def _halved(size):
    """Return the sides of an image after a convolution of every second pixel."""
    return tuple((side - 1) // 2 + 1 for side in size)


def _block_sizes(size, count):
    """Return the sides that each of several blocks works at."""
    found = [_halved(_halved(size))]
    while len(found) < count:
        found.append(_halved(found[-1]))
    return found


def _get_relative_position_index(height, width):
    """Return which entry of a table belongs to each pair of places in a window."""
    places = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    rows, columns = (part.flatten() for part in places)
    down = rows[:, None] - rows[None, :] + height - 1
    across = columns[:, None] - columns[None, :] + width - 1
    return down * (2 * width - 1) + across


class MBConv(nn.Module):
    """Expand, filter each channel by itself, weigh, squeeze; the input is led around."""

    def __init__(self, in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer, norm_layer,
                 p_stochastic_dropout=0.0):
        super().__init__()
        around = [nn.AvgPool2d(kernel_size=3, stride=stride, padding=1)] if stride == 2 else []
        around += [nn.Conv2d(in_channels, out_channels, kernel_size=1)] if stride != 1 or in_channels != out_channels \
            else []
        self.proj = nn.Sequential(*around) if around else nn.Identity()
        wide = int(out_channels * expansion_ratio)
        self.stochastic_depth = StochasticDepth(p_stochastic_dropout, "row") if p_stochastic_dropout else nn.Identity()
        options = {"activation_layer": activation_layer, "norm_layer": norm_layer, "inplace": None}
        self.layers = nn.Sequential(OrderedDict([
            ("pre_norm", norm_layer(in_channels)),
            ("conv_a", Conv2dNormActivation(in_channels, wide, kernel_size=1, **options)),
            ("conv_b", Conv2dNormActivation(wide, wide, kernel_size=3, stride=stride, groups=wide, **options)),
            ("squeeze_excitation", SqueezeExcitation(wide, int(out_channels * squeeze_ratio), activation=nn.SiLU)),
            ("conv_c", nn.Conv2d(wide, out_channels, kernel_size=1))]))

    def forward(self, x):
        return self.proj(x) + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention of the places (B, windows, places, C) of each window, which knows how far apart they are."""

    def __init__(self, feat_dim, head_dim, max_seq_len):
        super().__init__()
        if feat_dim % head_dim:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads, self.head_dim = feat_dim // head_dim, head_dim
        self.size, self.max_seq_len = int(math.sqrt(max_seq_len)), max_seq_len
        self.to_qkv = nn.Linear(feat_dim, 3 * feat_dim)
        self.scale_factor = feat_dim ** -0.5
        self.merge = nn.Linear(feat_dim, feat_dim)
        table = torch.empty((2 * self.size - 1) ** 2, self.n_heads)
        self.relative_position_bias_table = nn.Parameter(table)
        self.register_buffer("relative_position_index", _get_relative_position_index(self.size, self.size))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self):
        """Return what is added to the scores (1, heads, places, places)."""
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return bias.view(self.max_seq_len, self.max_seq_len, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, x):
        batch, windows, places, channels = x.size(0), x.size(1), x.size(2), x.size(3)
        qkv = self.to_qkv(x).reshape(batch, windows, places, 3, self.n_heads, self.head_dim)
        q, k, v = qkv.permute(3, 0, 1, 4, 2, 5).unbind(0)
        scores = q.matmul((k * self.scale_factor).transpose(-2, -1)) + self.get_relative_positional_bias()
        found = F.softmax(scores, dim=-1).matmul(v)
        return self.merge(found.permute(0, 1, 3, 2, 4).reshape(batch, windows, places, channels))


class SwapAxes(nn.Module):
    """Exchange two axes."""

    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, x):
        return torch.swapaxes(x, self.a, self.b)


class WindowPartition(nn.Module):
    """An image (B, C, H, W) as windows of p by p (B, windows, places, C)."""

    def forward(self, x: torch.Tensor, p: int):
        batch, channels, height, width = x.size(0), x.size(1), x.size(2), x.size(3)
        x = x.reshape(batch, channels, height // p, p, width // p, p).permute(0, 2, 4, 3, 5, 1)
        return x.reshape(batch, (height // p) * (width // p), p * p, channels)


class WindowDepartition(nn.Module):
    """Windows as the image that they were."""

    def forward(self, x: torch.Tensor, p: int, h_partitions: int, w_partitions: int):
        batch, channels = x.size(0), x.size(3)
        x = x.reshape(batch, h_partitions, w_partitions, p, p, channels).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(batch, channels, h_partitions * p, w_partitions * p)


class PartitionAttentionLayer(nn.Module):
    """Attention within windows, or of the same place of all windows ("grid"), and a small network behind it."""

    def __init__(self, in_channels, head_dim, partition_size, partition_type, grid_size, mlp_ratio, activation_layer,
                 norm_layer, attention_dropout, mlp_dropout, p_stochastic_dropout):
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError("partition_type must be either 'grid' or 'window'")
        self.n_heads, self.head_dim = in_channels // head_dim, head_dim
        self.n_partitions = grid_size[0] // partition_size
        self.partition_type, self.grid_size = partition_type, grid_size
        self.p, self.g = partition_size, self.n_partitions
        if partition_type == "grid":
            self.p, self.g = self.g, self.p
        self.partition_op, self.departition_op = WindowPartition(), WindowDepartition()
        self.partition_swap = SwapAxes(-2, -3) if partition_type == "grid" else nn.Identity()
        self.departition_swap = SwapAxes(-2, -3) if partition_type == "grid" else nn.Identity()
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels), RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size ** 2),
            nn.Dropout(attention_dropout))
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels), nn.Linear(in_channels, in_channels * mlp_ratio), activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels), nn.Dropout(mlp_dropout))
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, "row")

    def forward(self, x):
        down, across = self.grid_size[0] // self.p, self.grid_size[1] // self.p
        x = self.partition_swap(self.partition_op(x, self.p))
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        return self.departition_op(self.departition_swap(x), self.p, down, across)


class MaxVitLayer(nn.Module):
    """A convolution, attention within windows, attention across them."""

    def __init__(self, in_channels, out_channels, squeeze_ratio, expansion_ratio, stride, norm_layer, activation_layer,
                 head_dim, mlp_ratio, mlp_dropout, attention_dropout, p_stochastic_dropout, partition_size, grid_size):
        super().__init__()
        layers = OrderedDict(MBconv=MBConv(in_channels, out_channels, expansion_ratio, squeeze_ratio, stride,
                                           activation_layer, norm_layer, p_stochastic_dropout))
        for kind in ("window", "grid"):
            layers[f"{kind}_attention"] = PartitionAttentionLayer(
                out_channels, head_dim, partition_size, kind, grid_size, mlp_ratio, activation_layer, nn.LayerNorm,
                attention_dropout, mlp_dropout, p_stochastic_dropout)
        self.layers = nn.Sequential(layers)

    def forward(self, x):
        return self.layers(x)


class MaxVitBlock(nn.Module):
    """Several layers, the first of which halves the size."""

    def __init__(self, in_channels, out_channels, squeeze_ratio, expansion_ratio, norm_layer, activation_layer,
                 head_dim, mlp_ratio, mlp_dropout, attention_dropout, partition_size, input_grid_size, n_layers,
                 p_stochastic):
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(f"p_stochastic must have length n_layers={n_layers}, got p_stochastic={p_stochastic}.")
        self.layers, self.grid_size = nn.ModuleList(), _halved(input_grid_size)
        for index, probability in enumerate(p_stochastic):
            self.layers.append(MaxVitLayer(
                out_channels if index else in_channels, out_channels, squeeze_ratio, expansion_ratio,
                1 if index else 2, norm_layer, activation_layer, head_dim, mlp_ratio, mlp_dropout, attention_dropout,
                probability, partition_size, self.grid_size))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def _draw(module):
    """Draw weights with deviation 0.02; no bias."""
    nn.init.normal_(module.weight, std=0.02)
    if module.bias is not None:
        nn.init.zeros_(module.bias)


class MaxVit(nn.Module):
    """Blocks of convolutions and attention at ever smaller sizes.

    Parameters
    ----------
    input_size : Tuple[int, int]
        The sides of images, which the partitions must divide at every block.
    stem_channels : int
        The channels before the blocks.
    partition_size : int
        The side of windows.
    block_channels, block_layers : List[int]
        Of each block.
    head_dim : int
        The features of a head.
    stochastic_depth_prob : float
        The probability of leaving out the last layer; earlier ones have less.

    """

    def __init__(self, input_size, stem_channels, partition_size, block_channels, block_layers, head_dim,
                 stochastic_depth_prob, norm_layer=None, activation_layer=nn.GELU, squeeze_ratio=0.25,
                 expansion_ratio=4, mlp_ratio=4, mlp_dropout=0.0, attention_dropout=0.0, num_classes=1000):
        super().__init__()
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        sizes = _block_sizes(input_size, len(block_channels))
        for index, size in enumerate(sizes):
            if any(side % partition_size for side in size):
                raise ValueError(f"Input size {size} of block {index} is not divisible by partition size "
                                 f"{partition_size}. Consider changing the partition size or the input size.\n"
                                 f"Current configuration yields the following block input sizes: {sizes}.")
        self.stem = nn.Sequential(
            Conv2dNormActivation(3, stem_channels, 3, stride=2, norm_layer=norm_layer,
                                 activation_layer=activation_layer, bias=False, inplace=None),
            Conv2dNormActivation(stem_channels, stem_channels, 3, norm_layer=None, activation_layer=None, bias=True))
        self.partition_size, self.blocks = partition_size, nn.ModuleList()
        total = sum(block_layers)
        chances = torch.linspace(0, stochastic_depth_prob, total, dtype=torch.float64).tolist()
        before, size, first = stem_channels, _halved(input_size), 0
        for after, count in zip(block_channels, block_layers):
            self.blocks.append(MaxVitBlock(
                before, after, squeeze_ratio, expansion_ratio, norm_layer, activation_layer, head_dim, mlp_ratio,
                mlp_dropout, attention_dropout, partition_size, size, count, chances[first:first + count]))
            before, size, first = after, self.blocks[-1].grid_size, first + count
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(before), nn.Linear(before, before), nn.Tanh(),
            nn.Linear(before, num_classes, bias=False))
        initialize(self, _draw, _draw, norms=(nn.BatchNorm2d,))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


def _tiny(**kwargs):
    settled = {"input_size": (224, 224), "stem_channels": 64, "partition_size": 7,
               "block_channels": [64, 128, 256, 512], "block_layers": [2, 2, 5, 2], "head_dim": 32,
               "stochastic_depth_prob": 0.2}
    return MaxVit(**{**settled, **kwargs})


define(globals(), "maxvit_t", "MaxVit_T", _tiny)
