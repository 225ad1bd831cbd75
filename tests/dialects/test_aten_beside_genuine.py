"""Operators below PyTorch's API that have rows, called by their overloads, beside genuine PyTorch, at extremes too."""
import numpy
import pytest

from dragon.vm import torch as dt
from harness.subresults import each

gt = pytest.importorskip("torch")

# Calls of `a`, the operators, with tensors: x and y are floats with NaN, infinities and -1e30, p and q plain ones, e is
# empty, v and w short vectors, i and j integers, b truths, c an image, s a sequence of classes.
CALLS = """
a.relu6_.default(x) | a.silu_.default(x) | a.hardswish_.default(x) | a.hardsigmoid_.default(x) | a.mish_.default(x)
a.elu.default(x) | a.elu.default(p, 2.0) | a.elu.default(p, 2.0, 3.0, 0.5) | a.elu.default(e)
a.log_sigmoid.default(x) | a.softmax.int(p, 1) | a.softmax.int(p, -1, t.float64) | a.softmax.int(e, 0)
a.log_softmax.int(x, 0) | a._softmax.default(p.half(), 1, False) | a._log_softmax.default(p, 0, False)
a.threshold_backward.default(p, q, 0.5) | a.leaky_relu_backward.default(p, q, 0.1, False)
a.elu_backward.default(p, 1.0, 1.0, 1.0, False, q) | a.elu_backward.default(p, 2.0, 3.0, 0.5, True, q)
a.tanh_backward.default(p, q) | a.sigmoid_backward.default(p, q) | a.gelu_backward.default(p, q, approximate="tanh")
a.silu_backward.default(p, q) | a.mish_backward.default(p, q) | a.hardswish_backward.default(p, q)
a.hardsigmoid_backward.default(p, q) | a.softplus_backward.default(p, q, 2, 3)
a.hardtanh_backward.default(p, q, -1, 0.5) | a.hardshrink_backward.default(p, q, 0.5)
a.softshrink_backward.default(p, q, 0.5) | a._softmax_backward_data.default(p, q, 1, t.float32)
a._log_softmax_backward_data.default(p, q, 1, t.float32) | a.pad.default(x, [1, 2])
a.pad.default(c, [1, 1, 1, 1], "reflect") | a.constant_pad_nd.default(x, [1, -1], 7)
a.reflection_pad1d.default(p, [1, 1]) | a.replication_pad2d.default(c, [2, 1, 0, 1])
a.reflection_pad2d.default(c, [1] * 4) | a.meshgrid.default([v, w]) | a.meshgrid.indexing([v, w], indexing="xy")
a.broadcast_tensors.default([v[:, None], p]) | a.cartesian_prod.default([v, w]) | a.block_diag.default([p, q])
a.split_with_sizes.default(p, [1, 2]) | a.split_with_sizes_copy.default(p, [2, 1]) | a.unbind.int(p, 1)
a.unflatten.int(p, 1, [2, 2]) | a.expand.default(v, [2, 3]) | a._unsafe_view.default(p, [12])
a.view.dtype(v, t.int32) | a.alias.default(x) | a.alias_copy.default(x) | a.lift_fresh.default(x)
a.lift_fresh_copy.default(x) | a.permute_copy.default(p, [1, 0]) | a.numpy_T.default(p) | a.mT.default(p)
a.matrix_H.default(p) | a.mH.default(p) | a.real.default(z) | a.imag.default(z) | a.contiguous.default(p.t())
a.copy.default(p, v[:1]) | a.fill.Scalar(p, 3) | a.fill.Tensor(p, v[0]) | a.copy_.default(p, q) | a.detach_.default(p)
a.im2col.default(c, [2, 2], [1, 1], [0, 0], [1, 1])
a.col2im.default(p[None], [2, 2], [1, 1], [1, 1], [0, 0], [1, 1]) | a.select.int(p, 1, -1)
a.slice.Tensor(p, 1, -3, 9, 2) | a.slice.Tensor(e, 0) | a.slice.Tensor(p, 0, 2, 1)
a.slice_backward.default(p, [3, 6], 1, 1, 5, 1) | a.select_backward.default(v, [2, 3], 0, 1)
a.diagonal_backward.default(v, [3, 3], 0, 0, 1) | a.scalar_tensor.default(-1e30)
a.scalar_tensor.default(2, dtype=t.int8) | a.new_zeros.default(p, [2]) | a.new_ones.default(i, [2, 0])
a.new_full.default(i, [2], 5) | a.full.default([2], 1.5) | a.size.int(p, 1) | a.sym_size.int(p, 0)
a.sym_size.default(p) | a.sym_stride.default(p.t()) | a.sym_numel.default(e) | a.sym_storage_offset.default(p[1])
a._local_scalar_dense.default(v[0]) | a.item.default(v[:1]) | a.is_leaf.default(p) | a.to.dtype(x, t.float64)
a.to.dtype(i, t.bool, False, True) | a.to.device(p, t.device("cpu"), t.float16) | a.to.other(i, p)
a._to_copy.default(x, dtype=t.float64) | a._to_copy.default(i) | a._assert_tensor_metadata.default(p, [3, 4])
a._assert_tensor_metadata.default(p, None, None, t.int32) | a._assert_tensor_metadata.default(p, [3, 5])
a._assert_async.msg(v[0] > 99, "no") | a._assert_scalar.default(0, "never")
a.convolution.default(c, k, None, [1, 1], [0, 1], [1, 1], False, [0, 0], 1)
a.convolution.default(c, k.transpose(0, 1), None, [2, 2], [0, 0], [1, 1], True, [1, 0], 1)
a.convolution_backward.default(a.convolution.default(c, k, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), c, k, \
[2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True])
a.index.Tensor(p, [None, i]) | a.index.Tensor(p, [b]) | a.index.Tensor(e, [j[:0]]) | a._unsafe_index.Tensor(p, [i])
a.index_put.default(p, [i], v[:1]) | a.index_put.default(p, [i], v[:1], True)
a.index_put.default(p, [None, i], v[:1], True) | a.index_put_.default(p, [b], v[:1])
a._unsafe_index_put.default(p, [None, i], v[:1]) | a.nonzero_numpy.default(b)
a._index_put_impl_.default(p, [i], v[:1], True, False) | a.where.default(b) | a.where.self(b, p, q)
a.where.ScalarOther(b, p, 2) | a.where.ScalarSelf(b, 2, p) | a._unique2.default(s, True, True, True)
a._unique2.default(s) | a.unique_dim.default(n, 0, True, True) | a.unique_dim.default(n, 1)
a.embedding.default(p, s) | a.embedding.default(p, s, 1) | a.embedding_renorm_.default(p, i, 1.0, 2.0)
a.embedding_dense_backward.default(p, i, 4, -1, False) | a.embedding_dense_backward.default(p, i, 4, 1, True)
a.mse_loss.default(p, q) | a.mse_loss.default(x, q, 0) | a.l1_loss.default(p, q, 2)
a.smooth_l1_loss.default(p, q, 1, 0.5) | a.huber_loss.default(p, q, 0, 0.5) | a.soft_margin_loss.default(p, q.sign())
a.kl_div.default(p, q.sigmoid()) | a.kl_div.default(p, q, 2, log_target=True)
a.binary_cross_entropy.default(p.sigmoid(), q.sigmoid())
a.binary_cross_entropy_with_logits.default(p, q.sigmoid(), None, p[0].sigmoid(), 2) | a.mse_loss.default(e, e)
a.cross_entropy_loss.default(p, i) | a.cross_entropy_loss.default(p, i, p[0].exp(), 2, 1, 0.0)
a.cross_entropy_loss.default(p, i, None, 1, -100, 0.2) | a.nll_loss.default(p, i)
a.nll_loss_nd.default(p, i, None, 0) | a.nll_loss_forward.default(p, i, None, 1, 1)
a.nll_loss_forward.default(p, i, p[0].exp(), 2, -100)
a.nll_loss_backward.default(v.sum(), p, i, None, 1, -100, v[0] * 0 + 3)
a.nll_loss_backward.default(v, p, i, None, 0, 1, v[0]) | a.multilabel_margin_loss.default(p, n)
a.poisson_nll_loss.default(p, q.abs(), True, True, 1e-8, 1) | a.triplet_margin_loss.default(p, q, p + 1)
a.cosine_embedding_loss.default(p, q, v.sign(), 0.1) | a.margin_ranking_loss.default(v, v.flip(0), v.sign(), 0.5, 2)
a.hinge_embedding_loss.default(p, q.sign(), 0.5) | a.multi_margin_loss.default(p, i)
a.multi_margin_loss.default(p, i, 2, 0.5, p[0].exp(), 2) | a.ctc_loss.IntList(l.log_softmax(2), m, [5, 4], [2, 1])
a.ctc_loss.Tensor(l.log_softmax(2), m, h + 4, h, 0, 2, True) | a.rsub.Scalar(p, 2) | a.rsub.Scalar(p, 2, 3)
a.rsub.Tensor(p, q, alpha=2) | a.__and__.Tensor(i, j) | a.__or__.Scalar(i, 5) | a.__xor__.Tensor(b, b)
a.__lshift__.Scalar(i, 2) | a.__rshift__.Tensor(i * 8, j) | a.__iand__.Tensor(i, j) | a.__ior__.Scalar(i, 4)
a.linalg_vector_norm.default(x, 1) | a.linalg_vector_norm.default(p, 2, [1], True)
a.linalg_vector_norm.default(p, float("inf")) | a.linalg_vector_norm.default(p, 0, None, False, dtype=t.float64)
a.std.default(p) | a.var.default(p, False) | a.std.dim(p, [1]) | a.var.dim(p, [0], False, True)
a.std.correction(p, [1], correction=0) | a.var.correction(p) | a.var.correction(p, [0], correction=2.5)
a.std_mean.default(p) | a.var_mean.dim(p, [1], True, True) | a.var.default(e)
a.std_mean.correction(p, [1], correction=3, keepdim=True) | a.var.correction(v, [0], correction=9)
a.tensordot.default(p, q, [0, 1], [0, 1]) | a.einsum.default("ij,ij->j", [p, q]) | a.einsum.default("ij,kj", [p, q])
a.batch_norm.default(p, None, None, None, None, True, 0.1, 1e-5, True) | a.layer_norm.default(p, [4])
a.batch_norm.default(p, p[0], p[1], p[2], q[0].abs(), False, 0.1, 1e-5, True)
a.group_norm.default(c, 2, None, None, 1e-3)
a.instance_norm.default(c, None, None, None, None, True, 0.1, 1e-5, True)
a.layer_norm.default(p, [3, 4], p, q, 1e-2)
a._native_batch_norm_legit_functional.default(p, None, None, p[0], q[0].abs(), True, 0.1, 1e-5)
a.native_layer_norm_backward.default(p, q, [4], *a.native_layer_norm.default(q, [4], None, None, 1e-5)[1:], p[0], \
p[1], [True, True, True])
a.native_batch_norm_backward.default(p, q, p[0], p[1], q[1].abs(), None, None, False, 1e-5, [True, True, True])
a.native_group_norm_backward.default(c, c + 1, *a.native_group_norm.default(c + 1, None, None, 2, 2, 20, 2, \
1e-5)[1:], None, 2, 2, 20, 2, [True, False, False])
a.dropout.default(p, 0.5, False) | a.alpha_dropout.default(p, 0.0, True) | a.feature_dropout.default(c, 0.0, True)
a.dropout_.default(p, 1.0, True) | a.native_dropout_backward.default(p, b4, 2.0)
a.native_dropout.default(p, 0.0, True) | a.max_pool1d.default(p, [2])
a.max_pool2d.default(c, [2, 2], [1, 2], [1, 0], 1, True) | a.avg_pool1d.default(p, [2], [1], [1])
a.max_pool2d_with_indices.default(c, [2, 2]) | a.avg_pool2d.default(c, [2, 3], [], [0, 1], True, False, 5)
a.avg_pool2d_backward.default(a.avg_pool2d.default(c, [2, 2], [2, 2], [0, 0], True), c, [2, 2], [2, 2], [0, 0], \
True, True, None)
a.avg_pool2d_backward.default(a.avg_pool2d.default(c, [2, 2]), c, [2, 2], [], [0, 0], False, False, 3)
a.max_pool2d_with_indices_backward.default(*a.max_pool2d_with_indices.default(c, [2, 2])[:1], c, [2, 2], [2, 2], \
[0, 0], [1, 1], False, a.max_pool2d_with_indices.default(c, [2, 2])[1])
a.adaptive_max_pool2d.default(c, [2, 3]) | a.adaptive_avg_pool1d.default(p, [3])
a._adaptive_avg_pool2d.default(c, [3, 2])
a.max_unpool2d.default(*a.max_pool2d_with_indices.default(c, [2, 2]), [4, 5])
a.avg_pool3d.default(c[None], [1, 2, 2]) | a.upsample_nearest1d.default(p[None], [7])
a.upsample_nearest1d.default(p[None], [9], 2.3) | a.upsample_nearest2d.vec(c, [3, 9], None)
a.upsample_bilinear2d.default(c, [6, 7], False) | a.upsample_bilinear2d.default(c, [9, 11], False, 2.3, 2.3)
a.upsample_bilinear2d.default(c, [9, 11], True, 2.3, 2.3) | a.upsample_bilinear2d.vec(c, None, False, [2.3, 1.7])
a.upsample_bicubic2d.default(c, [3, 8], False) | a.upsample_linear1d.default(p[None], [9], True)
a._upsample_nearest_exact2d.default(c, [3, 9]) | a._upsample_bilinear2d_aa.default(c, [2, 3], False)
a._upsample_bicubic2d_aa.vec(c, [3, 3], False, None) | a.grid_sampler.default(c, g, 0, 1, False)
a.grid_sampler_2d.default(c, g, 2, 2, True) | a.affine_grid_generator.default(d, [1, 2, 3, 4], True)
a.lstm.input(l, [l[:1] * 0, l[:1] * 0], [r, r, r[:, 0], r[:, 1]], True, 1, 0.0, False, False, False)
a.rnn_tanh.input(l, l[:1] * 0, [r[:3], r[3:6]], False, 1, 0.0, False, False, False)
a.gru.input(l, l[:1] * 0, [r[:9], r[:9] + 1], False, 1, 0.0, False, False, False)
a._pack_padded_sequence.default(l, h.new_tensor([5, 3]), False) | a.embedding_bag.default(p, i, h[:1] - 1)
a.thnn_conv2d.default(c, k, [3, 2], v[:2], [1, 2])
a.pad_sequence.default([v, w, v[:1]], True, 7.0, "left") | a.pad_sequence.default([p, q[:1]])
a.slow_conv_transpose2d.default(c, k, [3, 2])
a._embedding_bag.default(p, i, h[:1] - 1) | a._embedding_bag.default(p, i, h[:1] - 1, False, 1, False, None, False, 2)
"""


