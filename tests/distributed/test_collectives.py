"""Collectives of processes that share memory: random ones beside NumPy, their gradients, and extremes."""
import pytest
from harness.ranks import in_group, run_ranks

RANDOM = '''
rng = np.random.default_rng(SEED)  # the same on all ranks
REDUCE = {"sum": np.add, "maximum": np.maximum, "minimum": np.minimum, "product": np.multiply}
for step in range(150):
    shape = tuple(int(n) for n in rng.integers(0, [7, 50, 30][:rng.integers(1, 4)]))
    if rng.random() < 0.3:
        shape = (int(rng.integers(0, 300_000)),)
    dtype = str(rng.choice(["float32", "float64", "int64", "int8", "float16"]))
    wholes = [rng.integers(-3, 4, (size * shape[0], *shape[1:])).astype(dtype) for _ in range(size)]
    parts = [whole[:shape[0]] for whole in wholes]
    root, reduction = int(rng.integers(size)), str(rng.choice(list(REDUCE)))
    reduced = REDUCE[reduction].reduce(wholes).astype(dtype)
    rows = slice(rank * shape[0], (rank + 1) * shape[0])
    whole, part, here = dragon.tensor(wholes[rank]), dragon.tensor(parts[rank]), rank == root
    made = {
        "all_reduce": lambda: (ops.all_reduce(whole, g, reduction), reduced),
        "in place": lambda: (ops.all_reduce(whole, g, reduction, out=whole), reduced),
        "all_gather": lambda: (ops.all_gather(part, g), np.concatenate(parts)),
        "reduce_scatter": lambda: (ops.reduce_scatter(whole, g, reduction), reduced[rows]),
        "broadcast_from": lambda: (ops.broadcast_from(whole, g, root), wholes[root]),
        "reduce_to": lambda: (ops.reduce_to(whole, g, root, reduction), reduced if here else wholes[rank]),
        "all_to_all": lambda: (ops.all_to_all(whole, g), np.concatenate([each[rows] for each in wholes])),
        "gather_to": lambda: (ops.gather_to(part, g, root), np.concatenate(parts)[:None if here else 0]),
        "scatter_from": lambda: (ops.scatter_from(whole if here else part, g, root), wholes[root][rows]),
    }
    name = str(rng.choice(list(made)))
    found, wanted = made[name]()
    found = np.asarray(found)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (name, shape, dtype, found.shape)
    assert (found == wanted).all(), (name, shape, dtype, reduction, root)
'''


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.long("several processes compute hundreds of collectives, and NumPy computes them again")
def test_random_collectives_are_as_numpy_has_them(size):
    run_ranks(RANDOM.replace("SEED", str(size)), size, in_group())


def test_gradients_go_the_other_way():
    run_ranks('''
    def gradient(call, weights):
        x = dragon.tensor(np.arange(4.0, dtype="float32") + rank, requires_grad=True)
        y = call(x)
        y.backward(dragon.tensor(np.asarray(weights, "float32")))
        return np.asarray(x.grad).tolist()
    w = [1.0 + rank, 2.0, 3.0, 4.0]
    total = [3.0, 4.0, 6.0, 8.0]
    assert gradient(lambda x: ops.all_reduce(x, g), w) == total
    assert gradient(lambda x: ops.all_reduce(x, g, "average"), w) == [each / 2 for each in total]
    assert gradient(lambda x: ops.all_gather(x, g), [*range(8)]) == [2.0 * (each + 4 * rank) for each in range(4)]
    assert gradient(lambda x: ops.reduce_scatter(x, g), [1.0 + rank, 5.0]) == [1.0, 5.0, 2.0, 5.0]
    assert gradient(lambda x: ops.broadcast_from(x, g, 1), w) == (total if rank == 1 else [0.0] * 4)
    assert gradient(lambda x: ops.reduce_to(x, g, 0), w) == [1.0, 2.0, 3.0, 4.0]
    assert gradient(lambda x: ops.all_to_all(x, g), [10.0 * rank + each for each in range(4)]) == [
        [0.0, 1.0, 10.0, 11.0], [2.0, 3.0, 12.0, 13.0]][rank]
    assert gradient(lambda x: ops.all_to_all(x, g, [1, 3], [1 + 2 * rank] * 2), [5.0] * (2 + 4 * rank)) == [5.0] * 4
    both = [float(each) for each in range(8)]
    assert gradient(lambda x: ops.gather_to(x, g, 0), both if rank == 0 else []) == both[4 * rank:4 * rank + 4]
    assert gradient(lambda x: ops.scatter_from(x, g, 0, [2]), [1.0 + rank] * 2) == (
        [1.0, 1.0, 2.0, 2.0] if rank == 0 else [0.0] * 4)
    try:
        gradient(lambda x: ops.all_reduce(x, g, "maximum"), w)
        raise SystemExit("no error")
    except NotImplementedError as error:
        assert "maximum" in str(error)
    ''', 2, in_group())


