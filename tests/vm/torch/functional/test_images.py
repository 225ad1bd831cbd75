"""Pools, resizing, grids, blocks, padding and attention of `torch.nn.functional`, line by line, with gradients."""
import numpy as np
import pytest
from harness.subresults import each
from harness.twin import on_genuine, rows, same, same_gradients

from dragon.vm import torch as dt

PRELUDE = ("F = torch.nn.functional; torch.manual_seed(3); c = b[None, :, :3, :4]; t = d.float()[None]; "
           "r = b[:, :2, :2]; g = torch.tanh(d.float()).expand(1, 2, 2, 3)[..., :2]; ")

POOLS = """
F.max_pool1d(b, 2)
F.max_pool1d(b, 3, 1, 1, 1, True)
F.max_pool1d(b, 2, return_indices=True)[0]
F.max_pool2d(c, 2)
F.max_pool2d(c, (2, 3), stride=1, padding=1, dilation=1, ceil_mode=True)
F.max_pool3d(b[None, None], 2, stride=1)
F.avg_pool1d(b, 2, 1, 1, False, False)
F.avg_pool2d(c, 2, stride=1, padding=1, count_include_pad=False)
F.avg_pool2d(c, 2, ceil_mode=True, divisor_override=3)
F.avg_pool3d(b[None, None], 2, 1)
F.adaptive_avg_pool1d(b, 3)
F.adaptive_avg_pool2d(c, (None, 2))
F.adaptive_avg_pool2d(c, 2)
F.adaptive_avg_pool3d(b[None, None], (1, None, 3))
F.adaptive_max_pool1d(b, 3)
F.adaptive_max_pool2d(c, (2, None))
F.adaptive_max_pool3d(b[None, None], 2)
F.lp_pool1d(b, 2, 2)
F.lp_pool2d(c, 3, 2, stride=1)
F.lp_pool3d(b[None, None], 2.0, 2, 1)
F.lp_pool1d(b, inf, 2)
F.fractional_max_pool2d(c, 2, output_size=(2, 3))
F.fractional_max_pool2d(c, 2, output_ratio=(0.7, 0.6))
F.fractional_max_pool3d(b[None, None], (1, 2, 2), output_size=(1, 1, 2))
F.max_unpool1d(*F.max_pool1d(b, 2, return_indices=True), 2)
"""
INDICES = """
F.max_pool1d(b, 2, return_indices=True)
F.max_pool2d(c, 2, return_indices=True)
F.max_pool2d_with_indices(c, 2)
F.max_pool3d(b[None, None], 2, stride=1, return_indices=True)
F.adaptive_max_pool1d(b, 3, return_indices=True)
F.adaptive_max_pool2d(c, 2, True)
F.adaptive_max_pool2d_with_indices(c, 2)
F.fractional_max_pool2d(c, 2, output_size=2, return_indices=True)
F.fractional_max_pool3d(b[None, None], 2, output_size=1, return_indices=True)
F.fractional_max_pool3d(b[None, None], 1, output_size=1, return_indices=True)
F.max_unpool2d(*F.max_pool2d(c, 2, return_indices=True), 2, output_size=(1, 3, 3, 4))
F.max_unpool1d(*F.max_pool1d(b, 2, return_indices=True), 2, output_size=[5])
F.max_unpool1d(*F.max_pool1d(b, 2, return_indices=True), 2, output_size=[9])
F.max_unpool1d(*F.max_pool1d(b, 2, return_indices=True), 2, output_size=[1, 2])
F.max_pool1d(b, 2, 0)
F.max_pool1d(b, 2, padding=2)
F.avg_pool1d(b, 9)
F.adaptive_avg_pool2d(x, (1, 2, 3))
F.fractional_max_pool2d(c, 2)
F.fractional_max_pool2d(c, 2, output_ratio=(2.0, 0.5))
F.fractional_max_pool2d(c, 3, output_size=3)
"""
IMAGES = """
F.interpolate(b, 6)
F.interpolate(b, scale_factor=1.5)
F.interpolate(b, size=7, mode="linear")
F.interpolate(c, scale_factor=(2, 1.5), mode="bilinear")
F.interpolate(c, size=(5, 7), mode="bilinear", align_corners=True)
F.interpolate(c, size=(2, 2), mode="bilinear", antialias=True)
F.interpolate(c, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True)
F.interpolate(c, size=5, mode="bicubic")
F.interpolate(c, size=2, mode="bicubic", antialias=True)
F.interpolate(c, size=2, mode="area")
F.interpolate(c, scale_factor=0.5, mode="area")
F.interpolate(c, size=5, mode="nearest-exact")
F.interpolate(b[None, None], size=(3, 4, 5), mode="trilinear")
F.upsample(c, scale_factor=2)
F.upsample_nearest(c, 6)
F.upsample_bilinear(c, 6)
F.grid_sample(c, g, align_corners=False)
F.grid_sample(c, g * 2, mode="nearest", padding_mode="border")
F.grid_sample(c, g * 2, "bicubic", "reflection", True)
F.affine_grid(t, (1, 1, 2, 3), align_corners=False)
F.affine_grid(t, [1, 1, 3, 3], True)
F.unfold(c, 2)
F.unfold(c, (2, 3), dilation=1, padding=1, stride=2)
F.fold(F.unfold(c, 2), (3, 4), 2)
F.pixel_shuffle(b.reshape(4, 3, 2), 2)
F.pixel_unshuffle(b.reshape(1, 6, 4), 1)
F.channel_shuffle(b.transpose(0, 1)[None].reshape(1, 6, 2, 2), 3)
F.pad(x, (1, 2))
F.pad(b, (1, 0, 0, 2), value=3.0)
F.pad(c, (1, -1, -1, 2))
F.pad(c, (1, 2, 2, 1), "reflect")
F.pad(b, (1, 2), mode="circular")
F.pad(b, (2, 3), mode="replicate")
F.pad(b, (-4, 5), mode="replicate")
F.pad(b, (-1, 2), mode="replicate")
F.pad(b, (3, -2), mode="replicate")
"""
IMAGE_ERRORS = """
F.interpolate(b)
F.interpolate(b, 3, 2)
F.interpolate(b, (3, 3))
F.interpolate(b, 2.5)
F.interpolate(b, scale_factor=(2, 2))
F.interpolate(b, 3, mode="bilinear")
F.interpolate(b, 3, mode="none")
F.interpolate(b, 3, align_corners=True)
F.interpolate(b, 3, mode="linear", antialias=True)
F.interpolate(b, 3, recompute_scale_factor=True)
F.grid_sample(c, g, "linear")
F.grid_sample(c, g, padding_mode="wrap")
F.affine_grid(t, (1, 1, 2))
F.affine_grid(t, (1, 1, 2, 3, 4))
F.affine_grid(t, (1, 1, 0, 3))
F.affine_grid(t.long(), (1, 1, 2, 3))
F.pad(x, (1,))
F.pad(b, (5, 5), "reflect")
F.pad(b, (1, 1), "mirror")
F.pixel_shuffle(b, 2)
F.fold(b, (3, 4), 2)
F.unfold(b, 9)
F.unfold(c > 0, 2)
"""
ATTENTION = """
F.scaled_dot_product_attention(b, b, b)
F.scaled_dot_product_attention(b, b * 2, b, is_causal=True)
F.scaled_dot_product_attention(b, b, b, torch.tensor([[1, 1, 0], [0, 1, 1], [1, 1, 1]]).bool())
F.scaled_dot_product_attention(b, b, b, x[:, :3], scale=0.3)
F.scaled_dot_product_attention(x, b, b)
F.scaled_dot_product_attention(c, c[:, :1], c[:, :1], enable_gqa=True)
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.0, m, v)
F.multi_head_attention_forward(x, x, x, 4, 2, f, None, None, None, False, 0.0, m, v)
F.multi_head_attention_forward(b, y[None].expand(2, 3, 4), y[None].expand(2, 3, 4), 4, 1, f, None, None, None, True, \
0.0, m, v, average_attn_weights=False)
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, v[None, None], v[None, None], True, 0.0, m, v, \
need_weights=False)
F.multi_head_attention_forward(b, b, b, 4, 2, None, None, None, None, False, 0.0, m, v, use_separate_proj_weight=True, \
q_proj_weight=m, k_proj_weight=m, v_proj_weight=m.t())
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.4, m, v, \
key_padding_mask=torch.tensor([[False, True]] * 3))
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.0, m, v, need_weights=False, \
attn_mask=torch.tensor([[False, True], [False, False]]), is_causal=True)
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.0, m, v, \
attn_mask=r[0][None].expand(6, 2, 2))
"""
ATTENTION_ERRORS = """
F.multi_head_attention_forward(b, b, b, 5, 2, f, None, None, None, False, 0.0, m, v)
F.multi_head_attention_forward(b, b, b, 4, 3, f, None, None, None, False, 0.0, m, v)
F.multi_head_attention_forward(b, x, x, 4, 2, f, None, None, None, False, 0.0, m, v)
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.0, m, v, attn_mask=x)
F.multi_head_attention_forward(b, b, b, 4, 2, f, None, None, None, False, 0.0, m, v, is_causal=True)
F.scaled_dot_product_attention(b, x, w)
F.scaled_dot_product_attention(b, b, b, x, is_causal=True)
"""
WIDE = "f = torch.cat([m, m.t(), m * 2]); "