def tensors_of(t):
    """Return {name: tensor} for the calls."""
    rng = numpy.random.RandomState(0)

    def floats(*shape):
        return t.tensor(rng.randn(*shape).astype("float32").tolist())
    made = {"p": floats(3, 4), "q": floats(3, 4), "v": floats(3), "w": floats(2), "c": floats(2, 2, 4, 5),
            "k": floats(2, 2, 3, 2), "l": floats(5, 2, 3), "r": floats(12, 3), "d": floats(1, 2, 3),
            "g": floats(2, 3, 3, 2) / 2, "e": t.zeros(0, 3)}
    made["x"] = t.tensor([[float("nan"), float("inf"), -float("inf"), -1e30], [1e30, 0.0, -0.0, 1e-40],
                          [1.0, -1, 3, 7]])
    made["z"] = t.complex(made["p"], made["q"])
    made["i"], made["j"] = t.tensor([0, 2, 1]), t.tensor([1, 1, 0])
    made["s"], made["n"] = t.tensor([[2, 0], [1, 2]]), t.tensor([[1, 0, -1, 2], [0, -1, 3, 3], [1, 0, -1, 2]])
    made["b"], made["b4"] = t.tensor([[True], [False], [True]])[:, 0], made["p"] > 0
    made["m"], made["h"] = t.tensor([[1, 2], [1, 1]]), t.tensor([1, 1])
    return made


