"""Gradients of and with respect to sparse tensors, and what optimizers do with them."""
import numpy as np
import pytest
import torch
from harness.sparse import strided
from harness.subresults import each

from dragon.vm import torch as dt

COMPUTE = {
    "mm": lambda t, x, b: t.sparse.mm(x, b), "dense": lambda t, x, b: x.to_dense(),
    "sum": lambda t, x, b: t.sparse.sum(x),
    "sum over rows": lambda t, x, b: t.sparse.sum(x, 0).to_dense(), "times": lambda t, x, b: (x * b.t()).to_dense(),
    "plus": lambda t, x, b: (x + x * 2).to_dense(), "softmax": lambda t, x, b: t.sparse.softmax(x, 1).to_dense(),
    "log_softmax": lambda t, x, b: t.sparse.log_softmax(x, 0).to_dense(),
    "t": lambda t, x, b: t.sparse.mm(x.t(), b.t()),
    "addmm": lambda t, x, b: t.sparse.addmm(b.t() @ b, x, b, beta=2),
    "coalesce": lambda t, x, b: x.coalesce().values(), "csr": lambda t, x, b: t.sparse.mm(x.to_sparse_csr(), b),
    "sparse mm": lambda t, x, b: t.sparse.mm(x, x.t()).to_dense(),
    "neg": lambda t, x, b: (-x).to_dense(), "stack": lambda t, x, b: t.stack([x, x]).to_dense(),
    "transposed": lambda t, x, b: x.transpose(0, 1).to_dense()}
# What genuine PyTorch has no gradients of, and the same of strided tensors.
MORE = {"sin": (lambda x: x.sin(), lambda x: x.sin()), "rows": (lambda x: x[2], lambda x: x[2]),
        "index_select": (lambda x: x.index_select(0, dt.tensor([1, 1, 3])), lambda x: x[[1, 1, 3]]),
        "narrow": (lambda x: x.narrow(1, 1, 2), lambda x: x[:, 1:3]), "norm": (lambda x: x.norm(), lambda x: x.norm())}


@each("name", list(COMPUTE))
def test_gradients_of_values_agree_with_genuine(name):
    found = []
    for t in (dt, torch):
        draw = np.random.RandomState(0)
        indices = t.tensor(np.stack([draw.randint(0, 4, 9), draw.randint(0, 5, 9)]))
        values, b = strided(t, 1, (9,)).requires_grad_(), strided(t, 2, (5, 4)).requires_grad_()
        made = COMPUTE[name](t, t.sparse_coo_tensor(indices, values, (4, 5)), b)
        grads = t.autograd.grad((made ** 2).sum(), (values, b), allow_unused=True)
        found.append([None if grad is None else grad.to_dense().numpy() for grad in grads])
    for mine, genuine in zip(*found):
        assert (mine is None) == (genuine is None) and (mine is None or np.allclose(mine, genuine))


@pytest.mark.parametrize("name", list(MORE))
def test_gradients_of_values_agree_with_strided_ones(name):
    indices, values = dt.tensor([[0, 2, 2, 3], [1, 0, 1, 2]]), strided(dt, 1, (4,)).requires_grad_()
    found = []
    for compute, convert in zip(MORE[name], (lambda x: x, lambda x: x.to_dense())):
        made = compute(convert(dt.sparse_coo_tensor(indices, values, (4, 5))))
        made = made.to_dense() if made.is_sparse else made
        found.append(dt.autograd.grad((made ** 2).sum(), values)[0].numpy())
    assert np.allclose(*found)


def test_a_sparse_leaf_has_a_sparse_gradient():
    for t in (dt, torch):
        x = t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [4., 4., 5.], (2, 3)).requires_grad_()
        assert x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None
        for times in (1, 2):
            t.sparse.mm(x, t.ones(3, 2)).sum().backward()
            assert x.grad.layout is t.sparse_coo and x.grad._values().tolist() == [2. * times] * 3
        assert t.autograd.grad(t.sparse.sum(x), x)[0].coalesce().indices().tolist() == [[0, 1, 1], [2, 0, 2]]
        assert not x.detach().requires_grad and "requires_grad=True" in repr(x) and "grad_fn=<Mul" in repr(x * 2)
        made = t.sparse_coo_tensor([[0]], t.ones(1, requires_grad=True), (1,))
        assert made.requires_grad and not made.is_leaf
        x.grad = None
        assert x.grad is None


def test_to_sparse_is_recorded():
    for t in (dt, torch):
        d = t.ones(2, 3, requires_grad=True)
        assert t.autograd.grad(t.sparse.sum(d.to_sparse() * 3), d)[0].tolist() == [[3.] * 3] * 2