@each("row", rows(POOLS + INDICES + IMAGES + IMAGE_ERRORS))
def test_value(row):
    same(PRELUDE + row)


@each("row", rows(POOLS + IMAGES))
def test_gradient(row):
    same_gradients(PRELUDE + row, *(["d"] if "t," in row else ["x"] if "(x" in row else ["b"]))


@each("row", rows(ATTENTION + ATTENTION_ERRORS))
def test_attention(row):
    same(PRELUDE + WIDE + row)


@each("row", rows(ATTENTION))
def test_gradient_of_attention(row):
    # Whatever gives no weights gives None for them.
    whole = f"[part for part in [*{row}] if part is not None]" if "forward" in row else row
    same_gradients(PRELUDE + WIDE + whole, "x" if "(x" in row else "b", *(["m"] if "m, v" in row else []))


FLEX = """
flex_attention(b[None], b[None], b[None], score_mod=lambda s, b, h, q, k: s + (q - k) * 0.5)
flex_attention(b[None], b[None], b[None], block_mask=create_block_mask(lambda b, h, q, k: q >= k, None, None, 3, 3, \
device="cpu", BLOCK_SIZE=2))
create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 5, 5, device="cpu", BLOCK_SIZE=2).kv_indices
create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 5, 5, device="cpu", BLOCK_SIZE=2).full_q_num_blocks
create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 5, 5, device="cpu", BLOCK_SIZE=2).to_dense()
create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 5, 5, device="cpu", BLOCK_SIZE=2)
create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 5, 5, device="cpu", BLOCK_SIZE=2).sparsity()
create_mask(and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q < k + 2), None, None, 4, 4, "cpu")
create_mask(or_masks(lambda b, h, q, k: q > k, lambda b, h, q, k: k == 3), 2, None, 4, 4, "cpu")
"""


