"""Values in one process: sums of devices, optimizers, rows, two bits, and what is refused."""
import functools

import numpy as np
import pytest

import dragon
from dragon import ops
from dragon.distributed import kvstore
from dragon.distributed.kvstore.rows import Rows


def numbers(*values):
    return dragon.tensor(np.asarray(values, "float32"))


def shown(value):
    return np.asarray(value).tolist()


@pytest.mark.parametrize("kind", ["local", "device"])
def test_a_pushed_sum_takes_the_place_of_what_was_there(kind):
    store = kvstore.create(kind)
    store.init(3, numbers(1, 1))
    assert shown(store.pull(3)) == [1, 1]
    store.push(3, [numbers(1, 2), numbers(3, 4), numbers(5, 6)])
    outs = [numbers(0, 0), numbers(9, 9)]
    store.pull(3, out=outs)
    assert [shown(out) for out in outs] == [[9, 12], [9, 12]]
    store.init(["a", "b"], [numbers(1), numbers(2)])
    store.push(["a", "b"], [[numbers(3), numbers(4)], numbers(5)])
    assert [shown(value) for value in store.pull(["a", "b"])] == [[7], [5]]
    values = [numbers(1, 1), numbers(2, 3)]
    store.pushpull(3, values)
    assert [shown(value) for value in values] == [[3, 4], [3, 4]]
    out = numbers(0)
    store.broadcast("c", numbers(8), out)
    assert shown(out) == [8] and (store.rank, store.num_workers, store.type) == (0, 1, kind)


def test_what_was_given_is_nobody_else_s_memory():
    store, first = kvstore.create(), numbers(1, 2)
    store.init("w", first)
    store.push("w", numbers(5, 6))
    found = store.pull("w")
    store.push("w", numbers(7, 8))
    assert shown(first) == [1, 2] and shown(found) == [5, 6]


def test_extremes():
    store = kvstore.create("device")
    values = {"empty": np.zeros((0, 3), "float32"), "number": np.float32(2), "wide": np.int64([2**40])}
    for key, value in values.items():
        store.init(key, dragon.tensor(value))
        store.push(key, [dragon.tensor(value)] * 2)
        assert (np.asarray(store.pull(key)) == 2 * value).all() and np.asarray(store.pull(key)).dtype == value.dtype
    turned = dragon.tensor(np.arange(6, dtype="float32").reshape(2, 3)).T
    store.init("turned", turned)
    store.push("turned", turned)
    assert shown(store.pull("turned")) == [[0, 3], [1, 4], [2, 5]]
    leaf = dragon.tensor(np.float32([1]), requires_grad=True)
    store.init("leaf", leaf * 2)
    assert not store.pull("leaf").requires_grad


class Momentum:
    """An optimizer as MXNet's are."""

    def create_state(self, key, weight):
        return ops.full_like(weight, 0)

    def update(self, key, weight, gradient, state):
        ops.copy(state * 0.5 + gradient, out=state)
        ops.copy(weight - state * 0.1, out=weight)


def test_optimizers_update_what_is_kept(tmp_path):
    store = kvstore.create()
    store.init("w", numbers(1, 2))
    store.set_optimizer(Momentum())
    gradient, weight, state = np.float32([1, -2]), np.float32([1, 2]), np.zeros(2, "float32")
    for step in range(4):
        store.push("w", [dragon.tensor(gradient), dragon.tensor(gradient)])
        state = state * 0.5 + 2 * gradient
        weight = weight - state * np.float32(0.1)
        assert np.allclose(np.asarray(store.pull("w")), weight, 1e-6)
        if step == 1:
            store.save_optimizer_states(tmp_path / "states", dump_optimizer=True)
            other = kvstore.create()
            other.init("w", dragon.tensor(weight))
            other.set_optimizer(Momentum())
            other.load_optimizer_states(tmp_path / "states")
    for _ in range(2):
        other.push("w", dragon.tensor(2 * gradient))
    assert np.allclose(np.asarray(other.pull("w")), weight, 1e-6)


def test_optimizers_of_dragon_and_functions(tmp_path):
    store = kvstore.create()
    store.init("w", numbers(1, 2))
    make = functools.partial(dragon.optimizers.Adam, lr=0.1)
    store.set_optimizer(make)
    w = dragon.tensor(np.float32([1, 2]), requires_grad=True)
    alone = make([w])
    for step in range(4):
        store.push("w", numbers(1, -3))
        w.grad = numbers(1, -3)
        alone.step()
        assert shown(store.pull("w")) == shown(w.detach())
        if step == 1:
            store.save_optimizer_states(tmp_path / "states")
            store.load_optimizer_states(tmp_path / "states")
    store._set_updater(lambda key, gradient, kept: ops.copy(kept + 2 * gradient, out=kept))
    before = np.asarray(store.pull("w"))
    store.push("w", numbers(1, 1))
    assert np.allclose(np.asarray(store.pull("w")), before + 2)


