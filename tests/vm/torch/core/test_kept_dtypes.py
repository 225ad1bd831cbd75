"""Dtypes that numbers are kept in and computed in another: wide unsigned integers, floats of 8 bits, complex32."""
import io
import itertools

import numpy as np
import pytest

from dragon.vm import torch
from harness.subresults import each

ml_dtypes = pytest.importorskip("ml_dtypes")
UNSIGNED = ("uint16", "uint32", "uint64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
EDGES = {"uint16": (0, 1, 2, 32767, 32768, 65535), "uint32": (0, 1, 3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1),
         "uint64": (0, 1, 5, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1)}


def numbers(name, count=64, seed=0):
    """Return an array of a dtype with its edges among its numbers."""
    drawn = np.random.default_rng(seed).integers(0, np.iinfo(name).max, count, dtype=name, endpoint=True)
    return np.concatenate([np.array(EDGES[name], name), drawn])


@each("name", UNSIGNED)
@each("op", ["add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "equal",
             "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum", "minimum"])
def test_pairs_of_unsigned_integers_are_numpys(name, op):
    a, b = (x.ravel() for x in np.meshgrid(numbers(name), numbers(name, seed=1)))
    ours = getattr(torch, {"equal": "eq", "not_equal": "ne"}.get(op, op))(torch.from_numpy(a), torch.from_numpy(b))
    theirs = getattr(np, op)(a, b)
    assert ours.numpy().dtype == theirs.dtype
    np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("name", UNSIGNED)
def test_quotients_of_unsigned_integers_are_numpys(name):
    a, b = (x.ravel() for x in np.meshgrid(numbers(name), numbers(name, seed=1)[1:]))
    b = np.maximum(b, 1)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    np.testing.assert_array_equal((x // y).numpy(), a // b)
    np.testing.assert_array_equal((x % y).numpy(), a % b)
    np.testing.assert_array_equal((x >> 3).numpy(), a >> np.array(3, name))
    np.testing.assert_array_equal((x << 3).numpy(), a << np.array(3, name))
    np.testing.assert_array_equal((~x).numpy(), ~a)


@pytest.mark.parametrize("name", UNSIGNED)
def test_moving_unsigned_integers_keeps_every_bit(name):
    a = numbers(name)
    x = torch.from_numpy(a)
    assert x.tolist() == a.tolist() and [v.item() for v in x] == a.tolist()
    grid = x[:66].reshape(6, 11)
    for made, wanted in ((grid.t().contiguous(), a[:66].reshape(6, 11).T), (torch.cat([x, x]), np.tile(a, 2)),
                         (x.flip(0), a[::-1]), (torch.roll(x, 3), np.roll(a, 3)), (x[torch.tensor([5, 0])], a[[5, 0]]),
                         (torch.where(x > 5, x, torch.zeros_like(x)), np.where(a > 5, a, 0)), (x[x > 5], a[a > 5]),
                         (x.gather(0, torch.tensor([5, 4])), a[[5, 4]]), (grid.tril(), np.tril(a[:66].reshape(6, 11))),
                         (x.clone().index_fill_(0, torch.tensor([1]), 7)[:3], np.array([0, 7, a[2]], name)),
                         (x.repeat(2), np.tile(a, 2)), (x.amax(), a.max()), (x.amin(), a.min())):
        assert made.dtype == x.dtype
        np.testing.assert_array_equal(made.numpy(), wanted)


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_become_other_numbers(name):
    a = numbers(name)
    x = torch.from_numpy(a)
    for other in ("float32", "float64", "int64", "int32", "uint8", "bool", *UNSIGNED):
        np.testing.assert_array_equal(x.to(getattr(torch, other)).numpy(), a.astype(other))
    assert x.sum().dtype == torch.int64 and x[:3].sum().item() == int(a[:3].sum())
    back = torch.tensor([-1, 2, 70000]).to(x.dtype)
    np.testing.assert_array_equal(back.numpy(), np.array([-1, 2, 70000]).astype(name))


def test_uint64_beyond_int64_is_refused_where_order_counts_and_no_kernel_is_there():
    x = torch.tensor([2 ** 64 - 1, 3], dtype=torch.uint64)
    with pytest.raises(NotImplementedError, match="2\\*\\*63"):
        x.sort()
    assert x[1:].sort().values.tolist() == [3]
    with pytest.raises(OverflowError):
        torch.tensor([2 ** 64], dtype=torch.uint64)
    with pytest.raises(OverflowError):
        torch.tensor([-1], dtype=torch.uint64)


@pytest.mark.parametrize("name", FLOAT8)
def test_every_float_of_8_bits_is_the_number_it_stands_for(name):
    codes = torch.arange(256, dtype=torch.uint8)
    theirs = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(np.float32)
    ours = codes.view(getattr(torch, name))
    np.testing.assert_array_equal(ours.float().numpy(), theirs)
    finite = ~np.isnan(theirs)
    again = ours.float().to(ours.dtype).view(torch.uint8).numpy()
    np.testing.assert_array_equal(again[finite], codes.numpy()[finite])
    assert ours.float().to(ours.dtype).isnan().numpy().tolist() == np.isnan(theirs).tolist()


@pytest.mark.parametrize("name", FLOAT8)
def test_floats_are_rounded_to_8_bits_as_ml_dtypes_rounds(name):
    kind, limit = getattr(ml_dtypes, name), torch.finfo(getattr(torch, name)).max
    steps = np.abs(np.arange(256, dtype=np.uint8).view(kind).astype(np.float64))
    steps = np.unique(steps[np.isfinite(steps)])
    middles = (steps[1:] + steps[:-1]) / 2
    drawn = np.random.default_rng(0).normal(size=1000) * np.exp(np.random.default_rng(1).uniform(-12, 6, 1000))
    x = np.concatenate([steps, middles, np.nextafter(middles, 0), np.nextafter(middles, 1e9), drawn]).astype(np.float32)
    x = np.concatenate([x, -x, [np.nan, 0.0, -0.0, 1e-30, -1e-30]]).astype(np.float32)
    x = x[~(np.abs(x) > limit)]
    ours = torch.from_numpy(x).to(getattr(torch, name)).view(torch.uint8).numpy()
    theirs = x.astype(kind).view(np.uint8)
    nan = np.isnan(x)
    np.testing.assert_array_equal(ours[~nan], theirs[~nan])


def test_what_is_too_large_for_8_bits_becomes_what_pytorch_makes_of_it():
    x = torch.tensor([500.0, 1e5, float("inf"), -1e5, float("nan")])
    shown = {name: x.to(getattr(torch, name)).float().tolist() for name in FLOAT8}
    assert shown["float8_e4m3fn"][:4] == [448.0, 448.0, 448.0, -448.0]  # the largest there is, as in PyTorch 2.13
    assert shown["float8_e5m2"][:4] == [512.0, float("inf"), float("inf"), float("-inf")]
    assert np.isnan(shown["float8_e4m3fnuz"]).all() and np.isnan(shown["float8_e5m2fnuz"])[1:].all()
    assert all(np.isnan(row[4]) for row in shown.values())


@pytest.mark.parametrize("name", FLOAT8)
def test_floats_of_8_bits_are_computed_in_float32(name):
    kind = getattr(torch, name)
    x = torch.tensor([1.0, -2.25, 3.5, 0.0625]).to(kind)
    wide = x.float()
    for op in (lambda v: v + v, lambda v: v * 1.5, torch.exp, torch.relu, lambda v: v @ v, torch.sum, lambda v: v.max(),
               lambda v: v[None].softmax(-1)):
        assert op(x).dtype == kind
        assert torch.equal(op(x).float(), op(wide).to(kind).float())
    assert torch.equal(x == x, torch.ones(4, dtype=torch.bool)) and x.sort().values.dtype == kind


def test_complex32_is_computed_in_complex64():
    z = torch.ones(2, dtype=torch.half) * 1j
    assert z.dtype == torch.complex32 and (z * z).tolist() == [-1, -1] and z.real.dtype == torch.float16
    z = torch.tensor([1 + 2j, -2.5j, 3, 0.5], dtype=torch.complex32)
    assert z.norm().item() == 4.52734375 and z.norm().dtype == torch.float16
    assert z.abs().dtype == torch.float16 and z.to(torch.complex128).tolist() == [1 + 2j, -2.5j, 3, 0.5]
    assert torch.view_as_real(z).tolist() == [[1, 2], [0, -2.5], [3, 0], [0.5, 0]]
    assert torch.complex(torch.ones(1).half(), torch.ones(1).half()).dtype == torch.complex32
    assert torch.half.to_complex() == torch.complex32 and torch.complex32.to_real() == torch.float16
    assert torch.chalf is torch.complex32


# As PyTorch 2.13 says of promote_types.
MEETINGS = {("uint16", "float16"): "float16", ("uint64", "bfloat16"): "bfloat16", ("uint32", "float64"): "float64",
            ("complex32", "int64"): "complex32", ("complex32", "float16"): "complex32",
            ("complex32", "bfloat16"): "complex64", ("complex32", "float64"): "complex128",
            ("complex32", "complex64"): "complex64"}


@pytest.mark.parametrize("pair", MEETINGS)
def test_where_dtypes_meet(pair):
    a, b = (getattr(torch, name) for name in pair)
    assert torch.promote_types(a, b) == torch.promote_types(b, a) == getattr(torch, MEETINGS[pair])


@each("pair", [*itertools.product(UNSIGNED, ("bool", "uint8", "int64", "complex64", "complex32")),
               *itertools.combinations(UNSIGNED, 2)])
def test_wide_unsigned_integers_meet_floats_alone(pair):
    a, b = (getattr(torch, name) for name in pair)
    for first, second in ((a, b), (b, a)):
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            torch.promote_types(first, second)
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            torch.ones(2).to(first) + torch.ones(2).to(second)


@each("pair", [*itertools.product(FLOAT8, ("bool", "int64", "float32", "complex64", "uint16"))])
def test_floats_of_8_bits_meet_nobody(pair):
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not supported"):
        torch.promote_types(*(getattr(torch, name) for name in pair))


def test_numbers_yield():
    x = torch.tensor([1, 2], dtype=torch.uint16)
    assert (x + 1).dtype == torch.uint16 and (x + torch.tensor(1)).dtype == torch.uint16
    assert (x * 1.5).dtype == (x / 2).dtype == torch.exp(x).dtype == torch.float32


@pytest.mark.parametrize("name", [*UNSIGNED, *FLOAT8, "complex32"])
def test_files_copies_and_names(name):
    kind = getattr(torch, name)
    x = torch.tensor([[1, 2], [3, 4]]).to(kind)
    file = io.BytesIO()
    torch.save({"x": x, "view": x[1]}, file)
    file.seek(0)
    read = torch.load(file)
    assert read["x"].dtype == kind and torch.equal(read["x"], x) and torch.equal(read["view"], x[1])
    assert read["view"].untyped_storage().data_ptr() == read["x"].untyped_storage().data_ptr()
    assert x.clone().dtype == x.detach().dtype == torch.zeros_like(x).dtype == torch.empty(2, dtype=kind).dtype == kind
    assert torch.from_dlpack(x).dtype == kind and str(kind) in repr(x)
    assert x.type() == {"uint16": "torch.UInt16Tensor", "uint32": "torch.UInt32Tensor", "uint64": "torch.UInt64Tensor",
                        "complex32": "torch.ComplexHalfTensor"}.get(name, f"torch.F{name[1:]}Tensor")


@pytest.mark.parametrize("name", [*FLOAT8, "complex32", "bfloat16"])
def test_numpy_is_told_what_it_lacks(name):
    with pytest.raises(TypeError, match=f"numpy: got {name}, which NumPy lacks"):
        torch.ones(2).to(getattr(torch, name)).numpy()


def test_gradients_flow_through_8_bits():
    x = torch.tensor([1.3, -0.7], requires_grad=True)
    (x.to(torch.float8_e4m3fn).float() * torch.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]
    y = torch.tensor([1.0, 2.0]).to(torch.float8_e5m2).requires_grad_()
    (y.float() * 2).sum().backward()
    assert y.grad.dtype == torch.float8_e5m2 and y.grad.float().tolist() == [2.0, 2.0]


def test_compiled_functions_compute_them_alike():
    def f(x, y):
        return torch.where(x > y, x + y, x * 2) // 3, (x.float() * 1.5).to(torch.float8_e4m3fn).float() + 1

    x, y = torch.tensor([1, 60000, 65535], dtype=torch.uint16), torch.tensor([5, 6, 65000], dtype=torch.uint16)
    for ours, plain in zip(torch.compile(f)(x, y), f(x, y)):
        assert ours.dtype == plain.dtype and torch.equal(ours, plain)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_neighbours_of_16_bit_floats(name):
    kind = getattr(torch, name)
    words = torch.arange(-32768, 32767, 37, dtype=torch.int16)
    x = words.view(kind)
    x = x[x.isfinite() & (x != 0)]
    up, down = torch.nextafter(x, x.new_tensor(float("inf"))), torch.nextafter(x, x.new_tensor(-float("inf")))
    step = torch.where(x > 0, 1, -1).to(torch.int16)
    assert torch.equal(up.view(torch.int16), x.view(torch.int16) + step)
    assert torch.equal(down.view(torch.int16), x.view(torch.int16) - step)
    zero = torch.zeros(2, dtype=kind)
    ends = torch.nextafter(zero, torch.tensor([1.0, -1.0]).to(kind)).view(torch.int16)
    assert ends.tolist() == [1, -32767]
    assert torch.nextafter(zero, zero).tolist() == [0, 0]
    assert torch.nextafter(x.new_tensor(float("nan")), zero).isnan().all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_exponentials_of_matrices_of_16_bits(name):
    x = torch.tensor([[0.5, 1.0], [-0.25, 0.125]]).to(getattr(torch, name))
    assert torch.equal(torch.matrix_exp(x), torch.matrix_exp(x.float()).to(x.dtype))


def test_logarithms_are_exact_to_a_last_place():
    draw = np.random.default_rng(0)
    x = draw.integers(1, 0x7F800000, 200_000).astype(np.uint32).view(np.float32)
    near = draw.uniform(-0.9, 3, 200_000).astype(np.float32)
    above = np.abs(near) + np.float32(1e-3)
    for function, exact, given, most in ((torch.log, np.log, x, 1), (torch.log, np.log, above, 1),
                                         (torch.log1p, np.log1p, near, 1), (torch.expm1, np.expm1, near, 1.3)):
        wanted = exact(given.astype(np.float64))
        place = np.spacing(np.maximum(np.abs(wanted), 1.2e-38).astype(np.float32)).astype(np.float64)
        assert (np.abs(function(torch.from_numpy(given)).numpy() - wanted) / place).max() <= most
    edges = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 100.0, -100.0, 1e-45])
    assert edges.expm1().tolist()[:4] == [0, 0, float("inf"), -1]
    assert edges.expm1().tolist()[5:] == [float("inf"), -1, edges[7]]
    np.testing.assert_array_equal(np.signbit(edges.expm1().numpy()[:2]), [False, True])
    assert torch.sigmoid(torch.logit(torch.tensor(0.5))) == 0.5


def test_numbers_beside_a_condition_have_the_default_dtype():
    mask = torch.tensor([True, False])
    assert torch.where(mask, 7.93, 7.46).dtype == torch.float32
    assert torch.where(mask, 7.93, torch.tensor([1.0, 2.0])).dtype == torch.float32
