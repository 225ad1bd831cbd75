"""`torch._scaled_mm` beside the genuine one: numbers, dtypes, and which errors come when."""
import functools

import pytest
import torch as gt

from dragon.vm import torch as dt
from harness.subresults import each

FACES = (dt, gt)
NARROW = "t.float8_e4m3fn", "t.float8_e5m2", "t.float8_e4m3fnuz", "t.float8_e5m2fnuz"
OUTPUTS = ("None", "t.float32", "t.bfloat16", "t.float16", "t.float64", "t.int32", *NARROW)
# What genuine PyTorch says to some dtypes on processors that multiply matrices by themselves (AMX); on others it has a
# kernel for them.
NOT_BY_MATRIX_UNITS = "itensor_view_from_dense expects"
# There it gives what happens to lie in memory where nothing is summed over, and takes scales of float64.
UNLIKE = ("t._scaled_mm(a[:, :0], b[:0], one, two, t.ones(8))", "t._scaled_mm(a, b, one.double(), two)")


def told(t, call, kinds=("t.float8_e4m3fn", "t.float8_e4m3fn")):
    """Return what a call gives: dtype, shape and numbers, or its error's kind."""
    words = {"t": t, "one": t.tensor(2.0), "two": t.tensor(0.5), "rows": t.arange(1.0, 5).reshape(4, 1),
             "columns": t.arange(1.0, 9).reshape(1, 8), "F": t.nn.functional, "S": t.nn.functional.ScalingType,
             "W": t.nn.functional.SwizzleType}
    words["a"] = ((t.arange(64.0) % 7 - 3) / 4).reshape(4, 16).to(eval(kinds[0], {"t": t}))
    words["b"] = ((t.arange(128.0) % 5 - 2) / 2).reshape(8, 16).to(eval(kinds[1], {"t": t})).t()
    try:
        made = eval(call, words)
    except (ValueError, RuntimeError, NotImplementedError) as error:
        if NOT_BY_MATRIX_UNITS in str(error):
            return NOT_BY_MATRIX_UNITS
        return RuntimeError if isinstance(error, (ValueError, RuntimeError)) else type(error)
    return str(made.dtype), tuple(made.shape), str(made.float().tolist())  # where a NaN equals another


@functools.cache
def has_matrix_units():
    """Return whether genuine PyTorch leaves these products to the processor's matrix units."""
    return told(gt, "t._scaled_mm(a, b, one, two, out_dtype=t.float64)") == NOT_BY_MATRIX_UNITS


def alike(*args):
    answers = [told(t, *args) for t in FACES]
    assert answers[0] == answers[1] or answers[1] == NOT_BY_MATRIX_UNITS or args[0] in UNLIKE and has_matrix_units()
    return answers[0]


@each("a", [*NARROW, "t.float16"])
@each("b", [*NARROW, "t.bfloat16"])
def test_dtypes(a, b):
    alike("t._scaled_mm(a, b, one, two)", (a, b))
    alike("t._scaled_mm(a, b, rows, columns, out_dtype=t.bfloat16)", (a, b))


@each("out_dtype", OUTPUTS)
@each("bias", ["None", "t.arange(8.0)", "t.arange(8).bfloat16()", "t.arange(8).reshape(1, 8)"])
def test_results(out_dtype, bias):
    alike(f"t._scaled_mm(a, b, one, two, {bias}, t.tensor(4.0), {out_dtype}, True)")
    alike(f"t._scaled_mm(a, b, rows, columns, bias={bias}, out_dtype={out_dtype})")


