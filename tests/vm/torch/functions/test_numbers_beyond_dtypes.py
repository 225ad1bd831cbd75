"""Python numbers beyond a dtype: the value genuine PyTorch gives, a refusal where it refuses, never another number."""
import math
import warnings

from dragon.vm import torch as dragon_torch
from harness.subresults import each
from harness.twin import on_genuine, rows

# Every form in which a bare number meets a tensor of integers: `x` (2, 3), `m` (2, 2), `v` (2), `b` (1, 2, 2), the
# mask `q`, the indices `i` and `j`, the number `s`.
ARITHMETIC = """
x + s
s + x
x - s
s - x
x * s
x / s
s / x
x // s
s // x
x % s
s % x
s ** x
x & s
s | x
x ^ s
x == s
s != x
x < s
s <= x
x.clone().__iadd__(s)
x.clone().__imul__(s)
x.clone().add_(s)
x.clone().sub_(s)
x.clone().mul_(s)
x.clone().eq_(s)
x.clone().div_(s, rounding_mode='floor')
torch.add(x, s)
torch.sub(x, s)
torch.rsub(x, s)
torch.div(x, s)
torch.div(x, s, rounding_mode='trunc')
torch.true_divide(x, s)
torch.floor_divide(x, s)
torch.fmod(x, s)
torch.remainder(s, x)
torch.pow(s, x)
torch.float_power(x, s)
torch.float_power(s, x)
torch.copysign(x, s)
torch.xlogy(x, s)
torch.xlogy(s, x)
torch.special.xlog1py(x, s)
torch.bitwise_and(x, s)
torch.eq(x, s)
torch.lt(x, s)
torch.mul(x[0, 0], s)
torch.add(x, torch.tensor(s))
torch.div(x, torch.tensor(s))
torch.eq(x, torch.tensor(s))
torch.atan2(x, torch.tensor(s))
torch.ldexp(x, torch.tensor(s))
torch.trapezoid(x, dx=s)
torch.cumulative_trapezoid(x, dx=s)
torch.result_type(x, s)
torch.isin(x, s)
torch.sum(x * s)
torch._foreach_add([x], s)[0]
torch._foreach_div([x], s)[0]
x.bool() + s
x.bool() == s
x.float() + s
x.float() == s
"""
CHECKED = """
x ** s
torch.pow(x, s)
x.clone().pow_(s)
torch._foreach_pow([x], s)[0]
torch.add(x, x, alpha=s)
torch.sub(x, x, alpha=s)
torch.rsub(x, x, alpha=s)
x.clone().add_(x, alpha=s)
torch.addcmul(x, x, x, value=s)
torch.addmm(m, m, m, alpha=s)
torch.addmm(m, m, m, beta=s)
torch.addmv(v, m, v, alpha=s)
torch.addr(m, v, v, alpha=s)
torch.addr(m, v, v, beta=s)
torch.baddbmm(b, b, b, beta=s)
torch.addbmm(m, b, b, alpha=s)
torch.clamp(x, s)
torch.clamp(x, max=s)
torch.clamp(x, min=-1, max=s)
torch.clamp_min(x, s)
torch.clamp_max(x, s)
torch.clip(x, s)
x.clone().clamp_(s)
x.clone().clamp_max_(s)
torch._foreach_clamp_max([x], s)[0]
torch.where(q, x, s)
torch.where(q, s, x)
x.where(q, s)
torch.full((2,), s, dtype=dtype)
torch.full((), s, dtype=dtype)
torch.full((0,), s, dtype=dtype)
torch.full_like(x, s)
torch.full_like(x, s, dtype=torch.float32)
x.new_full((2,), s)
x.clone().fill_(s)
torch.fill(x, s)
x[:0].fill_(s)
x.clone().fill_diagonal_(s)
torch.nn.init.constant_(x.clone(), s)
torch.tensor([s], dtype=dtype)
torch.tensor(s, dtype=dtype)
torch.tensor([[1], [s]], dtype=dtype)
torch.tensor([1, s])
torch.as_tensor([s], dtype=dtype)
torch.asarray([s], dtype=dtype)
x.new_tensor([s])
torch.scalar_tensor(s, dtype=dtype)
torch.masked_fill(x, q, s)
torch.masked_fill(x, q & False, s)
x.clone().masked_fill_(q, s)
torch.index_fill(x, 0, i, s)
x.clone().index_fill_(0, i, s)
torch.scatter(x, 1, j, s)
x.clone().scatter_(1, j, s)
x.scatter(1, j, s, reduce='add')
x.index_add(0, i, x[:1], alpha=s)
put(x, 0, s)
put(x, ..., s)
put(x, (0, 1), s)
put(x, q, s)
put(x, i, s)
put(x, (i, slice(1)), s)
torch.arange(s, s + 3, dtype=dtype)
torch.arange(0, s, s, dtype=dtype)
torch.linspace(0, s, 3, dtype=dtype)
torch.linspace(s, 0, 3, dtype=dtype)
torch.linspace(s, s, 2, dtype=dtype)
torch.nn.functional.pad(x, (1, 1), value=s)
torch.constant_pad_nd(x, (1, 1), s)
torch.threshold(x, 1, s)
torch.threshold(x, s, 1)
torch.nan_to_num(x, nan=s)
"""
NUMBERS = ("-1 127 128 255 256 300 -129 -255 -256 65536 2**31 2**40 2**63-1 -2**63 2**63 2**64 0.1 1.5 300.0 1e30 nan "
           "inf -inf True 2j").split()