def test_extremes():
    run_ranks('''
    def refused(call, *words):
        try:
            call()
        except Exception as error:
            assert all(word in str(error) for word in words), error
        else:
            raise SystemExit(f"no error, expected one of {words}")
    x = dragon.tensor(np.float32([np.nan, np.inf, -1e30, 1.0 + rank]))
    assert np.isnan(np.asarray(ops.all_reduce(x, g, "maximum"))[0])
    assert np.asarray(ops.all_reduce(x, g))[1] == np.inf and np.asarray(ops.all_reduce(x, g))[3] == 3
    assert np.asarray(ops.all_reduce(dragon.tensor(np.float32(2.0)), g)).shape == ()
    truths = ops.all_reduce(dragon.tensor(np.array([True, False]) & (rank == 0)), g)
    assert np.asarray(truths).tolist() == [True, False]
    bits = dragon.tensor(np.array([5, 3 + rank], "int64"))
    assert [np.asarray(ops.all_reduce(bits, g, how)).tolist() for how in ("and", "or", "xor")] == [
        [5, 0], [5, 7], [0, 7]]
    c = ops.all_reduce(dragon.tensor(np.complex64([1 + 2j, rank])), g, "product")
    assert np.asarray(c).tolist() == [(1 + 2j) ** 2, 0]
    halves = ops.all_reduce(dragon.tensor(np.full(9, 60000, "float16")), g, "average")
    assert (np.asarray(halves) == 60000).all()  # the sum would not fit
    turned = dragon.tensor(np.arange(12.0, dtype="float32").reshape(3, 4) * (rank + 1)).T
    assert (np.asarray(ops.all_reduce(turned, g)) == np.arange(12.0).reshape(3, 4).T * 3).all()
    ops.all_reduce(turned, g, out=turned)
    assert (np.asarray(turned) == np.arange(12.0).reshape(3, 4).T * 3).all()
    refused(lambda: ops.all_reduce(x, g, "median"), "median", "sum")
    refused(lambda: ops.all_reduce(x, 10 ** 6), "group 1000000")
    refused(lambda: ops.all_reduce(bits, g, "sum", out=x), "shape (4,)")
    refused(lambda: ops.all_reduce(x, g, "xor"), "xor", "float32")
    refused(lambda: ops.all_reduce(dragon.tensor(np.complex64([1])), g, "maximum"), "maximum", "complex64")
    refused(lambda: ops.reduce_scatter(dragon.tensor(np.array([True] * 2)), g, "average"), "average", "bool")
    refused(lambda: ops.broadcast_from(x, g, 2), "rank 2")
    refused(lambda: ops.broadcast_from(x, g, -1), "rank -1")
    refused(lambda: ops.reduce_scatter(dragon.tensor(np.zeros(3, "float32")), g), "(3,)")
    refused(lambda: ops.all_to_all(x, g, [1, 2], None), "sends")
    refused(lambda: ops.all_to_all(x, g, [-1, 5], [2, 2]), "sends")
    refused(lambda: ops.all_to_all(x, g, [2, 2], [rank, 3]), "bytes that rank")
    # What is not of one kind on all ranks is told by all, and the group goes on.
    refused(lambda: ops.all_reduce(dragon.tensor(np.zeros(2 + rank, "float32")), g), "of 2 elements", "of 3 elements")
    refused(lambda: ops.all_reduce(x, g) if rank == 0 else ops.all_gather(x, g), "all_reduce(sum)", "all_gather")
    refused(lambda: ops.all_reduce(x, g, "sum" if rank else "product"), "(sum)", "(product)")
    assert np.asarray(ops.all_reduce(x, g))[3] == 3
    ''', 2, in_group())


def test_sheets_may_be_small_but_have_a_part_for_each():
    run_ranks('''
    from dragon.distributed.stores.prefix import PrefixStore
    for number, count in enumerate((192, 1000, 4096, 70_000)):
        small = ProcessGroup(PrefixStore(f"small {number} ", store), rank, size, 30.0, sheet_bytes=count)
        for length in (1, 15, 16, 255, 3000, 20_000):
            x = np.arange(length, dtype=np.float32) + rank
            parts = [np.arange(length, dtype=np.float32) + other for other in range(size)]
            x = _C.from_buffer(x, dragon.Tensor)
            assert np.array_equal(ops.all_reduce(x, small.number), sum(parts)), (count, length)
            assert np.array_equal(ops.all_gather(x, small.number), np.concatenate(parts))
            assert np.array_equal(ops.broadcast_from(x, small.number, 1), parts[1])
    for count in (0, 1, 64, 191):
        try:
            ProcessGroup(PrefixStore(f"none {count} ", store), rank, size, 5.0, sheet_bytes=count)
        except ValueError as error:
            assert f"got sheets of {count} bytes, expected at least 192" in str(error), error
        else:
            raise AssertionError(count)
    ''', 2, in_group())
