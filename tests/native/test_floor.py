"""What tapes of other faces ask of the engine: histories that begin with the tape, numbers that stay as they were."""
import dragon
from dragon import _C


def test_history_begins_at_the_floor():
    w = dragon.tensor([2.0, 3.0]).requires_grad_()
    old = w * w
    before = _C.exchange_history_floor(_C.next_sequence())
    try:
        assert not old.requires_grad and w.requires_grad
        new = old * w
        (dw,) = dragon.grad(new, [w], grads=dragon.ones((2,)))
        assert dw.tolist() == [4.0, 9.0]
        assert not (old * 2).requires_grad
    finally:
        _C.exchange_history_floor(before)
    (dw,) = dragon.grad(old, [w], grads=dragon.ones((2,)))
    assert dw.tolist() == [4.0, 6.0]


def test_an_older_result_may_be_watched():
    w = dragon.tensor([2.0]).requires_grad_()
    old = w * w
    before = _C.exchange_history_floor(_C.next_sequence())
    try:
        old.requires_grad = True
        y = old * old
        (d_old,) = dragon.grad(y, [old])
        assert d_old.tolist() == [8.0]
        old.requires_grad = False
    finally:
        _C.exchange_history_floor(before)
    assert dragon.grad(old, [w])[0].tolist() == [4.0]


def test_saved_numbers_stay_where_a_leaf_takes_other_memory():
    w = dragon.tensor([2.0]).requires_grad_()
    _C.keep_saved(w)
    y = w * w
    assert _C.is_recorded(w)
    w.data = dragon.tensor([5.0])
    (dw,) = dragon.grad(y, [w], create_graph=True)
    assert dw.tolist() == [4.0] and w.tolist() == [5.0]
    assert dragon.grad(dw, [w])[0].tolist() == [2.0]
    del y, dw
    assert not _C.is_recorded(w)
