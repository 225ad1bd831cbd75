"""Tensors of coordinates beside genuine PyTorch: every function, dtype and odd shape."""
import pytest

from dragon.vm import torch as dt
from harness.sparse import coordinates, outcome, same, strided
from harness.subresults import each
from harness.twin import on_genuine

SHAPES = [((4, 5), 7, 0), ((4, 5), 0, 0), ((0, 5), 0, 0), ((3, 4, 2), 6, 1), ((3, 2, 4), 9, 0), ((5,), 6, 0),
          ((3, 2, 2), 5, 2), ((1, 1), 3, 0)]
DTYPES = ["float64", "float32", "int64", "int32", "complex128", "bool", "uint8"]
# Of x and y, two tensors of coordinates, and d, a strided one of the same shape; t is the module.
CALLS = """x.to_dense() | x.coalesce() | x.coalesce().indices() | x.coalesce().values() | x + y | x - y | x * y |
x * d | d + x | d - x | x * 2 | x / 2 | -x | x.abs() | x ** 2 | x.sign() | t.sparse.sum(x) | x.norm() |
x.to(t.float32) | x.bool() | d.sparse_mask(x.coalesce()) | y.sparse_mask(x.coalesce()) | x.clone().add_(y) |
x.clone().mul_(y) | x.clone().zero_() | d.to_sparse() | d.to_sparse(1) | t.add(x, y, alpha=3) | t.zeros_like(x) |
x.is_coalesced() | x.coalesce().is_coalesced() | x.sparse_dim() | x.dense_dim() | x._nnz() | x.coalesce()._nnz() |
x.numel() | x.type() | x.is_sparse | x.t() | x.clone().t_() | x.mv(d[0]) | x @ d.t() | t.mm(x, d.t()) |
t.sparse.mm(x, d.t()) | d.t() @ x | t.sparse.mm(x, y.t()) | t.smm(x, d.t()) | t.hspmm(x, d.t()) |
t.sparse.addmm(d @ d.t(), x, d.t(), beta=2, alpha=3) | x.to_sparse_csr() | x.to_sparse_csc() |
x.to_sparse_bsr((2, 1)) | x.to_sparse_bsc((4, 5)) | d.to_sparse_bsr((2, 5)) | x.to(t.int64, copy=True) | x.exp() |
x + 1 | x.any() | x.view(-1) | x.reshape(-1) | x == x | x / d | x.permute(*range(x.ndim)[::-1]) | x.unbind(0) |
x.clone().copy_(y) | x.floor_divide(2) | x.clone().div_(2) | x.isnan() | x.isinf() | t.cat([x, d]) |
x.is_same_size(y) | x.half() | x[0] | x[-1] | x[None] | x.neg_() | t.vstack([x, y]) | x.resize_as_(y) |
x.sparse_resize_((9, 9), 2, 0) | x.item() | len(x)"""
PER_DIM = """t.sparse.sum(x, {dim}) | x.sum({dim}, keepdim=True) | x.select({dim}, 0) | t.sparse.softmax(x, {dim}) |
x.index_select({dim}, t.tensor([0, 0])) | t.sparse.log_softmax(x, {dim}) | t.cat([x, y], {dim}) | x.unsqueeze({dim}) |
t.stack([x, y], {dim}) | x.transpose(0, {dim}) | x.index_select({dim}, t.tensor([99]))"""
# What genuine PyTorch computes of integers and bools only where a tensor holds no values.
APART = ("softmax", "addmm")


def calls_of(shape):
    """Return the calls for a shape."""
    found = CALLS.replace("\n", " ").split("|")
    for dim in range(len(shape)):
        found += PER_DIM.replace("\n", " ").replace("{dim}", str(dim)).split("|")
    return [call.strip() for call in found]


def outcomes(t, calls, shape, count, dense, dtype):
    """Return what each call comes to."""
    found = []
    for call in calls:
        names = {"t": t, "x": coordinates(t, 1, shape, count, dense, dtype),
                 "y": coordinates(t, 3, shape, count, dense, dtype), "d": strided(t, 5, shape, dtype)}
        found.append(outcome(lambda: eval(call, {"range": range, "len": len}, names)))
    return found


@each("dtype", DTYPES)
@each("shape, count, dense", SHAPES, size=28)
@pytest.mark.long("every function is called of sparse tensors, by genuine PyTorch as well")
def test_functions_agree_with_genuine(shape, count, dense, dtype):
    calls = [call for call in calls_of(shape) if dtype.startswith("float") or not any(word in call for word in APART)]
    asked = calls, shape, count, dense, dtype
    assert not [(call, mine, genuine) for call, mine, genuine in zip(
        calls, outcomes(dt, *asked), on_genuine(outcomes, *asked), strict=True)
        if genuine != "refused" and not same(mine, genuine)]