@each("call, right", [
    ("t._scaled_mm(a, b, one.reshape(1), two.reshape(1, 1))", True),
    ("t._scaled_mm(a, b.contiguous(), one, two)", True),
    ("t._scaled_mm(a[:, :15], b[:15, :7], one, two, out_dtype=t.float32)", True),
    ("t._scaled_mm(a[:, :0], b[:0], one, two, t.ones(8))", True), ("t._scaled_mm(a[:0], b, one, two)", True),
    ("t.ops.aten._scaled_mm(a, b, one, two)", True), ("t._scaled_mm(a, b, one, two, out=t.empty(4, 8))", True),
    ("t._scaled_mm(a, b, one * float('inf'), two, out_dtype=t.float32)", True),
    ("t._scaled_mm(a, b, one, two, None, t.tensor(4.0), out=t.empty(4, 8).to(t.float8_e5m2))", True),
    ("t._scaled_mm(a, b, rows, two)", False), ("t._scaled_mm(a, b, rows.flatten(), columns.flatten())", False),
    ("t._scaled_mm(a, b, rows, columns.t())", False), ("t._scaled_mm(a, b, one.double(), two)", False),
    ("t._scaled_mm(a, b, one, two, t.ones(4))", False), ("t._scaled_mm(a, b, one, two, t.ones(1))", False),
    ("t._scaled_mm(a, b, one, two, None, t.ones(2))", False), ("t._scaled_mm(a[:, :8], b, one, two)", False),
    ("t._scaled_mm(a, b, one, two, None, t.ones(()).double())", False), ("t._scaled_mm(a[0], b, one, two)", False),
    ("t._scaled_mm(a[None], b[None], one, two)", False),
    ("t._scaled_mm(a, b, one, two, out_dtype=t.bfloat16, out=t.empty(4, 8))", False),
    ("F.scaled_mm(a, b, one, S.TensorWise, two, S.TensorWise, W.SWIZZLE_32_4_4, contraction_dim=[1, 0])", True),
    ("F.scaled_mm(a, b, one, S.TensorWise, two, S.TensorWise, contraction_dim=[-1, 0])", True),
    ("F.scaled_mm(a, b, one, S.TensorWise, two, S.TensorWise, contraction_dim=[1])", False),
    ("F.scaled_mm(a, b, one, S.TensorWise, two, S.TensorWise, contraction_dim=[0, 0])", False),
    ("F.scaled_mm(a[None], b, one, S.TensorWise, two, S.TensorWise)", False),
    ("F.scaled_mm(a[:, :8], b, one, S.TensorWise, two, S.TensorWise)", False)])
def test_calls(call, right):
    assert isinstance(alike(call), tuple) == right


def test_random_numbers_to_the_last_bit():
    """Numbers are brought back before they are multiplied, which float32 shows."""
    gt.manual_seed(0)
    numbers = gt.randn(33, 40), gt.randn(24, 40), gt.rand(33, 1), gt.rand(1, 24), gt.randn(24)
    answers = []
    for t in FACES:
        a, b, *rest = (t.tensor(x.tolist()) for x in numbers)
        made = t._scaled_mm(a.to(t.float8_e4m3fn), b.to(t.float8_e5m2).t(), *rest, out_dtype=t.float32)
        answers.append(gt.tensor(made.tolist()))
    gt.testing.assert_close(*answers, rtol=1e-6, atol=1e-5)


def test_other_axes_to_sum_over_are_refused_by_name():
    square = dt.ones(16, 16).to(dt.float8_e4m3fn)
    one, kind = dt.ones(()), dt.nn.functional.ScalingType.TensorWise
    with pytest.raises(NotImplementedError, match="contraction_dim"):
        dt.nn.functional.scaled_mm(square, square, one, kind, one, kind, contraction_dim=(0, 0))


def test_no_gradient_comes_back():
    """Neither face has one: an error tells so at the latest when it is asked for."""
    for t in FACES:
        a = t.ones(16, 16).to(t.float8_e4m3fn)
        with pytest.raises(RuntimeError):
            t._scaled_mm(a, a.t(), t.ones(()), t.ones((), requires_grad=True), out_dtype=t.float32).sum().backward()


def test_compiled_mapped_and_exported():
    """Graphs hold one call; an exported program names PyTorch's operator, by either function."""
    a = ((dt.arange(64.0) % 7 - 3) / 4).reshape(4, 16).to(dt.float8_e4m3fn)
    b = ((dt.arange(128.0) % 5 - 2) / 2).reshape(8, 16).to(dt.float8_e4m3fn).t()
    one, kind = dt.tensor(2.0), dt.nn.functional.ScalingType.TensorWise

    def product(a, b, scale):
        return dt._scaled_mm(a, b, scale, scale, out_dtype=dt.float32)

    class Product(dt.nn.Module):
        def forward(self, a, b, scale):
            other = dt.nn.functional.scaled_mm(a, b, scale, kind, scale, kind, output_dtype=dt.float32)
            return product(a, b, scale) + other
    wanted = product(a, b, one)
    assert dt.equal(dt.compile(product)(a, b, one), wanted)
    assert dt.equal(dt.vmap(product, in_dims=(0, None, None))(dt.stack([a, a]), b, one)[1], wanted)
    program = dt.export.export(Product(), (a, b, one))
    assert dt.equal(program.module()(a, b, one), wanted * 2)
    assert [str(node.target) for node in program.graph.nodes].count("aten._scaled_mm.default") == 2