@each("row", rows(FLEX))
def test_flex_attention(row):
    same("import importlib; names = globals(); names.update(vars(importlib.import_module("
         "torch.__name__ + '.nn.attention.flex_attention'))); " + row)


def test_backends_are_named():
    from dragon.vm.torch.nn.attention import SDPBackend, sdpa_kernel
    from dragon.vm.torch.nn.functional import scaled_dot_product_attention as attend
    from dragon.vm.torch import ones
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        assert attend(ones(1, 2, 3), ones(1, 2, 3), ones(1, 2, 3)).tolist() == [[[1.0] * 3] * 2]
    with pytest.raises(AssertionError, match="SDPBackend"):
        with sdpa_kernel("math"):
            pass


@pytest.mark.parametrize("row", rows("""
F.scaled_dot_product_attention(b, b[:, :2], b[:, :2], importlib.import_module(bias).causal_lower_right(3, 2))
F.scaled_dot_product_attention(b[:, :2], b, b, importlib.import_module(bias).causal_upper_left(2, 3))
F._Reduction.get_enum("sum")
F._Reduction.get_enum("many")
F._Reduction.legacy_get_string(False, None)
F._Reduction.legacy_get_enum(None, False)
"""))
def test_side_door(row):
    same(PRELUDE + "import importlib; bias = torch.__name__ + '.nn.attention.bias'; " + row)


