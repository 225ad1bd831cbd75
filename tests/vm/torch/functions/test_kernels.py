"""Operators named after libraries of kernels, batch norms in steps, and functions beside the great ones."""
import pytest
import torch as gt

from dragon.vm import torch as dt

NP = {"dtype": "float64"}


def both(seed, *shapes):
    """Return the same random tensors of Dragon and of genuine PyTorch."""
    gt.manual_seed(seed)
    theirs = [gt.randn(*shape, dtype=gt.float64) for shape in shapes]
    return [dt.from_numpy(one.numpy()) for one in theirs], theirs


def same(ours, theirs):
    """Raise unless results are close."""
    for mine, other in zip(ours, theirs):
        assert tuple(mine.shape) == tuple(other.shape)
        assert mine.flatten().tolist() == pytest.approx(other.flatten().tolist(), rel=1e-9, abs=1e-12)


def test_convolutions():
    (x, w, b, z), (gx, gw, gb, gz) = both(0, (2, 4, 5, 5), (6, 2, 3, 3), (6,), (2, 6, 3, 3))
    expected = gt.nn.functional.conv2d(gx, gw, gb, 2, 1, 1, 2)
    same([dt.mkldnn_convolution(x, w, b, [1, 1], [2, 2], [1, 1], 2)], [expected])
    same([dt.miopen_convolution(x, w, b, [1, 1], [2, 2], [1, 1], 2, False, False)], [expected])
    same([dt.cudnn_convolution(x, w, [1, 1], [2, 2], [1, 1], 2, False, False, True)],
         [gt.nn.functional.conv2d(gx, gw, None, 2, 1, 1, 2)])
    same([dt.cudnn_convolution_relu(x, w, b, [2, 2], [1, 1], [1, 1], 2)], [expected.relu()])
    same([dt.cudnn_convolution_add_relu(x, w, z, 0.5, b, [2, 2], [1, 1], [1, 1], 2)], [(expected + 0.5 * gz).relu()])
    (x, w), (gx, gw) = both(1, (2, 6, 4, 4), (6, 2, 3, 3))
    same([dt.cudnn_convolution_transpose(x, w, [1, 1], [1, 1], [2, 2], [1, 1], 2, False, False, True)],
         [gt.nn.functional.conv_transpose2d(gx, gw, None, 2, 1, 1, 2)])


def test_pools_grids_and_products():
    (x, theta), (gx, gtheta) = both(2, (2, 3, 6, 6), (2, 2, 3))
    F = gt.nn.functional
    same([dt.mkldnn_max_pool2d(x, 3, 2, 1), dt.mkldnn_adaptive_avg_pool2d(x, (2, 3))],
         [F.max_pool2d(gx, 3, 2, 1), F.adaptive_avg_pool2d(gx, (2, 3))])
    same([dt.mkldnn_max_pool3d(x.unsqueeze(2), (1, 2, 2))], [F.max_pool3d(gx.unsqueeze(2), (1, 2, 2))])
    grid = F.affine_grid(gtheta, (2, 3, 6, 6), align_corners=True)
    ours = dt.cudnn_affine_grid_generator(theta, 2, 3, 6, 6)
    same([ours, dt.cudnn_grid_sampler(x, ours)], [grid, F.grid_sample(gx, grid, align_corners=True)])
    (g, x, w), (gg, gx, gw) = both(3, (2, 3, 4), (2, 3, 5), (4, 5))
    same(dt.mkldnn_linear_backward_weights(g, x, w, True), [gg.flatten(0, 1).T @ gx.flatten(0, 1), gg.sum((0, 1))])
    assert dt.cudnn_is_acceptable(x) is False


def test_batch_norms_in_parts_are_the_batch_norm_of_the_whole():
    (x, dy, w, b), (gx, gdy, gw, gb) = both(4, (6, 3, 4), (6, 3, 4), (3,), (3,))
    leaves = [one.clone().requires_grad_() for one in (gx, gw, gb)]
    running = [gt.zeros(3, dtype=gt.float64), gt.ones(3, dtype=gt.float64)]
    expected = gt.nn.functional.batch_norm(leaves[0], *running, *leaves[1:], True, 0.1, 1e-5)
    expected.backward(gdy)
    parts = x[:2], x[2:]
    stats = [dt.batch_norm_stats(part, 1e-5) for part in parts]
    means, scales = (dt.stack(one) for one in zip(*stats))
    mine = [dt.zeros(3, dtype=dt.float64), dt.ones(3, dtype=dt.float64)]
    counts = dt.tensor([8, 16])
    mean, invstd = dt.batch_norm_gather_stats_with_counts(x, means, scales, *mine, 0.1, 1e-5, counts)
    same(mine, running)
    same([dt.cat([dt.batch_norm_elemt(part, w, b, mean, invstd, 1e-5) for part in parts])], [expected.detach()])
    sums = [dt.batch_norm_backward_reduce(g, part, mean, invstd, w, True, True, True)
            for g, part in zip((dy[:2], dy[2:]), parts)]
    total, centred, dw, db = (dt.stack(one).sum(0) for one in zip(*sums))
    dx = dt.cat([dt.batch_norm_backward_elemt(g, part, mean, invstd, w, total, centred, counts)
                 for g, part in zip((dy[:2], dy[2:]), parts)])
    same([dx, dw, db], [leaf.grad for leaf in leaves])
    mine, theirs = ([torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)] for torch in (dt, gt))
    same(dt.batch_norm_update_stats(x, *mine, 0.3), gt.batch_norm_update_stats(gx, *theirs, 0.3))
    same(mine, theirs)
    same(dt.batch_norm_gather_stats(x, means, scales, None, None, 0.1, 1e-5, 12), [
        means.mean(0), dt.rsqrt(((scales ** -2 - 1e-5 + (means - means.mean(0)) ** 2).mean(0)) + 1e-5)])
    assert [tuple(one.shape) for one in dt.cudnn_batch_norm(x, w, b, *mine, True, 0.1, 1e-5)] == [
        (6, 3, 4), (3,), (3,), (0,)]


def test_functions_beside(tmp_path):
    (x,), (gx,) = both(5, (3, 4))
    same([dt.native_norm(x), dt.native_norm(x, 1, [1], True, None)], [gx.norm(), gx.norm(1, 1, True)])
    ours, theirs = ([torch.embedding_bag(one, torch.tensor([0, 1, 2, 1]), torch.tensor([0, 3]), mode=1)[0]]
                    for torch, one in ((dt, x), (gt, gx)))
    same(ours, theirs)
    assert dt.slice_inverse(x[1:], x, 0, 1).shape == x.shape and dt.is_storage(x.untyped_storage())
    with pytest.raises(RuntimeError, match="slice_inverse"):
        dt.slice_inverse(x[:1], x, 0, 1)
    with pytest.raises(RuntimeError, match="Invalid value range for 3"):
        dt.sym_constrain_range(3, min=5)
    with pytest.raises(RuntimeError, match="Invalid value range for -1"):
        dt.sym_constrain_range_for_size(-1)
    file = tmp_path / "numbers"
    mapped = dt.from_file(str(file), shared=True, size=3, dtype=dt.float64)
    mapped.copy_(x[0, :3])
    assert gt.from_file(str(file), size=3, dtype=gt.float64).tolist() == x[0, :3].tolist()
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert x.volatile is False
    assert x.clone().module_load(x + 1).tolist() == (x + 1).tolist() and x.module_load(x, assign=True) is not x