CASES = [call.strip() for line in CALLS.replace("\\\n", "").strip().split("\n") for call in line.split(" | ")]


def answer(t, call):
    """Return what a call gives, as arrays and numbers, or the class of its error."""
    names = {**tensors_of(t), "t": t, "a": t.ops.aten}
    if call.startswith("a.where.self") or call.startswith("a.where.Scalar"):
        names["b"] = names["b"][:, None]
    t.manual_seed(0)
    try:
        found = eval(call, names)
    except Exception as error:
        return type(error).__mro__
    return [plain(item) for item in (found if isinstance(found, (list, tuple)) else [found])]


def plain(item):
    """Return a tensor as an array, everything else as it is."""
    return item.detach().resolve_conj().numpy() if hasattr(item, "detach") else item


def same(mine, theirs):
    """Compare two answers; where the genuine one is an error, ours is of that class of Python's."""
    if isinstance(theirs, tuple):
        assert isinstance(mine, tuple), f"gives {mine}, expected {theirs[0].__name__}"
        assert next(kind for kind in theirs if kind.__module__ == "builtins") in mine
        return
    assert isinstance(mine, list), f"raises {mine[0].__name__}, expected {theirs}"
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        if isinstance(other, numpy.ndarray):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            numpy.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
        else:
            assert one == other, (one, other)