def test_rows():
    store = kvstore.create("device")
    store.init("table", dragon.tensor(np.arange(8, dtype="float32").reshape(4, 2)))
    rows = store.row_sparse_pull("table", row_ids=dragon.tensor(np.int64([3, 1, 3])))
    assert shown(rows.indices) == [1, 3] and shown(rows.values) == [[2, 3], [6, 7]]
    out = dragon.tensor(np.ones((4, 2), "float32"))
    store.row_sparse_pull("table", out, row_ids=np.int32([0]))
    assert shown(out) == [[0, 1], [0, 0], [0, 0], [0, 0]]
    assert shown(store.row_sparse_pull("table", row_ids=np.int64([])).indices) == []
    seen = []
    store._set_updater(lambda key, gradient, kept: seen.append(gradient))
    store.push("table", [Rows(np.int64([2, 0, 2]), np.float32([[1, 1], [2, 2], [3, 3]])),
                         Rows(np.int64([0]), np.float32([[4, 4]]))])
    assert shown(seen[0].indices) == [0, 2] and shown(seen[0].values) == [[6, 6], [4, 4]]
    store._set_updater(None)
    store.push("table", seen[0])
    assert shown(store.pull("table")) == [[6, 6], [0, 0], [4, 4], [0, 0]]
    for wrong in ([4], [-1]):
        with pytest.raises(IndexError, match="expected 0 to 3"):
            store.row_sparse_pull("table", row_ids=np.int64(wrong))
        with pytest.raises(IndexError, match="expected 0 to 3"):
            store.push("table", Rows(np.int64(wrong), np.float32([[1, 1]])))


def test_two_bits_make_up_for_what_they_leave_out():
    bits, rng = kvstore.TwoBits(0.5), np.random.default_rng(0)
    for shape in ((), (0,), (3,), (5, 7)):
        left = np.zeros(shape, "float32")
        for _ in range(5):
            gradient = rng.normal(size=shape).astype("float32")
            left = left + gradient
            said = np.where(left >= 0.5, 0.5, np.where(left <= -0.5, -0.5, 0)).astype("float32")
            left = left - said
            data = bits.encode(shape, dragon.tensor(gradient))
            assert data.dtype == dragon.uint8 and len(data) == -(-gradient.size // 4)
            assert (np.asarray(bits.decode(data, dragon.tensor(gradient))) == said).all()
    store = kvstore.create("device")
    store.init("w", numbers(0, 0, 0))
    store.set_gradient_compression({"type": "2bit", "threshold": 2.0})
    store.push("w", [numbers(1, 3, -5), numbers(1, -3, -2)])
    assert shown(store.pull("w")) == [0, 0, -4]
    store.push("w", [numbers(1, 0, 0), numbers(0, 0, 0)])
    assert shown(store.pull("w")) == [2, 0, -2]  # the first has 2, the third -3 left of before


def test_classes_of_users():
    @kvstore.KVStoreBase.register
    class Mine(kvstore.KVStoreBase):
        pass

    try:
        store = kvstore.create("MINE")
        assert type(store) is Mine and not store.is_capable("optimizer")
        with pytest.raises(NotImplementedError, match="Mine.pushpull"):
            store.pushpull("w", numbers(1))
    finally:
        del kvstore.KVStoreBase.kinds["mine"]
    with pytest.raises(TypeError, match="derives from KVStoreBase"):
        kvstore.KVStoreBase.register(int)


def refusals():
    store = kvstore.create("device")
    store.init("w", numbers(1, 2))
    return {
        "second time": (ValueError, lambda: store.init("w", numbers(1))),
        "expected one of .'w'": (KeyError, lambda: store.push("v", numbers(1))),
        "shape .3,. for the key 'w'": (ValueError, lambda: store.push("w", numbers(1, 2, 3))),
        "tensor of shape .1,.": (ValueError, lambda: store.pull("w", numbers(1))),
        "an integer or a string": (TypeError, lambda: store.init(1.5, numbers(1))),
        "expected a tensor or an array": (TypeError, lambda: store.push("w", "text")),
        "2 keys and 1 values": (ValueError, lambda: store.push(["w", "w"], [numbers(1, 2)])),
        "no value": (ValueError, lambda: store.push("w", [])),
        "no row_ids": (ValueError, lambda: store.row_sparse_pull("w")),
        "expected '2bit'": (ValueError, lambda: store.set_gradient_compression({"type": "3bit"})),
        "more than 0": (ValueError, lambda: store.set_gradient_compression({"type": "2bit", "threshold": -1})),
        "depth": (ValueError, lambda: store.set_gradient_compression({"type": "2bit", "depth": 1})),
        "kind 'local'": (ValueError, lambda: kvstore.create().set_gradient_compression({"type": "2bit"})),
        "create_state": (TypeError, lambda: store.set_optimizer(3)),
        "without an optimizer": (ValueError, lambda: store.save_optimizer_states("nowhere")),
        "expected 'optimizer'": (ValueError, lambda: store.is_capable("flight")),
        "'device' does what": (ValueError, lambda: kvstore.create("nccl")),
        "expected a name": (TypeError, lambda: kvstore.create(3)),
    }


@pytest.mark.parametrize("words", refusals())
def test_refusals(words):
    kind, call = refusals()[words]
    with pytest.raises(kind, match=words):
        call()
