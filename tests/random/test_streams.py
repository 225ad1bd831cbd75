"""Equal seeds give PyTorch's own numbers: every sampler, dtype and odd length, to the last bit."""
import copy
import pickle

import numpy
import pytest
import torch

import dragon
from dragon.vm import torch as dt
from harness.subresults import each

ops = dragon.ops
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64] + HALVES
SEEDS = [0, 5, 123456789012]


def ours(dtype):
    """Return the dtype of the same name."""
    return dragon.bool_ if dtype == torch.bool else getattr(dragon, str(dtype).split(".")[1])


def numbers(tensor):
    """Return a tensor of either kind as a NumPy array."""
    if isinstance(tensor, torch.Tensor):
        return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    return numpy.array(ops.cast(tensor, dragon.float32) if tensor.dtype == dragon.bfloat16 else tensor)


def given(tensor):
    """Return a tensor of ours with the numbers of one of theirs."""
    made = dragon.from_numpy(numpy.array(numbers(tensor)))
    return ops.cast(made, ours(tensor.dtype))


def seed(value):
    """Seed both."""
    torch.manual_seed(value)
    dragon._C.default_generator().manual_seed(value)


def check(theirs, mine):
    numpy.testing.assert_array_equal(numbers(mine), numbers(theirs), strict=True)


LIKE = {
    "uniform": [((), {}), ((-3.3, 7.1), {})],
    "normal": [((), {}), ((1.5, 0.3), {})],
    "exponential": [((), {}), ((1.7,), {})],
    "cauchy": [((), {}), ((1.0, 2.0), {})],
    "log_normal": [((0.5, 2.0), {})],
    "geometric": [((0.3,), {})],
}


@each("name", LIKE)
@each("dtype", FLOATS, ids=str)
def test_samplers_in_the_shape_of_a_tensor(name, dtype):
    for value in SEEDS:
        for args, kwargs in LIKE[name]:
            seed(value)
            for shape in [(1,), (15,), (16,), (17,), (100,), (3, 7, 11), (2001,), (0,), ()]:
                theirs = getattr(torch.empty(shape, dtype=dtype), name + "_")(*args, **kwargs)
                check(theirs, getattr(ops, name)(ops.empty(shape, dtype=ours(dtype)), *args, **kwargs))


@each("dtype", INTEGERS + [torch.bool] + FLOATS, ids=str)
def test_integers(dtype):
    high = 2 if dtype == torch.bool else 100
    for value in SEEDS:
        seed(value)
        check(torch.empty(300, dtype=dtype).random_(), ops.random(ops.empty((300,), dtype=ours(dtype))))
        check(torch.randint(0, high, (30, 7), dtype=dtype), ops.randint(0, high, (30, 7), dtype=ours(dtype)))
        if dtype != torch.bool:
            check(torch.randperm(97, dtype=dtype), ops.randperm(97, dtype=ours(dtype)))


@pytest.mark.parametrize("bounds", [(0, 2**28 - 1), (0, 2**28), (-7, 2**32), (-2**40, 2**61), (-2**63, None),
                                    (5, None)])
def test_ranges_of_integers(bounds):
    seed(3)
    check(torch.empty(99, dtype=torch.int64).random_(*bounds),
          ops.random(ops.empty((99,), dtype=dragon.int64), *bounds))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_creation(dtype):
    seed(9)
    options = {"dtype": dtype}
    mine = {"dtype": ours(dtype)}
    check(torch.rand(3, 5, **options), ops.rand((3, 5), **mine))
    check(torch.randn(3, 5, **options), ops.randn((3, 5), **mine))
    check(torch.randn(33, 5, **options), ops.randn((33, 5), **mine))
    like = torch.zeros(4, 5, **options)
    check(torch.rand_like(like), ops.rand_like(given(like)))
    check(torch.randn_like(like), ops.randn_like(given(like)))
    check(torch.randint_like(like, 3, 9), ops.randint_like(given(like), 3, 9))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_coins(dtype):
    p = torch.rand(7, 13, generator=torch.Generator().manual_seed(1)).to(dtype)
    seed(4)
    check(torch.bernoulli(p), ops.bernoulli(given(p)))
    check(torch.empty(50, dtype=dtype).bernoulli_(0.3), ops.bernoulli_like(ops.empty((50,), dtype=ours(dtype)), 0.3))
    flags = ops.empty((7, 13), dtype=dragon.bool_)
    check(torch.empty(7, 13, dtype=torch.bool).bernoulli_(p), ops.bernoulli_of(flags, given(p)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_counts_and_amounts(dtype):
    rate = torch.rand(500, dtype=dtype, generator=torch.Generator().manual_seed(1)) * 30
    rate[:100] *= 0.03
    rate[3] = 0
    p = torch.rand(500, dtype=dtype, generator=torch.Generator().manual_seed(2))
    p[0], p[1] = 0, 1
    seed(6)
    check(torch.poisson(rate), ops.poisson(given(rate)))
    check(torch._standard_gamma(rate), ops.standard_gamma(given(rate)))
    check(torch.binomial(rate.floor() * 3, p), ops.binomial(given(rate.floor() * 3), given(p)))


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_categories(replacement, dtype):
    weights = torch.rand(5, 40, dtype=dtype, generator=torch.Generator().manual_seed(1))
    for value in SEEDS:
        seed(value)
        for count in (1, 2, 17):
            check(torch.multinomial(weights, count, replacement),
                  ops.multinomial(given(weights), count, replacement))
            check(torch.multinomial(weights[0], count, replacement),
                  ops.multinomial(given(weights[0]), count, replacement))


@each("dtype", FLOATS, ids=str)
@each("name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d",
               "dropout3d"])
def test_dropouts(name, dtype):
    shape = {"dropout1d": (4, 6, 5), "dropout2d": (4, 6, 5, 3), "dropout3d": (2, 6, 5, 3, 2)}.get(name, (4, 6, 5))
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    for p in (0.0, 0.2, 0.5, 1.0):
        seed(8)
        for training in (True, False):
            theirs = getattr(torch.nn.functional, name)(x, p, training)
            mine = getattr(ops, name)(given(x), p, training)
            if "alpha" in name:  # a sum of rounded products: the order of operations differs
                near = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-6, torch.float64: 1e-14}
                numpy.testing.assert_allclose(numbers(mine), numbers(theirs), rtol=near[dtype], atol=near[dtype])
            else:
                check(theirs, mine)