DTYPES = ("uint8", "int8", "int64")
CUTTING = ("torch.addcmul", "torch.addmm", "torch.addmv", "torch.baddbmm", "torch.addbmm", "x.index_add")
# PyTorch takes the number as a double, in which the ends of int64 are others.
AS_DOUBLE = ("torch.arange", "torch.nn.functional.pad")
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, OverflowError, NotImplementedError)


def _put(x, where, number):
    x = x.clone()
    x[where] = number
    return x


def _names(module, dtype):
    dtype = getattr(module, dtype)
    return {"torch": module, "dtype": dtype, "put": _put, "i": module.tensor([1]),
            "x": module.tensor([[0, 1, 2], [3, 100, 127]]).to(dtype), "m": module.tensor([[1, 2], [3, 4]]).to(dtype),
            "v": module.tensor([1, 2]).to(dtype), "b": module.tensor([[[1, 2], [3, 4]]]).to(dtype),
            "q": module.tensor([[True, False, True], [False, True, False]]), "j": module.tensor([[0, 2], [1, 1]])}


def _outcome(code, names, number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = eval(code, dict(names, s=number))
        except REFUSALS as error:
            return error
    return (str(made.dtype), tuple(made.shape), made.reshape(-1).tolist()) if hasattr(made, "tolist") else str(made)


def _alike(mine, genuine):
    if isinstance(genuine, list):
        return len(mine) == len(genuine) and all(map(_alike, mine, genuine))
    if isinstance(genuine, complex) and not (math.isfinite(genuine.real) and math.isfinite(genuine.imag)):
        return _alike(mine.real, genuine.real) and _alike(mine.imag, genuine.imag)
    if isinstance(genuine, (float, complex)):
        return mine == genuine or mine != mine and genuine != genuine or abs(mine - genuine) <= 1e-6 * abs(genuine)
    return mine == genuine


def _is_more(mine, number):
    """Return whether Dragon takes what PyTorch refuses: True as 1, and any integer that a float can stand for."""
    beside_floats = isinstance(mine, tuple) and mine[0] in ("torch.float32", "torch.bool")
    return number is True or number == 2 ** 64 and beside_floats


def _outcomes(module, code, dtype, numbers):
    names = _names(module, dtype)
    return [_outcome(code, names, number) for number in numbers]


def _wrong(code, dtype, number, genuine, mine):
    """Return what is wrong with one call, or None."""
    if isinstance(genuine, Exception) and (isinstance(mine, Exception) or _is_more(mine, number)):
        return None
    if isinstance(mine, Exception) and isinstance(number, int) and 2 ** 63 <= number < 2 ** 64:
        return None  # PyTorch reads it as a uint64, a dtype that Dragon has no tensors of: it is refused by name
    if code.startswith(AS_DOUBLE) and abs(number) >= 2 ** 63 - 1:
        return None
    if isinstance(mine, Exception) and isinstance(number, float) and code.startswith(CUTTING):
        return None  # PyTorch cuts a fraction that integers are multiplied by to an integer; Dragon refuses it
    if isinstance(genuine, tuple) and isinstance(mine, tuple) and genuine[:2] == mine[:2]:
        if _alike(mine[2], genuine[2]):
            return None
    elif not isinstance(genuine, tuple) and not isinstance(mine, Exception) and genuine == mine:
        return None
    return f"{dtype}, s = {number!r}: genuine {genuine!r}, Dragon {mine!r}"


def _numbers():
    return [eval(text, {"nan": math.nan, "inf": math.inf}) for text in NUMBERS]


@each("code", rows(ARITHMETIC) + rows(CHECKED))
def test_the_value_or_a_refusal(code):
    wrong = []
    for dtype in DTYPES:
        asked = code, dtype, _numbers()
        outcomes = zip(asked[2], on_genuine(_outcomes, *asked), _outcomes(dragon_torch, *asked), strict=True)
        wrong += filter(None, (_wrong(code, dtype, *outcome) for outcome in outcomes))
    assert not wrong, "\n".join(wrong)
