"""Names beside the great ones: optimizers on other parameters, autocast of own operators, scaled products, groups."""
import inspect
import itertools

import numpy
import pytest
import torch as gt

from dragon.vm import torch as dt
from harness.subresults import each

FACES = (dt, gt)


def stepped(t):
    """Return an optimizer that has taken a step, and its parameters."""
    params = [t.nn.Parameter(t.arange(3.0) + index) for index in range(2)]
    optimizer = t.optim.Adam([{"params": params[:1]}, {"params": params[1:], "lr": 0.5}], lr=0.1)
    sum((p * p).sum() for p in params).backward()
    optimizer.step()
    return optimizer, params


def test_an_optimizer_steps_other_parameters():
    answers = []
    for t in FACES:
        optimizer, params = stepped(t)
        others = {name: t.nn.Parameter(t.full((3,), 5.0)) for name in "ab"}
        for other in others.values():
            other.grad = t.ones(3)
        told = optimizer.state_dict()
        told["param_groups"][1]["lr"] = 2.0
        before, groups = [p.tolist() for p in params], [group["params"] for group in optimizer.param_groups]
        with t.optim.swap_in_optimizer_params_and_state(optimizer, others, told):
            optimizer.step()
            assert optimizer.param_groups[0]["params"][0] is others["a"]
        assert [p.tolist() for p in params] == before and optimizer.param_groups[1]["lr"] == 0.5
        assert all(group["params"] is kept for group, kept in zip(optimizer.param_groups, groups))
        answers.append([value for other in others.values() for value in other.tolist()])
        for wrong in ((dict(list(others.items())[:1]), told), (others, {}), (others, 3),
                      (others, {**told, "state": {7: {}}}), (others, {**told, "param_groups": []})):
            with pytest.raises(RuntimeError), t.optim.swap_in_optimizer_params_and_state(optimizer, *wrong):
                pass
        with pytest.raises(RuntimeError, match="initialized optimizer state"), \
                t.optim.swap_in_optimizer_params_and_state(t.optim.Adam(params), others, told):
            pass
    assert answers[0] == pytest.approx(answers[1])


@pytest.mark.parametrize("face", FACES)
def test_autocast_of_own_operators(face):
    name = f"more{len(face.__name__)}::twice"

    @face.library.custom_op(name, mutates_args=())
    def twice(x: face.Tensor, n: int) -> face.Tensor:
        assert not face.is_autocast_enabled("cpu")
        return x * n
    face.library.register_autocast(name, "cpu", face.bfloat16)
    with face.autocast("cpu", dtype=face.bfloat16):
        assert twice(face.ones(2), 2).dtype == face.bfloat16
        assert twice(face.ones(2, dtype=face.int64), 2).dtype == face.int64
        assert twice(face.ones(2, dtype=face.float64), 2).dtype == face.float64
    assert twice(face.ones(2), 2).dtype == face.float32
    with pytest.raises((ValueError, RuntimeError), match="autocast"):
        face.library.register_autocast(name, "meta", face.bfloat16)


def test_operators_of_own_kernels():
    @dt.library.triton_op("more::thrice", mutates_args=())
    def thrice(x: dt.Tensor) -> dt.Tensor:
        return x * 3
    assert thrice(dt.ones(2)).tolist() == [3, 3] and dt.ops.more.thrice(dt.ones(1)).tolist() == [3]
    assert thrice(dt.ones(2, device="meta")).shape == (2,)


