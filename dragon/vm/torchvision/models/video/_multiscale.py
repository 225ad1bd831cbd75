"""Blocks of transformers for videos whose attention pools as it goes."""
import math

from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torchvision.ops.misc import MLP
from dragon.vm.torchvision.ops.stochastic_depth import StochasticDepth

nn = torch.nn
for _name in ("_unsqueeze", "_squeeze", "_add_rel_pos", "_add_shortcut"):
    wrap(_name)  # what they do depends on sizes: graphs have calls of them


def _unsqueeze(x, target_dim, expand_dim):
    """Return a tensor with one axis more where one is missing, and how many it had."""
    if x.dim() == target_dim - 1:
        return x.unsqueeze(expand_dim), x.dim()
    if x.dim() != target_dim:
        raise ValueError(f"Unsupported input dimension {x.shape}")
    return x, x.dim()


def _squeeze(x, target_dim, expand_dim, tensor_dim):
    return x.squeeze(expand_dim) if tensor_dim == target_dim - 1 else x


class Pool(nn.Module):
    """Pool places (B, heads, 1 + T * H * W, C), all but the first.

    Parameters
    ----------
    pool : Module
        The pooling.
    norm, activation : Optional[Module]
        Applied after it.
    norm_before_pool : bool, optional, default=False
        Whether they are applied before.

    """

    def __init__(self, pool, norm, activation=None, norm_before_pool=False):
        super().__init__()
        self.pool = pool
        layers = [layer for layer in (norm, activation) if layer is not None]
        self.norm_act = nn.Sequential(*layers) if layers else None
        self.norm_before_pool = norm_before_pool

    def forward(self, x, thw):
        x, tensor_dim = _unsqueeze(x, 4, 1)
        first, x = x[:, :, :1], x[:, :, 1:].transpose(2, 3)
        batch, heads, channels = x.shape[:3]
        x = x.reshape((batch * heads, channels) + tuple(thw)).contiguous()
        if self.norm_before_pool and self.norm_act is not None:
            x = self.norm_act(x)
        x = self.pool(x)
        sizes = tuple(x.shape[2:])
        x = torch.cat((first, x.reshape(batch, heads, channels, -1).transpose(2, 3)), dim=2)
        if not self.norm_before_pool and self.norm_act is not None:
            x = self.norm_act(x)
        return _squeeze(x, 4, 1, tensor_dim), sizes


def _interpolate(embedding, length):
    """Return rows stretched to a length."""
    if embedding.shape[0] == length:
        return embedding
    stretched = nn.functional.interpolate(embedding.permute(1, 0).unsqueeze(0), size=length, mode="linear")
    return stretched.squeeze(0).permute(1, 0)


def _relative(embedding, queries, keys):
    """Return (queries, keys, C): the embedding of the distance between each two places of an axis."""
    near, far = max(keys / queries, 1.0), max(queries / keys, 1.0)
    distance = torch.arange(queries)[:, None] * near - (torch.arange(keys)[None, :] + (1.0 - keys)) * far
    return _interpolate(embedding, int(2 * max(queries, keys) - 1))[distance.long()]


def _add_rel_pos(attn, q, q_thw, k_thw, rel_pos_h, rel_pos_w, rel_pos_t):
    """Return scores with what queries say of the distances to keys, in each axis."""
    time, rows, columns = (_relative(*item) for item in zip((rel_pos_t, rel_pos_h, rel_pos_w), q_thw, k_thw))
    batch, heads, _, channels = q.shape
    q = q[:, :, 1:].reshape(batch, heads, *q_thw, channels)
    by_row = torch.einsum("bythwc,hkc->bythwk", q, rows)
    by_column = torch.einsum("bythwc,wkc->bythwk", q, columns)
    by_time = torch.einsum("bythwc,tkc->bythwk", q, time)
    added = (by_row[..., None, :, None] + by_column[..., None, None, :] + by_time[..., :, None, None])
    attn[:, :, 1:, 1:] += added.reshape(batch, heads, math.prod(q_thw), math.prod(k_thw))
    return attn


def _add_shortcut(x, shortcut, residual_with_cls_embed):
    """Add queries to a result, the first place only if told."""
    if residual_with_cls_embed:
        x.add_(shortcut)
    else:
        x[:, :, 1:, :] += shortcut[:, :, 1:, :]
    return x


