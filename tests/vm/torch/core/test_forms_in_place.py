"""Tensors made of others take on another form in place; what was computed of them before keeps its own."""
import pytest
import torch

from dragon.vm import torch as dt


def coordinates(t, places, values):
    return t.sparse_coo_tensor([places], values, (4,)).coalesce()


def quantized(t, values, scale):
    return t.quantize_per_tensor(t.tensor(values), scale, 0, t.qint8)


def ragged(t, lengths, layout):
    return t.nested.nested_tensor([t.ones(length, 2) for length in lengths], layout=layout)


def numbers(x):
    if x.is_nested:
        return [one.tolist() for one in x.unbind()]
    return (x.dequantize() if x.is_quantized else x.to_dense()).tolist()


# A tensor, what another is made of it by, how it becomes the next, and that.
CASES = {
    "sparse data": (lambda t: coordinates(t, [0, 2], [1., 2.]), lambda x: x * 2, "data",
                    lambda t: coordinates(t, [0, 1, 3], [5., 6., 7.])),
    "sparse copy_": (lambda t: coordinates(t, [0, 2], [1., 2.]), lambda x: x * 2, "copy_",
                     lambda t: coordinates(t, [0, 1, 3], [5., 6., 7.])),
    "sparse zero_": (lambda t: coordinates(t, [0, 2], [1., 2.]), lambda x: x.clone(), "zero_", None),
    "compressed copy_": (lambda t: t.eye(3).to_sparse_csr(), lambda x: x * 2, "copy_",
                         lambda t: t.eye(3).flip(0).to_sparse_csr()),
    "quantized copy_": (lambda t: quantized(t, [1., 2.], 0.1), lambda x: x.clone(), "copy_",
                        lambda t: quantized(t, [10., 20.], 1.0)),
    "jagged data": (lambda t: ragged(t, (2, 4), t.jagged), lambda x: x * 2, "data",
                    lambda t: ragged(t, (1, 1), t.jagged)),
    "nested data": (lambda t: ragged(t, (2, 4), t.strided), lambda x: x.clone(), "data",
                    lambda t: ragged(t, (1, 1), t.strided)),
}


@pytest.mark.parametrize("name", CASES)
def test_others_keep_their_form(name):
    make, other_of, how, make_next = CASES[name]
    found = []
    for t in (dt, torch):
        x = make(t)
        other = other_of(x)
        if how == "data":
            x.data = make_next(t)
        else:
            getattr(x, how)(*([] if make_next is None else [make_next(t)]))
        if name in ("jagged data", "nested data"):  # PyTorch's keeps its sizes, which its numbers do not fill
            assert t is torch or numbers(x) == numbers(make_next(t))
            found.append(numbers(other))
        else:
            found.append((numbers(x), numbers(other)))
    assert found[0] == found[1]


def test_a_view_sees_integers_by_its_own_scale():
    for t in (dt, torch):
        x = quantized(t, [1., 2., 3.], 0.1)
        part = x[:2]
        x.copy_(quantized(t, [10., 20., 30.], 1.0))
        assert part.int_repr().tolist() == [10, 20] and part.q_scale() == 0.1 and x.q_scale() == 1.0