def test_kernels_that_pass_on():
    library = dt.library.Library("passing", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CompositeExplicitAutograd")
    library.impl("f", lambda x: x + 2, "CPU")
    assert dt.ops.passing.f(dt.ones(1)).tolist() == [3]
    library.impl("f", dt.library.fallthrough_kernel, "CPU")
    assert dt.ops.passing.f(dt.ones(1)).tolist() == [2]


@each("options", [
    "one, S.TensorWise, two, S.TensorWise", "[one], [S.TensorWise], [two], [S.TensorWise], output_dtype=t.float32",
    "one, S.TensorWise, two, S.TensorWise, bias=t.ones(8, dtype=t.bfloat16)",
    "rows, S.RowWise, columns, S.RowWise, W.NO_SWIZZLE, W.NO_SWIZZLE", "one, S.TensorWise, two, S.TensorWise, "
    "output_dtype=None", "one, S.TensorWise, columns, S.RowWise", "rows, S.BlockWise1x16, columns, S.BlockWise1x16",
    "one.double(), S.TensorWise, two, S.TensorWise", "rows, S.TensorWise, columns, S.TensorWise"])
def test_scaled_products(options):
    answers = []
    for t in FACES:
        a = ((t.arange(64.0) % 7 - 3) / 4).reshape(4, 16).to(t.float8_e4m3fn)
        b = ((t.arange(128.0) % 5 - 2) / 2).reshape(8, 16).to(t.float8_e4m3fn).t()
        words = {"t": t, "S": t.nn.functional.ScalingType, "W": t.nn.functional.SwizzleType, "one": t.tensor(2.0),
                 "two": t.tensor(0.5), "rows": t.arange(1.0, 5).reshape(4, 1),
                 "columns": t.arange(1.0, 9).reshape(1, 8)}
        try:
            made = eval(f"t.nn.functional.scaled_mm(a, b, {options})", {**words, "a": a, "b": b})
            answers.append((str(made.dtype), made.float().tolist()))
        except (ValueError, RuntimeError) as error:
            answers.append(ValueError if isinstance(error, ValueError) else type(error))
    assert answers[0] == answers[1]


def test_groups_of_checkpoints():
    for t in FACES:
        calls = []

        def part(x):
            calls.append(1)
            return x.sin().exp(), x.cos().exp()
        x = t.ones(2, requires_grad=True)
        first, second = t.utils.checkpoint.checkpoint(part, x, use_reentrant=False, early_stop=False)
        with t.utils.checkpoint.GraphExecGroup():
            first.sum().backward(retain_graph=True)
            second.sum().backward()
            with pytest.raises(RuntimeError, match="cannot be nested"), t.utils.checkpoint.GraphExecGroup():
                pass
        assert len(calls) == 2
        with t.utils.checkpoint.GraphExecGroup() as group:
            assert group._get_current_group() is group


def test_contexts_and_stand_ins():
    p = dt.empty(2, 3, 4).permute(2, 0, 1).requires_grad_()
    with dt.autograd.enforce_grad_layout_policy(False):
        (p * 2).sum().backward()
    assert p.grad.shape == p.shape
    assert dt.autograd.enforce_grad_layout_policy()(lambda: 3)() == 3
    answers = dt.overrides.get_testing_overrides()
    assert len(answers) > 800 and answers[dt.add](1, 2) == -1
    assert list(inspect.signature(answers[dt.sum]).parameters) == list(inspect.signature(dt.sum).parameters)
    with pytest.raises(TypeError):
        answers[dt.add]()
    with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
        dt.serialization.validate_hpu_device("hpu")
    assert float(dt.SymFloat(type("Node", (), {"guard_float": lambda self, file, line: 2.5})())) == 2.5
    assert bool(dt.SymBool(type("Node", (), {"bool_": lambda self: True})())) is True


@each("line", [
    "aten::f.x(Tensor(a!) self, int[2] y=1, *, float? z=None) -> (Tensor(a!), int[] q)", "f(Tensor x) -> ()",
    "f(Tensor[] x, str s='a', bool b=True) -> Tensor[]", "f(t x) -> t",
    "f(Scalar s, Device d, ScalarType? t=None) -> Tensor",
    "f(", "f(Tensor x)", "f(Tensor) -> Tensor", "aten::f(Tensor x -> Tensor", "", "1f(Tensor x) -> Tensor"])
@each("variables", [True, False])
def test_lines_of_schemas(line, variables):
    answers = []
    for t in FACES:
        try:
            made = t.parse_schema(line, allow_typevars=variables)
            answers.append((made.name, made.overload_name, len(made.returns), made.is_mutable,
                            [(one.name, one.kwarg_only, one.has_default_value()) for one in made.arguments]))
        except RuntimeError as error:
            answers.append(type(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bags_and_what_their_gradient_is_made_of(mode, dtype):
    numbers = numpy.random.RandomState(0).randn(5, 3).tolist()
    for last, padding, grads, offsets in itertools.product((False, True), (None, 1), (False, True),
                                                           ([0, 2], [0, 2, 2])):
        offsets = offsets + [4] if last else offsets

        def run(t, last=last, padding=padding, grads=grads, offsets=offsets):
            weight = t.tensor(numbers, dtype=getattr(t, dtype), requires_grad=grads)
            return t.embedding_bag(weight, t.tensor([0, 1, 2, 3]), t.tensor(offsets), False, mode, False, None, last,
                                   padding)
        mine, theirs = run(dt), run(gt)
        assert [part.shape for part in mine] == [part.shape for part in theirs] and len(mine) == 4
        for one, other in zip(mine, theirs):
            numpy.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("indices, offsets", [([0, 1], [0, 0, 2, 2]), ([], [0, 0]), ([], [])])
def test_bags_of_nothing(mode, indices, offsets):
    mine, theirs = (t.embedding_bag(t.ones(3, 2), t.tensor(indices, dtype=t.int64), t.tensor(offsets, dtype=t.int64),
                                    False, mode) for t in FACES)
    assert [part.tolist() for part in mine] == [part.tolist() for part in theirs]


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_indices_in_no_bag(mode):
    """PyTorch's process may end here."""
    made = dt.embedding_bag(dt.ones(3, 2), dt.tensor([0, 1]), dt.tensor([], dtype=dt.int64), False, mode)
    assert [tuple(part.shape) for part in made][0] == (0, 2) and made[2].tolist() == []
    for indices, offsets in (([0, 7], [0]), ([-1], [0]), ([0, 1], [0, 5]), ([0, 1, 2], [0, 2, 1])):
        with pytest.raises((IndexError, ValueError), match="embedding_bag: got"):
            dt.embedding_bag(dt.ones(3, 2), dt.tensor(indices), dt.tensor(offsets), False, mode)