def test_gradient_of_dropout():
    x = torch.randn(40, 5, dtype=torch.float64, requires_grad=True)
    mine = given(x.detach())
    mine.requires_grad = True
    seed(2)
    theirs = torch.nn.functional.dropout(x, 0.3)
    result = ops.dropout(mine, 0.3)
    weight = torch.randn(40, 5, dtype=torch.float64)
    theirs.backward(weight)
    check(x.grad, dragon._C.grad([result], [mine], [given(weight)])[0])


def test_strided_destinations_are_filled_in_the_order_of_memory():
    seed(7)
    theirs = torch.empty(6, 8)
    mine = ops.empty((6, 8))
    theirs.t().uniform_()
    ops.uniform_(ops.t(mine))
    check(theirs, mine)
    theirs.t().normal_()
    ops.normal_(ops.t(mine))
    check(theirs, mine)
    theirs[:, ::2].uniform_()
    ops.uniform_(mine[:, ::2])
    check(theirs, mine)
    theirs[1:4, 3:5].normal_()
    ops.normal_(mine[1:4, 3:5])
    check(theirs, mine)


def test_states_are_those_of_pytorch():
    generator = dragon._C.default_generator()
    seed(11)
    assert bytes(torch.get_rng_state().numpy()) == generator.get_state()
    for draws in (1, 3, 623, 624, 1000):
        torch.rand(draws)
        ops.rand((draws,))
        assert bytes(torch.get_rng_state().numpy()) == generator.get_state()
    torch.randn(3)
    ops.randn((3,))  # leaves half of a pair
    state = generator.get_state()
    assert bytes(torch.get_rng_state().numpy()) == state
    first = numbers(ops.randn((5,)))
    generator.set_state(state)
    numpy.testing.assert_array_equal(numbers(ops.randn((5,))), first)
    check(torch.randn(5), dragon.from_numpy(first))
    generator.set_state(bytes(torch.get_rng_state().numpy()))
    check(torch.rand(7), ops.rand((7,)))


def test_generators_are_streams_of_their_own():
    seed(1)
    mine, theirs = dragon._C.Generator(), torch.Generator()
    mine.manual_seed(99)
    theirs.manual_seed(99)
    check(torch.rand(5, generator=theirs), ops.rand((5,), generator=mine))
    check(torch.rand(5), ops.rand((5,)))
    clone = mine.clone()
    numpy.testing.assert_array_equal(numbers(ops.rand((5,), generator=mine)), numbers(ops.rand((5,), generator=clone)))
    assert mine.initial_seed() == 99
    mine.manual_seed(-1)
    theirs.manual_seed(-1)
    check(torch.randperm(20, generator=theirs), ops.randperm(20, generator=mine))
    assert mine.seed() == mine.initial_seed()