class MultiscaleAttention(nn.Module):
    """Attention whose queries, keys and values are pooled.

    Parameters
    ----------
    input_size : List[int]
        Frames, rows and columns.
    embed_dim, output_dim, num_heads : int
        The features before and after, and the heads.
    kernel_q, kernel_kv, stride_q, stride_kv : List[int]
        How they are pooled; not if empty.
    residual_pool, residual_with_cls_embed : bool
        Whether queries are added to the result, and the first place among them.
    rel_pos_embed : bool
        Whether scores know distances.
    dropout : float, optional, default=0.0
        The probability of zeroing.
    norm_layer : Callable, optional
        The class of normalizations.

    """

    def __init__(self, input_size, embed_dim, output_dim, num_heads, kernel_q, kernel_kv, stride_q, stride_kv,
                 residual_pool, residual_with_cls_embed, rel_pos_embed, dropout=0.0, norm_layer=nn.LayerNorm):
        super().__init__()
        self.embed_dim, self.output_dim, self.num_heads = embed_dim, output_dim, num_heads
        self.head_dim = output_dim // num_heads
        self.scaler = 1.0 / math.sqrt(self.head_dim)
        self.residual_pool, self.residual_with_cls_embed = residual_pool, residual_with_cls_embed
        self.qkv = nn.Linear(embed_dim, 3 * output_dim)
        layers = [nn.Linear(output_dim, output_dim)]
        if dropout > 0.0:
            layers.append(nn.Dropout(dropout, inplace=True))
        self.project = nn.Sequential(*layers)
        self.pool_q = self._pool(kernel_q, stride_q, norm_layer)
        self.pool_k = self._pool(kernel_kv, stride_kv, norm_layer)
        self.pool_v = self._pool(kernel_kv, stride_kv, norm_layer)
        self.rel_pos_h = self.rel_pos_w = self.rel_pos_t = None
        if rel_pos_embed:
            side = max(input_size[1:])
            longest = max(side // stride[1] if stride else side for stride in (stride_q, stride_kv))
            for axis, length in (("h", longest), ("w", longest), ("t", input_size[0])):
                setattr(self, f"rel_pos_{axis}", nn.Parameter(torch.zeros(2 * length - 1, self.head_dim)))
            for parameter in (self.rel_pos_h, self.rel_pos_w, self.rel_pos_t):
                nn.init.trunc_normal_(parameter, std=0.02)

    def _pool(self, kernel, stride, norm_layer):
        if math.prod(kernel) <= 1 and math.prod(stride) <= 1:
            return None
        return Pool(nn.Conv3d(self.head_dim, self.head_dim, kernel, stride=stride, groups=self.head_dim, bias=False,
                              padding=[size // 2 for size in kernel]), norm_layer(self.head_dim))

    def forward(self, x, thw):
        batch, places, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, places, 3, self.num_heads, self.head_dim).transpose(1, 3).unbind(dim=2)
        k, k_thw = (k, thw) if self.pool_k is None else self.pool_k(k, thw)
        v = v if self.pool_v is None else self.pool_v(v, thw)[0]
        q, thw = (q, thw) if self.pool_q is None else self.pool_q(q, thw)
        attn = torch.matmul(self.scaler * q, k.transpose(2, 3))
        if self.rel_pos_h is not None:
            attn = _add_rel_pos(attn, q, thw, k_thw, self.rel_pos_h, self.rel_pos_w, self.rel_pos_t)
        x = torch.matmul(attn.softmax(dim=-1), v)
        if self.residual_pool:
            x = _add_shortcut(x, q, self.residual_with_cls_embed)
        return self.project(x.transpose(1, 2).reshape(batch, -1, self.output_dim)), thw


class MultiscaleBlock(nn.Module):
    """Pooling attention and two linear layers; the input is led around both.

    Parameters
    ----------
    input_size : List[int]
        Frames, rows and columns.
    cnf : MSBlockConfig
        The settings.
    residual_pool, residual_with_cls_embed, rel_pos_embed : bool
        As for `MultiscaleAttention`.
    proj_after_attn : bool
        Whether the channels change in the attention, rather than after it.
    dropout, stochastic_depth_prob : float, optional
        The probabilities of zeroing, and of dropping a branch.
    norm_layer : Callable, optional
        The class of normalizations.

    """

    def __init__(self, input_size, cnf, residual_pool, residual_with_cls_embed, rel_pos_embed, proj_after_attn,
                 dropout=0.0, stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm):
        super().__init__()
        self.proj_after_attn = proj_after_attn
        self.pool_skip = None
        if math.prod(cnf.stride_q) > 1:
            kernel = [step + 1 if step > 1 else step for step in cnf.stride_q]
            self.pool_skip = Pool(nn.MaxPool3d(kernel, stride=cnf.stride_q, padding=[size // 2 for size in kernel]),
                                  None)
        width = cnf.output_channels if proj_after_attn else cnf.input_channels
        self.norm1, self.norm2 = norm_layer(cnf.input_channels), norm_layer(width)
        self.needs_transposal = isinstance(self.norm1, nn.BatchNorm1d)
        self.attn = MultiscaleAttention(
            input_size, cnf.input_channels, width, cnf.num_heads, kernel_q=cnf.kernel_q, kernel_kv=cnf.kernel_kv,
            stride_q=cnf.stride_q, stride_kv=cnf.stride_kv, rel_pos_embed=rel_pos_embed, residual_pool=residual_pool,
            residual_with_cls_embed=residual_with_cls_embed, dropout=dropout, norm_layer=norm_layer)
        self.mlp = MLP(width, [4 * width, cnf.output_channels], activation_layer=nn.GELU, dropout=dropout, inplace=None)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        changes = cnf.input_channels != cnf.output_channels
        self.project = nn.Linear(cnf.input_channels, cnf.output_channels) if changes else None

    def _normalized(self, norm, x):
        return norm(x.transpose(1, 2)).transpose(1, 2) if self.needs_transposal else norm(x)

    def forward(self, x, thw):
        normalized = self._normalized(self.norm1, x)
        attended, sizes = self.attn(normalized, thw)
        around = self.project(normalized) if self.project is not None and self.proj_after_attn else x
        x = (around if self.pool_skip is None else self.pool_skip(around, thw)[0]) + self.stochastic_depth(attended)
        normalized = self._normalized(self.norm2, x)
        around = self.project(normalized) if self.project is not None and not self.proj_after_attn else x
        return around + self.stochastic_depth(self.mlp(normalized)), sizes