def test_gradcheck_of_values():
    check = dt.sparse.as_sparse_gradcheck(dt.autograd.gradcheck)
    x = dt.sparse_coo_tensor([[0, 1], [1, 0]], [1., 2.], (2, 2), dtype=dt.float64).coalesce().requires_grad_()
    assert check(dt.sparse.mm, (x, dt.ones(2, 3, dtype=dt.float64, requires_grad=True)), masked=True)


def tables(t, **options):
    table = t.nn.Embedding(6, 2, sparse=True, **options)
    table.weight.data = t.arange(12.).reshape(6, 2) / 10
    return table


def test_rows_of_tables_have_sparse_gradients():
    for t in (dt, torch):
        table = tables(t, padding_idx=0)
        for _ in range(2):
            (table(t.tensor([[1, 3], [0, 1]])) * t.arange(8.).reshape(2, 2, 2)).sum().backward()
        grad = table.weight.grad
        assert grad.is_sparse and not grad.is_coalesced() and grad.shape == (6, 2)
        assert grad.to_dense().tolist() == [[0, 0], [12, 16], [0, 0], [4, 6], [0, 0], [0, 0]]
        w = t.ones(2, 3, requires_grad=True)
        t.gather(w, 0, t.tensor([[0, 1, 1]]), sparse_grad=True).sum().backward()
        assert w.grad.is_sparse and w.grad.to_dense().tolist() == [[1, 0, 0], [0, 1, 1]]
        with pytest.raises(RuntimeError, match="scale_grad_by_freq"):
            t.nn.functional.embedding(t.tensor([1]), w, sparse=True, scale_grad_by_freq=True).sum().backward()


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 1])
def test_bags_have_sparse_gradients(mode, padding):
    found = []
    for t in (dt, torch):
        weight = strided(t, 3, (6, 2)).requires_grad_()
        factors = strided(t, 4, (5,)).requires_grad_() if mode == "sum" else None
        made = t.nn.functional.embedding_bag(t.tensor([1, 4, 4, 0, 1]), weight, t.tensor([0, 2, 2]), mode=mode,
                                             sparse=True, per_sample_weights=factors, padding_idx=padding)
        (made ** 2).sum().backward()
        assert weight.grad.is_sparse
        found.append([weight.grad.to_dense().numpy(), 0 if factors is None else factors.grad.numpy()])
    assert all(np.allclose(mine, genuine) for mine, genuine in zip(*found))


@pytest.mark.parametrize("name, options", [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "maximize": True}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}), ("Adagrad", {"maximize": True}),
    ("SparseAdam", {"lr": 0.1}), ("SparseAdam", {"betas": (0.5, 0.7), "eps": 1e-3, "maximize": True})])
def test_optimizers_agree_with_genuine(name, options):
    found = []
    for t in (dt, torch):
        table = tables(t)
        optimizer = getattr(t.optim, name)(table.parameters(), **options)
        for step in range(4):
            optimizer.zero_grad()
            (table(t.tensor([step, 1, 1])) ** 2).sum().backward()
            optimizer.step()
        found.append(table.weight.detach().numpy())
    assert np.allclose(*found, rtol=1e-5, atol=1e-7)


@each("name", ["Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD"])
def test_other_optimizers_refuse(name):
    for t in (dt, torch):
        table = tables(t)
        table(t.tensor([1])).sum().backward()
        with pytest.raises(RuntimeError, match="does not support sparse gradients"):
            getattr(t.optim, name)(table.parameters()).step()


def test_clipping_counts_equal_indices_together():
    table = tables(dt)
    table(dt.tensor([1, 1])).sum().backward()
    assert dt.nn.utils.clip_grad_norm_(table.parameters(), 0.1).item() == pytest.approx(8 ** 0.5)
    assert dt.allclose(table.weight.grad.to_dense()[1], dt.full((2,), 0.1 / 2 ** 0.5), rtol=1e-4)


def test_functions_may_return_sparse_gradients():
    class Rows(dt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, grad):
            return dt.sparse_coo_tensor([[1]], dt.ones(1, 2) * grad, (3, 2))

    x = dt.ones(3, 2, requires_grad=True)
    (Rows.apply(x) + Rows.apply(x)).backward()
    assert x.grad.is_sparse and x.grad.to_dense().tolist() == [[0, 0], [2, 2], [0, 0]]
    (Rows.apply(x) + x.sum()).backward()
    assert x.grad.to_dense().tolist() == [[1, 1], [4, 4], [1, 1]]


def test_functions_of_sparse_tensors_that_would_lose_gradients_are_refused():
    class Same(dt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.to_sparse()

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    plain, x = dt.ones(2, 2), dt.ones(2, 2).to_sparse()
    assert Same.apply(plain, x).is_sparse
    with pytest.raises(NotImplementedError, match="Same: got a sparse tensor that requires grad"):
        Same.apply(plain, x.clone().requires_grad_())
    with pytest.raises(NotImplementedError, match="Same: got a sparse result of forward"):
        Same.apply(plain.requires_grad_(), x)