def raises(kind, words, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert all(word in str(caught.value) for word in words), caught.value


def test_wrong_arguments_say_what_is_wrong():
    x = ops.zeros((3,))
    raises(ValueError, ["uniform", "low"], ops.uniform, x, 2.0, 1.0)
    raises(ValueError, ["normal", "std"], ops.normal, x, 0.0, -1.0)
    raises(ValueError, ["normal", "std"], ops.normal, x, 0.0, float("nan"))
    raises(ValueError, ["exponential", "rate"], ops.exponential, x, 0.0)
    raises(ValueError, ["geometric", "p ="], ops.geometric, x, 1.0)
    raises(ValueError, ["bernoulli_like", "p ="], ops.bernoulli_like, x, 1.5)
    raises(ValueError, ["bernoulli", "probability"], ops.bernoulli, x + 2)
    raises(ValueError, ["dropout", "p ="], ops.dropout, x, -0.1)
    raises(ValueError, ["randperm", "n = -1"], ops.randperm, -1)
    raises(ValueError, ["randint", "low < high"], ops.randint, 5, 5, (2,))
    raises(ValueError, ["randint", "uint8"], ops.randint, 0, 1000, (2,), dtype=dragon.uint8)
    raises(ValueError, ["multinomial", "without replacement"], ops.multinomial, x + 1, 4)
    raises(ValueError, ["multinomial", "sum"], ops.multinomial, x, 2)
    raises(ValueError, ["multinomial", "weight"], ops.multinomial, x - 1, 2, True)
    raises(ValueError, ["poisson", "rate"], ops.poisson, x - 1)
    raises(TypeError, ["uniform", "int64"], ops.uniform, ops.zeros((3,), dtype=dragon.int64))
    raises(ValueError, ["dropout2d"], ops.dropout2d, x)
    raises(ValueError, ["set_rng_state"], dragon._C.Generator().set_state, b"abc")
    raises(ValueError, ["set_rng_state"], dragon._C.Generator().set_state, bytes(5056))
    raises(ValueError, ["manual_seed"], dragon._C.Generator().manual_seed, 2**64)


def test_functions_of_the_native_api():
    torch.manual_seed(3)
    dragon.manual_seed(3)
    check(torch.empty(4, 5).uniform_(-2, 2), dragon.random.uniform(-2.0, 2.0, (4, 5)))
    check(torch.empty(9, dtype=torch.float64).normal_(1, 3), dragon.random.normal(1.0, 3.0, (9,), dtype=dragon.float64))
    assert dragon.random.rand(2, 3, requires_grad=True).requires_grad
    with dragon.Workspace():
        dragon.manual_seed(8)
        inner = numbers(dragon.random.rand(3))
    numpy.testing.assert_array_equal(inner, torch.rand(3, generator=torch.Generator().manual_seed(8)).numpy())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_generators(copied):
    """A copy goes on as the generator would have done, and takes nothing from it."""
    for library in (torch, dt):
        own = library.Generator().manual_seed(5)
        library.rand(3, generator=own)
        other = copied(own)
        assert other.initial_seed() == 5 and other.device == own.device
        assert library.rand(9, generator=own).tolist() == library.rand(9, generator=other).tolist()


def test_devices_of_a_state():
    """Seeds of devices are a part of the whole state, and none of the CPU's; wrong states are refused."""
    generator = dragon._C.Generator(3)
    state, whole = generator.get_state(), generator.get_whole_state()
    generator.set_device_state(1, bytes(range(1, 9)) + (8).to_bytes(8, "little"))
    generator.seed_device(0, 2 ** 64 - 1)
    assert generator.get_device_state(0) == b"\xff" * 8 + bytes(8) and generator.get_state() == state
    other = dragon._C.Generator()
    other.set_whole_state(generator.get_whole_state())
    assert other.get_device_state(1) == bytes(range(1, 9)) + (8).to_bytes(8, "little")
    assert other.get_device_state(2) == (3).to_bytes(8, "little") + bytes(8)  # one that nobody asked for yet
    other.set_whole_state(whole)
    assert other.get_device_state(1) == (3).to_bytes(8, "little") + bytes(8)
    generator.set_whole_state(state)  # without devices: they begin at the CPU's seed
    assert generator.get_device_state(0) == (3).to_bytes(8, "little") + bytes(8)
    generator.seed_devices(9)
    assert generator.get_device_state(5) == (9).to_bytes(8, "little") + bytes(8) and generator.initial_seed() == 3
    generator.manual_seed(4)
    assert generator.get_device_state(5) == (4).to_bytes(8, "little") + bytes(8)
    for wrong in (b"", state[:-1], whole + b"1", bytes(5064)):
        raises(ValueError, ["set_rng_state"], generator.set_whole_state, wrong)
    raises(RuntimeError, ["RNG state is wrong size", "15 bytes"], generator.set_device_state, 0, bytes(15))
    raises(RuntimeError, ["offset must be a multiple of 4"], generator.set_device_state, 0, bytes(8) + b"\1" + bytes(7))


def test_devices_that_are_none():
    """Places of devices are small numbers."""
    for wrong in (-1, 2 ** 31 - 1):
        raises(ValueError, ["expected 0 to"], dragon._C.Generator().get_device_state, wrong)
        raises(ValueError, ["expected 0 to"], dragon._C.Generator().seed_device, wrong, 0)
