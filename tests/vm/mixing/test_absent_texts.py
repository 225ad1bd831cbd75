"""A tensor that was kept from a run that made shapes only shows its form where its numbers would be."""
import pytest

import dragon
from dragon import _C
from dragon.core.modes import shapes_only
from dragon.vm import keras, tensorflow as tf, torch


def kept(make):
    """Return what a function makes while only shapes are worked out."""
    with shapes_only():
        return make()


@pytest.mark.parametrize(("make", "text"), [
    (lambda: torch.ones(300, 300) * 2, "tensor(<no numbers>, size=(300, 300))"),
    (lambda: (torch.ones(300, 300) * 2).long() + 1, "tensor(<no numbers>, size=(300, 300))"),
    (lambda: torch.nn.Parameter(torch.ones(300, 300) * 2),
     "Parameter containing:\ntensor(<no numbers>, size=(300, 300), requires_grad=True)"),
    (lambda: tf.ones((300, 300)) * 2, "<tf.Tensor: shape=(300, 300), dtype=float32, numpy=<no numbers>>"),
    (lambda: keras.ops.ones((300, 300)) * 2, "<tf.Tensor: shape=(300, 300), dtype=float32, numpy=<no numbers>>"),
    (lambda: _C.as_class(torch.ones(300, 300) * 2, dragon.Tensor), "Tensor(shape=(300, 300), dtype=float32)")])
def test_texts(make, text):
    x = kept(make)
    found = repr(x)
    assert found.replace(", dtype=torch.int64", "") == text
    assert "300" in str(x)
    with pytest.raises(RuntimeError, match="only shapes were worked out"):
        x.numpy() if not getattr(x, "requires_grad", False) else x.detach().numpy()