def test_groups_multiply_one_by_one():
    from dragon.vm import torch
    a, b, ends = torch.randn(5, 3), torch.randn(2, 3, 4), torch.tensor([2, 5], dtype=torch.int32)
    flat = torch.nn.functional.grouped_mm(a, b, offs=ends)
    assert torch.equal(flat, torch.cat([a[:2] @ b[0], a[2:] @ b[1]]))
    assert torch.equal(torch.nn.functional.grouped_mm(b, b.mT), b @ b.mT)
    assert torch.equal(torch.nn.functional.grouped_mm(b.mT, a.t(), offs=ends)[:, 2:], b[1].t() @ a.t()[:, 2:])
    assert torch.equal(torch.nn.functional.grouped_mm(a.t(), a, offs=ends)[1], a.t()[:, 2:] @ a[2:])
    with pytest.raises(RuntimeError, match="offs"):
        torch.nn.functional.grouped_mm(a, b)


@pytest.mark.parametrize("axes", (1, 2, 3))
def test_gradients_of_convolutions_by_name(axes):
    names = (f"g = __import__(torch.__name__ + '.nn.grad', fromlist=['x']); x = b.reshape(2, 3, 4, 1, 1)[..., 0, 0] "
             f"if {axes} == 1 else b.repeat(1, 1, 4).reshape(2, 3, *[4] * 2) if {axes} == 2 else "
             f"b.repeat(1, 1, 16).reshape(2, 3, 4, 4, 4); k = torch.ones(2, 3, *[2] * {axes}); "
             f"y = torch.nn.functional.conv{axes}d(x, k, stride=2); ")
    same(names + f"g.conv{axes}d_input(x.shape, k, y, stride=2)")
    same(names + f"g.conv{axes}d_weight(x, k.shape, y, stride=2)")


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_second_gradients_where_points_are_none(padding):
    """Points that are endless or no numbers take and give nothing; all others have PyTorch's second gradients.

    PyTorch 2.13 itself reads memory that is not there for such points, so it is not given them.
    """
    points = [[[[0.1, -0.2], [0.9, 1.4], [float("inf"), 0.0], [float("nan"), 0.3], [-1e30, 1e30]]]]

    def second(t, points, padding):
        x = t.arange(32.0).reshape(1, 2, 4, 4).sin().requires_grad_()
        grid = t.tensor(points, requires_grad=True)
        y = t.nn.functional.grid_sample(x, grid, "bilinear", padding, False)[..., :2]
        first = t.autograd.grad(y.square().sum(), (x, grid), create_graph=True)
        total = first[0].square().sum() + first[1][..., :2, :].square().sum()
        return [part.detach().numpy() for part in t.autograd.grad(total, (x, grid))]
    genuine = on_genuine(second, [[points[0][0][:2]]], padding)
    for theirs, mine in zip(genuine, second(dt, points, padding), strict=True):
        if theirs.shape[-1] == 2:
            theirs, mine = theirs[..., :2, :], mine[..., :2, :]
        assert np.isfinite(mine).all() and np.allclose(theirs, mine, 1e-3, 1e-3)
