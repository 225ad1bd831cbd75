"""Random numbers on the device are genuine PyTorch's on a GPU: published ones, and a slow version of its algorithm."""
import copy
import pickle

import numpy
import pytest

from dragon.vm import torch as dt
from harness.philox import Stream

SEEDS = [0, 42, 2 ** 40 + 7, 2 ** 64 - 1]
# Around blocks of threads, and beyond a round of all threads of a card.
COUNTS = [1, 2, 3, 255, 256, 257, 1000, 4099]
CLOSE = {"float32": 2e-6, "float64": 1e-12}


@pytest.fixture
def most(device):
    """How many threads the device runs at once, by which large tensors are spread."""
    facts = dt.cuda.get_device_properties()
    return facts.multi_processor_count * (facts.max_threads_per_multi_processor // 256 * 256)


def both(seed, most):
    """Return the default stream of the device, seeded, and the slow one."""
    dt.manual_seed(seed)
    return Stream(seed, most=most)


def numbers(tensor):
    """Return a tensor's numbers."""
    return numpy.array(tensor.double().cpu() if tensor.dtype in (dt.float16, dt.bfloat16) else tensor.cpu())


def same_offset(stream):
    """Assert that the device goes on where the slow stream does."""
    state = dt.cuda.get_rng_state()
    assert state.dtype == dt.uint8 and state.device.type == "cpu"
    assert bytes(state.tolist()) == stream.seed.to_bytes(8, "little") + stream.offset.to_bytes(8, "little")


def test_published_numbers():
    """What genuine PyTorch prints on NVIDIA's GPUs."""
    dt.manual_seed(0)
    wanted = [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967]
    numpy.testing.assert_allclose(numbers(dt.rand(2, 3, device="cuda")).ravel(), wanted, atol=5e-5)
    dt.manual_seed(0)
    wanted = [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284, -1.0745, -0.3631]
    numpy.testing.assert_allclose(numbers(dt.randn(10, device="cuda")), wanted, atol=6e-5)
    dt.manual_seed(10)  # issue 79496 of pytorch/pytorch
    numpy.testing.assert_allclose(numbers(dt.randn(3, device="cuda")), [-0.1029, 1.6810, -0.2708], atol=6e-5)
    own = dt.Generator("cuda").manual_seed(43)  # issue 62467
    noise = dt.empty(1, 3, 128, 128, device="cuda").normal_(generator=own)
    numpy.testing.assert_allclose(numbers(noise[0, :, 0, 0]), [1.9983, 0.8704, 2.1127], atol=6e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reals(seed, dtype, most):
    """Each kind after the other, from one stream."""
    stream, close, least = both(seed, most), CLOSE[dtype], numpy.finfo(dtype).eps / 2
    for count in COUNTS:
        y = dt.empty(count, dtype=getattr(dt, dtype), device="cuda")
        u = stream.uniform(count, dtype)
        numpy.testing.assert_array_equal(numbers(y.uniform_()), numpy.where(u == 1, 0, u).astype(dtype))
        same_offset(stream)
        u = stream.uniform(count, dtype)
        numpy.testing.assert_allclose(numbers(y.uniform_(-3, 5)), u * 8 - 3, rtol=close, atol=close * 5)
        numpy.testing.assert_allclose(numbers(y.normal_()), stream.normal(count, dtype), rtol=close, atol=close)
        numpy.testing.assert_allclose(numbers(y.normal_(2, 3)), stream.normal(count, dtype) * 3 + 2, atol=close * 9)
        wanted = numpy.exp(stream.normal(count, dtype) * 0.5 + 1)
        numpy.testing.assert_allclose(numbers(y.log_normal_(1, 0.5)), wanted, rtol=close * 4)
        u = stream.uniform(count, dtype)
        wanted = numpy.where(u >= 1 - least, least, -numpy.log(u)) / 2
        numpy.testing.assert_allclose(numbers(y.exponential_(2)), wanted, rtol=close)
        u = stream.uniform(count, dtype).astype("float64")
        numpy.testing.assert_allclose(numbers(y.cauchy_(1, 2)), 1 + 2 * numpy.tan(numpy.pi * (u - 0.5)), rtol=2e-3)
        wanted = numpy.ceil(numpy.log(stream.uniform(count, dtype)) / numpy.log(numpy.float64(0.75)))
        assert (numbers(y.geometric_(0.25)) == wanted).mean() > 0.999
        chance = numpy.dtype(dtype).type(0.3)
        numpy.testing.assert_array_equal(numbers(y.bernoulli_(0.3)), stream.uniform(count, dtype) < chance)
        same_offset(stream)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype, most):
    """Halves are single numbers, rounded; those that round to the end become the beginning."""
    stream, kind = both(3, most), getattr(dt, dtype)
    u = numpy.array(dt.tensor(stream.uniform(4099)).to(kind).double())
    numpy.testing.assert_array_equal(numbers(dt.rand(4099, dtype=kind, device="cuda")), numpy.where(u == 1, 0, u))
    wanted = numpy.array(dt.tensor(stream.normal(4099)).to(kind).double())
    numpy.testing.assert_allclose(numbers(dt.randn(4099, dtype=kind, device="cuda")), wanted, rtol=0.01)
    same_offset(stream)


@pytest.mark.parametrize("count", [270336, 270337, 4 * 270336 + 5])
def test_more_numbers_than_threads(count, most):
    """Threads make several numbers each, as far from each other as there are threads."""
    stream = both(1, most)
    dt.rand(1, device="cuda")
    stream.take(4)
    found = numbers(dt.rand(count, device="cuda"))
    u = stream.uniform(count)
    numpy.testing.assert_array_equal(found, numpy.where(u == 1, 0, u))
    same_offset(stream)
    found = numbers(dt.randn(count // 2, dtype=dt.float64, device="cuda"))
    numpy.testing.assert_allclose(found, stream.normal(count // 2, "float64"), atol=1e-12)
    same_offset(stream)


RANGES = [(0, 10, "int64"), (-5, 2 ** 28 - 6, "int64"), (-5, 2 ** 28 - 5, "int64"), (-2 ** 40, 2 ** 62, "int64"),
          (-7, 9, "int8"), (0, 200, "uint8"), (0, 1000, "float32"), (-100, 100, "int32"), (0, 100, "float16")]


@pytest.mark.parametrize("low, high, dtype", RANGES)
def test_integers(low, high, dtype, most):
    stream = both(5, most)
    for count in COUNTS:
        found = dt.randint(low, high, (count,), dtype=getattr(dt, dtype), device="cuda")
        numpy.testing.assert_array_equal(numbers(found).astype("int64"), stream.integers(low, high, count))
        same_offset(stream)


ALL = {"bool": 2, "uint8": 2 ** 8, "int8": 2 ** 7, "int16": 2 ** 15, "int32": 2 ** 31, "float16": 2049, "bfloat16": 257,
       "float32": 2 ** 24 + 1}


@pytest.mark.parametrize("dtype", ALL)
def test_all_integers(dtype, most):
    stream = both(6, most)
    found = dt.empty(1000, dtype=getattr(dt, dtype), device="cuda").random_()
    numpy.testing.assert_array_equal(numbers(found).astype("int64"), stream.words(1000).astype("int64") % ALL[dtype])
    same_offset(stream)


@pytest.mark.parametrize("dtype, span", [("int64", 2 ** 63), ("float64", 2 ** 53 + 1)])
def test_all_long_integers(dtype, span, most):
    stream = both(6, most)
    found = dt.empty(1000, dtype=getattr(dt, dtype), device="cuda").random_()
    wanted = [(int(a) << 32 | int(b)) % span for a, b in zip(*stream.pairs(1000))]
    assert [int(number) for number in found.tolist()] == wanted
    found = dt.empty(9, dtype=dt.int64, device="cuda").random_(-2 ** 63, None).tolist()
    wanted = [(int(a) << 32 | int(b)) - (2 ** 64 if a >> 31 else 0) for a, b in zip(*stream.pairs(9))]
    assert found == wanted


def test_coins_of_probabilities(most):
    stream, chances = both(8, most), numpy.linspace(0, 1, 4099, dtype="float32")
    p = dt.tensor(chances).cuda()
    numpy.testing.assert_array_equal(numbers(dt.bernoulli(p)), stream.coins(chances))
    same_offset(stream)
    found = dt.empty(4099, dtype=dt.int32, device="cuda").bernoulli_(p.double())
    numpy.testing.assert_array_equal(numbers(found), stream.coins(chances))
    hostile = dt.tensor([float("nan"), -1.0, 2.0, float("inf")]).cuda()
    assert dt.bernoulli(hostile).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype, wide", [("float32", 4), ("float64", 2), ("float16", 8), ("bfloat16", 8)])
def test_dropout(dtype, wide, most):
    """A thread takes as many neighbours as lie on 16 bytes and divide the count."""
    stream, kind = both(9, most), getattr(dt, dtype)
    for count, neighbours in [(4096, wide), (4098, 2), (4099, 1), (4100, min(wide, 4)), (1, 1), (8, wide)]:
        x = dt.ones(count, dtype=kind, device="cuda")
        kept = stream.kept(count, neighbours, 0.7)
        numpy.testing.assert_array_equal(numbers(dt.nn.functional.dropout(x, 0.3)) != 0, kept)
        same_offset(stream)
    x = dt.ones(4097, dtype=kind, device="cuda")[1:]  # 4096 that lie beside 16 bytes
    numpy.testing.assert_array_equal(numbers(dt.nn.functional.dropout(x, 0.3)) != 0, stream.kept(4096, 1, 0.7))
    for shortcut in (dt.nn.functional.dropout(x, 0.0), dt.nn.functional.dropout(x, 1.0)):
        assert shortcut.shape == x.shape
    same_offset(stream)


def test_dropout_of_more_than_all_threads(most):
    stream = both(9, most)
    x = dt.ones(4 * most + 8, dtype=dt.float16, device="cuda")
    kept = numbers(dt.nn.functional.dropout(x, 0.5)) != 0
    numpy.testing.assert_array_equal(kept, stream.kept(len(x), 8, 0.5))
    same_offset(stream)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 64, 1000, 4099, 40000])
def test_permutation(count, most):
    """Places of equal keys, which short permutations often have, are shuffled."""
    for seed in range(12 if count < 100 else 2):
        stream = both(seed, most)
        numpy.testing.assert_array_equal(numbers(dt.randperm(count, device="cuda")), stream.permutation(count))
        same_offset(stream)


def test_long_permutation(simt, most):
    """Keys and places that are longer than a word together are sorted twice."""
    count = 2 ** 21 if not simt else 1500000
    dt.manual_seed(2)
    stream = Stream(2, most=most)
    found = numbers(dt.randperm(count, device="cuda"))
    bits = int(numpy.ceil(numpy.log2(count - (6 * float(count) ** 2 + 1) / (numpy.log(0.9) * 12))))
    high, low = stream.pairs(count)
    words = high.astype("uint64") << numpy.uint64(32) | low
    keys = words % numpy.uint64(2 ** 64 - 1) & numpy.uint64(2 ** bits - 1)
    numpy.testing.assert_array_equal(found, numpy.argsort(keys, kind="stable"))
    assert bits + 21 > 64 and len(numpy.unique(keys)) == count


def test_categories(most):
    stream = both(4, most)
    weights = numpy.array([[0, 1, 2, 0, 5], [3, 0, 0, 0, 1], [1, 1, 1, 1, 1]], "float32")
    found = dt.multinomial(dt.tensor(weights).cuda(), 300, replacement=True)
    numpy.testing.assert_array_equal(numbers(found), stream.categories(weights, 300))
    same_offset(stream)
    # The largest of weight / exponential noise win.
    u = stream.uniform(15)
    race = weights / -numpy.log(u).reshape(3, 5)
    numpy.testing.assert_array_equal(numbers(dt.multinomial(dt.tensor(weights).cuda(), 1))[:, 0], race.argmax(1))
    same_offset(stream)


def test_orders_of_memory(most):
    """Numbers fall in the order of memory where a tensor has no gaps; complex ones are two each."""
    stream = both(11, most)
    x = dt.empty(5, 7, device="cuda").t()
    numpy.testing.assert_array_equal(numbers(x.uniform_()).T.ravel(), stream.uniform(35))
    z = dt.randn(100, dtype=dt.complex64, device="cuda")
    wanted = stream.normal(200).reshape(100, 2) * numpy.sqrt(numpy.float32(0.5))
    numpy.testing.assert_allclose(numbers(dt.view_as_real(z)), wanted, rtol=1e-5, atol=1e-6)
    assert dt.rand(0, device="cuda").shape == (0,)
    same_offset(stream)


def test_states():
    """A device's state is 16 bytes, and nobody else's."""
    dt.manual_seed(7)
    cpu, before = dt.get_rng_state(), dt.cuda.get_rng_state()
    assert dt.cuda.initial_seed() == 7 and len(before) == 16
    first = dt.rand(5, device="cuda")
    assert dt.equal(dt.get_rng_state(), cpu)
    after = dt.cuda.get_rng_state()
    dt.rand(5)
    assert dt.equal(dt.cuda.get_rng_state(), after) and not dt.equal(after, before)
    dt.cuda.set_rng_state(before)
    assert dt.equal(dt.rand(5, device="cuda"), first)
    with dt.random.fork_rng():
        dt.rand(5, device="cuda")
    assert dt.equal(dt.cuda.get_rng_state(), after)
    dt.cuda.manual_seed(7)
    assert dt.equal(dt.rand(5, device="cuda"), first) and dt.initial_seed() == 7
    dt.cuda.manual_seed_all(8)
    assert dt.initial_seed() == 7 and dt.cuda.initial_seed() == 8
    dt.cuda.set_rng_state(before[:8])  # a seed alone, as states of old
    assert dt.equal(dt.rand(5, device="cuda"), first)
    dt.cuda.seed_all()
    dt.cuda.seed()
    assert dt.cuda.initial_seed() not in (7, 8)
    for wrong, error, words in [(before[:5], RuntimeError, "RNG state is wrong size"),
                                (cpu, RuntimeError, "wrong size"),
                                (before.float(), TypeError, "no tensor of bytes"), (None, TypeError, "no tensor")]:
        with pytest.raises(error, match=words):
            dt.cuda.set_rng_state(wrong)
    odd = before.clone()
    odd[8] = 3
    with pytest.raises(RuntimeError, match="offset must be a multiple of 4"):
        dt.cuda.set_rng_state(odd)


def test_generators(most):
    own = dt.Generator("cuda")
    assert own.initial_seed() == 67280421310721 and own.get_offset() == 0 and len(own.get_state()) == 16
    own.manual_seed(12)
    dt.manual_seed(12)
    first = dt.rand(5, device="cuda", generator=own)
    assert dt.equal(first, dt.rand(5, device="cuda")) and own.get_offset() == 4
    own.set_offset(0)
    assert dt.equal(first, dt.rand(5, device="cuda", generator=own))
    own.set_offset(2 ** 64 - 4)
    assert own.get_offset() == 2 ** 64 - 4
    for wrong, error in [(3, RuntimeError), (-4, OverflowError), (2 ** 64, OverflowError), (1.5, TypeError)]:
        with pytest.raises(error):
            own.set_offset(wrong)
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        dt.Generator().get_offset()
    own.set_state(dt.cuda.get_rng_state())
    other = own.clone_state()
    assert dt.equal(dt.rand(5, device="cuda", generator=own), dt.rand(5, device="cuda", generator=other))
    named = dt.cuda.default_generators[0]
    dt.cuda.manual_seed(3)
    assert named.initial_seed() == 3 and named.device == dt.device("cuda:0")
    again = pickle.loads(pickle.dumps(own))
    assert again.device == own.device and dt.equal(again.get_state(), own.get_state())
    state = copy.deepcopy(named).get_state()
    first = dt.rand(5, device="cuda")
    named.set_state(state)
    assert dt.equal(first, dt.rand(5, device="cuda", generator=named))
    own.set_offset(2 ** 40)
    own.manual_seed(1).set_offset(2 ** 40)
    u = Stream(1, 2 ** 40, most).uniform(9)
    numpy.testing.assert_array_equal(numbers(dt.rand(9, device="cuda", generator=own)), u)


def test_what_is_computed_again():
    """Checkpoints draw the device's numbers once more, and leave the stream where it was."""
    dt.manual_seed(5)
    x = dt.ones(64, device="cuda", requires_grad=True)
    y = dt.utils.checkpoint.checkpoint(lambda x: dt.nn.functional.dropout(x, 0.5), x, use_reentrant=False)
    state = dt.cuda.get_rng_state()
    y.sum().backward()
    assert dt.equal(x.grad, y) and dt.equal(dt.cuda.get_rng_state(), state)
    devices, states = dt.utils.checkpoint.get_device_states(x, 3, dt.ones(1))
    assert devices == [0] and dt.equal(states[0], state)
    dt.rand(3, device="cuda")
    dt.utils.checkpoint.set_device_states(devices, states)
    assert dt.equal(dt.cuda.get_rng_state(), state)


def test_compiled_functions():
    """Plans draw what eager calls draw."""
    def work(x):
        return dt.nn.functional.dropout(x, 0.5) + dt.rand(64, device="cuda")
    x, compiled = dt.ones(64, device="cuda"), dt.compile(work)
    compiled(x)
    dt.manual_seed(3)
    wanted = [work(x).tolist() for _ in range(3)]
    dt.manual_seed(3)
    assert [compiled(x).tolist() for _ in range(3)] == wanted


def test_offsets_of_graphs():
    """A run of a captured graph raises the offset by all its calls; eager calls go on behind it."""
    graph, x = dt.cuda.CUDAGraph(), dt.ones(64, device="cuda")

    def work():
        return dt.rand(300, device="cuda"), dt.nn.functional.dropout(x, 0.5), dt.randperm(64, device="cuda")
    work()
    with dt.cuda.graph(graph):
        made = work()
    dt.manual_seed(21)
    wanted = [work() for _ in range(2)] + [(dt.rand(3, device="cuda"),)]
    state = dt.cuda.get_rng_state()
    dt.manual_seed(21)
    for numbers_wanted in wanted[:2]:
        graph.replay()
        assert all(dt.equal(a, b) for a, b in zip(made, numbers_wanted))
    assert dt.equal(dt.rand(3, device="cuda"), wanted[2][0]) and dt.equal(dt.cuda.get_rng_state(), state)
