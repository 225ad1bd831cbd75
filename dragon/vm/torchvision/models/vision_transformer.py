"""Transformers on patches of images."""
import math
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from dragon.vm import torch
from dragon.vm.torchvision.models._api import define, overwrite
from dragon.vm.torchvision.ops.misc import Conv2dNormActivation, MLP

nn = torch.nn

RANK = "Expected (batch_size, seq_length, hidden_dim)"  # without the shape that came: text of sizes would fix them


class ConvStemConfig(NamedTuple):
    """A convolution before the patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Callable = nn.BatchNorm2d
    activation_layer: Callable = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers."""

    _version = 2

    def __init__(self, in_dim, mlp_dim, dropout):
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        if (local_metadata.get("version") or 1) < 2:
            for index in range(2):
                for kind in ("weight", "bias"):
                    old = f"{prefix}linear_{index + 1}.{kind}"
                    if old in state_dict:
                        state_dict[f"{prefix}{3 * index}.{kind}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class EncoderBlock(nn.Module):
    """Attention and two linear layers; the input is led around both."""

    def __init__(self, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
                 norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input):
        require(input.dim() == 3, RANK)
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


def require(condition: bool, message: str) -> None:
    """Raise AssertionError unless a condition holds."""
    torch._assert(condition, message)  # which graphs have calls of, where the condition is not known yet


class Encoder(nn.Module):
    """Places added, then blocks one after another."""

    def __init__(self, seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
                 norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(OrderedDict(
            (f"encoder_layer_{index}", EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
                                                    norm_layer)) for index in range(num_layers)))
        self.ln = norm_layer(hidden_dim)

    def forward(self, input):
        require(input.dim() == 3, RANK)
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """A transformer on the patches of an image.

    Parameters
    ----------
    image_size, patch_size : int
        The sides of images and of patches.
    num_layers, num_heads, hidden_dim, mlp_dim : int
        Of the encoder.
    dropout, attention_dropout : float, optional, default=0.0
        The probabilities of zeroing.
    representation_size : int, optional
        The features of a layer before the classes.
    norm_layer : Callable, optional
        The normalization.
    conv_stem_configs : List[ConvStemConfig], optional
        Convolutions before the patches.

    """

    def __init__(self, image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, dropout=0.0,
                 attention_dropout=0.0, num_classes=1000, representation_size=None,
                 norm_layer=partial(nn.LayerNorm, eps=1e-6), conv_stem_configs=None):
        super().__init__()
        require(image_size % patch_size == 0, "Input shape indivisible by patch size!")
        self.image_size, self.patch_size, self.hidden_dim, self.mlp_dim = image_size, patch_size, hidden_dim, mlp_dim
        self.attention_dropout, self.dropout, self.num_classes = attention_dropout, dropout, num_classes
        self.representation_size, self.norm_layer = representation_size, norm_layer
        self.conv_proj = self._patches(conv_stem_configs)
        self.class_token = nn.Parameter(torch.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout,
                               attention_dropout, norm_layer)
        heads = OrderedDict()
        if representation_size is not None:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
        heads["head"] = nn.Linear(representation_size or hidden_dim, num_classes)
        self.heads = nn.Sequential(heads)
        self._initialize()

    def _patches(self, stem):
        if stem is None:
            return nn.Conv2d(3, self.hidden_dim, kernel_size=self.patch_size, stride=self.patch_size)
        layers, width = nn.Sequential(), 3
        for index, config in enumerate(stem):
            layers.add_module(f"conv_bn_relu_{index}", Conv2dNormActivation(
                width, config.out_channels, kernel_size=config.kernel_size, stride=config.stride,
                norm_layer=config.norm_layer, activation_layer=config.activation_layer))
            width = config.out_channels
        layers.add_module("conv_last", nn.Conv2d(width, self.hidden_dim, kernel_size=1))
        return layers

    def _initialize(self):
        patches = self.conv_proj
        if isinstance(patches, nn.Conv2d):
            fan_in = patches.in_channels * patches.kernel_size[0] * patches.kernel_size[1]
            nn.init.trunc_normal_(patches.weight, std=math.sqrt(1 / fan_in))
        else:
            patches = patches.conv_last
            nn.init.normal_(patches.weight, mean=0.0, std=math.sqrt(2.0 / patches.out_channels))
        if patches.bias is not None:
            nn.init.zeros_(patches.bias)
        if hasattr(self.heads, "pre_logits"):
            nn.init.trunc_normal_(self.heads.pre_logits.weight, std=math.sqrt(1 / self.heads.pre_logits.in_features))
            nn.init.zeros_(self.heads.pre_logits.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x):
        n, _, h, w = x.shape
        require(h == self.image_size, f"Wrong image height! Expected {self.image_size} but got {h}!")
        require(w == self.image_size, f"Wrong image width! Expected {self.image_size} but got {w}!")
        return self.conv_proj(x).reshape(n, self.hidden_dim, self.seq_length - 1).permute(0, 2, 1)

    def forward(self, x):
        x = self._process_input(x)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.heads(self.encoder(x)[:, 0])


def interpolate_embeddings(image_size, patch_size, model_state, interpolation_mode="bicubic", reset_heads=False):
    """Return a checkpoint with its places interpolated for images of another size."""
    places = model_state["encoder.pos_embedding"]
    n, before, hidden = places.shape
    if n != 1:
        raise ValueError(f"Unexpected position embedding shape: {places.shape}")
    side, old_side = image_size // patch_size, math.isqrt(before - 1)
    if side * side + 1 == before:
        return model_state
    if old_side * old_side != before - 1:
        raise ValueError("seq_length is not a perfect square! Instead got seq_length_1d * seq_length_1d = "
                         f"{old_side * old_side} and seq_length = {before - 1}")
    grid = places[:, 1:].permute(0, 2, 1).reshape(1, hidden, old_side, old_side)
    grid = nn.functional.interpolate(grid, size=side, mode=interpolation_mode, align_corners=True)
    grid = grid.reshape(1, hidden, side * side).permute(0, 2, 1)
    model_state["encoder.pos_embedding"] = torch.cat([places[:, :1], grid], dim=1)
    if reset_heads:
        return OrderedDict((key, value) for key, value in model_state.items() if not key.startswith("heads"))
    return model_state


def _make(patch_size, num_layers, num_heads, hidden_dim, mlp_dim, **kwargs):
    return VisionTransformer(kwargs.pop("image_size", 224), patch_size, num_layers, num_heads, hidden_dim, mlp_dim,
                             **kwargs)


def _prepare(kwargs, weights):
    overwrite(kwargs, "image_size", weights.meta["min_size"][0])


for _key, _sizes in (("b_16", (16, 12, 12, 768, 3072)), ("b_32", (32, 12, 12, 768, 3072)),
                     ("l_16", (16, 24, 16, 1024, 4096)), ("l_32", (32, 24, 16, 1024, 4096)),
                     ("h_14", (14, 32, 16, 1280, 5120))):
    define(globals(), f"vit_{_key}", f"ViT_{_key.upper()}", partial(_make, *_sizes), _prepare)
