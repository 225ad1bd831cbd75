"""Values of several processes: pushes that wait for each other, and those that do not."""
from harness.ranks import Ranks, in_group, run_ranks

HEAD = in_group() + '''
import functools
from dragon.distributed import kvstore
from dragon.distributed.kvstore.rows import Rows

def numbers(*values):
    return dragon.tensor(np.asarray(values, "float32"))

def shown(value):
    return np.asarray(value).tolist()

def refused(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise SystemExit(f"no error, expected one with {words!r}")

class Descent:
    """An optimizer as MXNet's are."""
    def create_state(self, key, weight):
        return ops.full_like(weight, 0)
    def update(self, key, weight, gradient, state):
        gradient = gradient.whole(weight) if isinstance(gradient, Rows) else gradient
        ops.copy(state + 1, out=state)
        ops.copy(weight - gradient * 0.5, out=weight)
'''


def test_pushes_wait_for_those_of_all():
    run_ranks('''
    store = kvstore.create("dist_sync", group)
    assert (store.rank, store.num_workers, store.type) == (rank, size, "dist_sync")
    store.init("w", numbers(rank + 1, rank + 1))
    assert shown(store.pull("w")) == [1, 1]
    store.push("w", [numbers(rank, 1), numbers(10, 0)])
    assert shown(store.pull("w")) == [sum(range(size)) + 10 * size, size]
    out = numbers(0, 0)
    store.pushpull("w", numbers(1, rank), out=out)
    assert shown(out) == [size, sum(range(size))]
    # Rows, more of them in one process than in another, and none in the first.
    store.init("table", dragon.tensor(np.zeros((5, 2), "float32")))
    store.push("table", Rows(np.arange(rank), np.full((rank, 2), rank, "float32")))
    expected = np.zeros((5, 2))
    for each in range(size):
        expected[:each] += each
    assert (np.asarray(store.pull("table")) == expected).all()
    whole = dragon.tensor(np.ones((5, 2), "float32"))
    store.push("table", Rows(np.int64([1]), np.ones((1, 2), "float32")) if rank else whole)
    assert np.asarray(store.pull("table"))[:, 0].tolist() == [1, size, 1, 1, 1]
    store.set_optimizer(Descent())
    for _ in range(3):
        store.push("w", numbers(rank, 1))
    assert shown(store.pull("w")) == [size - 1.5 * sum(range(size)), sum(range(size)) - 1.5 * size]
    # Two bits: each process's numbers are rounded, what is left comes later.
    store = kvstore.create("dist_sync", group)
    store.init("w", numbers(*[0] * 5))
    store.set_gradient_compression({"type": "2bit", "threshold": 1.0})
    for step in range(1, 5):
        store.push("w", numbers(*[0.25, -0.5, 1.5, 0.0, 0.25 * rank]))
        found = shown(store.pull("w"))
        assert found[:4] == [size * (step == 4), -size * (step % 2 == 0), size, 0], (step, found)
    store.barrier()
    ''', 3, HEAD)


def test_pushes_that_wait_for_nobody():
    run_ranks('''
    store = kvstore.create("dist_async", group)
    for key in ("a", "b", 3, 4):
        store.init(key, numbers(rank + 1, 2))
        assert shown(store.pull(key)) == [1, 2]
    refused(NotImplementedError, "set_optimizer", lambda: store._set_updater(print))
    refused(TypeError, "cannot be sent", lambda: store.set_optimizer(lambda params: params))
    store.set_optimizer(Descent())
    for step in range(20 * rank):  # the first pushes nothing, the last most
        for key in ("a", "b", 3, 4):
            store.push(key, [numbers(1, 0), numbers(0, 1)])
    store.barrier()
    pushed = sum(20 * each for each in range(size))
    for key in ("a", "b", 3, 4):
        assert shown(store.pull(key)) == [1 - pushed / 2, 2 - pushed / 2]
    store.init("table", dragon.tensor(np.zeros((4, 1), "float32")))
    store.push("table", Rows(np.int64([2, 1]), np.float32([[2], [4]])))
    store.barrier()
    rows = store.row_sparse_pull("table", row_ids=np.int64([3, 1]))
    assert shown(rows.indices) == [1, 3] and shown(rows.values) == [[-2 * size], [0]]
    refused(IndexError, "expected 0 to 3", lambda: store.row_sparse_pull("table", row_ids=np.int64([7])))
    refused(KeyError, "was not called with", lambda: store.pull("c"))
    large = np.arange(300_000, dtype="float32")
    store.init("large", dragon.tensor(large))
    assert (np.asarray(store.pull("large")) == large).all()
    store.barrier()
    if rank == 0:
        store.save_optimizer_states("states", dump_optimizer=True)
        store.load_optimizer_states("states")
    store.barrier()
    store.close()
    store.close()
    refused(RuntimeError, "after `close`", lambda: store.pull("a"))
    ''', 3, HEAD)


def test_two_bits_travel_and_optimizers_of_dragon_are_sent():
    run_ranks('''
    store = kvstore.create("dist_async", group)
    store.init("w", numbers(0, 0))
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.set_optimizer(functools.partial(dragon.optimizers.SGD, lr=1.0))
    for _ in range(4):
        store.push("w", numbers(0.25, -0.75))
    store.barrier()
    assert shown(store.pull("w")) == [-size, 2 * size]
    ''', 2, HEAD)


def test_a_process_that_dies_is_told_by_the_others():
    found = Ranks('''
    import os, time
    store = kvstore.create("dist_async", group)
    store.init(["a", "b", "c", "d"], [numbers(1)] * 4)
    if rank == 1:
        os._exit(9)
    time.sleep(0.5)
    try:
        for key in ("a", "b", "c", "d"):
            store.pull(key)
    except RuntimeError as error:
        assert "rank 1" in str(error), error
    else:
        raise SystemExit("no error")
    ''', 2, HEAD).finish(60)
    assert [status for status, _, _ in found] == [0, 9], found[0][2]