def test_what_would_not_stay_zero_is_refused_by_name():
    x = coordinates(dt, 1, (3, 3), 4)
    for name in ("exp", "cos", "log", "sigmoid", "argmax", "cumsum", "trace", "prod", "max", "softmax"):
        with pytest.raises(NotImplementedError, match=rf"^{name}: got a tensor of layout torch.sparse_coo, expected"):
            getattr(dt, name)(x, *((0,) if name in ("cumsum", "softmax") else ()))


@pytest.mark.parametrize("size", [(5, 3), (), (0, 3)])
def test_nothing_but_a_size_makes_zeros(size):
    def check(t, size):
        for made in (t.sparse_coo_tensor(size=size, dtype=t.int64), t.sparse_coo_tensor(size, dtype=t.int64)):
            assert tuple(made.shape) == size and made._nnz() == 0 and made.dtype is t.int64
            assert made.to_dense().tolist() == t.zeros(size, dtype=t.int64).tolist()
        for wrong in ({}, {"values": t.ones(2)}, {"values": t.ones(2), "size": (2,)}):
            with pytest.raises(TypeError):
                t.sparse_coo_tensor(**wrong)
    check(dt, size)
    on_genuine(check, size)


def test_indices_of_a_huge_box():
    def check(t):
        edge = 10 ** 9 - 1
        x = t.sparse_coo_tensor([[edge, 3, edge], [5, edge, 5]], [1., 2., 3.], (edge + 1, edge + 1))
        assert x.coalesce().indices().tolist() == [[3, edge], [edge, 5]] and x.numel() == 10 ** 18
        assert (x + x).coalesce().values().tolist() == [4., 8.] and t.sparse.sum(x).item() == 6.
        assert t.sparse.sum(x, 0).coalesce().indices().tolist() == [[5, edge]]
        assert x.t().coalesce().indices().tolist() == [[5, edge], [edge, 3]]
    check(dt)
    on_genuine(check)


def test_indices_of_a_box_whose_places_have_no_numbers():
    edge = 10 ** 12 - 1
    x = dt.sparse_coo_tensor([[edge, 3, edge], [5, edge, 5]], [1., 2., 3.], (edge + 1, edge + 1))
    assert x.coalesce().indices().tolist() == [[3, edge], [edge, 5]] and x.coalesce().values().tolist() == [2., 4.]
    assert (x.coalesce() * x.coalesce()).values().tolist() == [4., 16.]


def test_writing_in_place_is_seen_by_all_who_hold_the_tensor():
    def check(t):
        x = t.sparse_coo_tensor([[0, 1]], [1., 2.], (3,)).coalesce()
        held = [x]
        x.add_(t.sparse_coo_tensor([[2]], [5.], (3,)).coalesce())
        assert held[0].to_dense().tolist() == [1., 2., 5.] and x.mul_(2)._values().tolist() == [2., 4., 10.]
        assert x.zero_()._nnz() == 0 and x.sparse_resize_((7,), 1, 0).shape == (7,)
    check(dt)
    on_genuine(check)


def test_parts_of_a_subscript():
    x = dt.arange(12.).reshape(3, 4)
    for key in (1, -1, slice(1, 3), (slice(None), 2), (Ellipsis, slice(1, None)), [0, 2], (None, 1),
                dt.tensor([True, False, True]), (2, 3), dt.tensor([-1, 0])):
        found, wanted = x.to_sparse()[key], x[key]
        assert found.shape == wanted.shape and dt.equal(found.to_dense() if found.is_sparse else found, wanted)
    with pytest.raises(NotImplementedError, match="a slice of step 2"):
        x.to_sparse()[::2]


def test_narrow_ends_like_squeeze_and_comparisons():
    x = dt.tensor([[[0., 1.], [2., 0.]]]).to_sparse()
    assert x.squeeze(0).to_dense().tolist() == [[0., 1.], [2., 0.]] and x.squeeze().shape == (2, 2)
    assert x.narrow(1, 1, 1).to_dense().tolist() == [[[2., 0.]]]
    assert dt.equal(x, x.clone()) and not dt.equal(x, x * 2) and dt.allclose(x, x + x * 1e-9)
    assert x.dim() == 3 and x.is_sparse and isinstance(x, dt.Tensor) and type(x).__name__ == "Tensor"


def test_products_of_few_numbers_in_many_rows():
    """Memory goes by numbers, not by rows; PyTorch asks for a place for each row."""
    tall = dt.sparse_coo_tensor(dt.tensor([[10 ** 12, 5], [1, 0]]), dt.tensor([2.0, 3.0]), (10 ** 13, 3))
    wide = dt.sparse_coo_tensor(dt.tensor([[0, 1], [4, 2]]), dt.tensor([1.0, 4.0]), (3, 5))
    made = dt.sparse.mm(tall, wide).coalesce()
    assert made.shape == (10 ** 13, 5) and made.indices().tolist() == [[5, 10 ** 12], [4, 2]]
    assert made.values().tolist() == [3.0, 8.0]