@each("call", CASES, ids=CASES)
def test_calls(call):
    same(answer(dt, call), answer(gt, call))


def test_calls_are_answered_and_those_that_are_refused_are_meant_to_be():
    refused = [call for call in CASES if isinstance(answer(gt, call), tuple)]
    assert len(CASES) > 230 and [call.partition(".default")[0].partition(".msg")[0] for call in refused] == [
        "a._assert_tensor_metadata", "a._assert_tensor_metadata", "a._assert_async", "a._assert_scalar"]


@each("call", [
    "a.softmax.int_out(p, 1, out=t.empty(3, 4))", "a.mse_loss.out(p, q, out=t.empty(()))",
    "a.log_sigmoid.out(x, out=t.empty(0))", "a.im2col.out(c, [2, 2], [1, 1], [0, 0], [1, 1], out=t.empty(0))",
    "a.upsample_bilinear2d.out(c, [6, 7], False, out=t.empty(0))"], ids=lambda call: call)
def test_results_are_written_into_what_is_given(call):
    same(answer(dt, call), answer(gt, call))


def test_what_pytorch_computes_on_other_devices_alone():
    """PyTorch refuses the wide result of half precision on CPUs."""
    x = dt.tensor([[1.0, 2.0], [3.0, float("nan")]]).half()
    for name in ("_softmax", "_log_softmax"):
        wide = getattr(dt.ops.aten, name).default(x, 1, True)
        assert wide.dtype == dt.float32
        dt.testing.assert_close(wide, getattr(dt.ops.aten, name).default(x.float(), 1, False), equal_nan=True)


@pytest.mark.parametrize("call", ["a.upsample_nearest1d.default(p[None], [7], 2.3)",
                                  "a._to_copy.default(p, layout=t.sparse_coo)",
                                  "a.scalar_tensor.default(1, layout=t.sparse_csr)"])
def test_what_is_not_computed_is_refused(call):
    assert NotImplementedError in answer(dt, call)


def test_sparse_tensors_have_what_is_zero_at_zero():
    x = dt.tensor([[0.0, -2.0], [3.0, 0.0]]).to_sparse()
    for name in ("celu", "selu", "hardshrink", "sin", "log1p", "nan_to_num"):
        found = getattr(dt, name)(x)
        assert found.is_sparse
        dt.testing.assert_close(found.to_dense(), getattr(dt, name)(x.to_dense()), equal_nan=True)
    with pytest.raises(NotImplementedError, match="cos"):
        dt.cos(x)
