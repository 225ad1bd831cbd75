"""Modes hear the operators that the genuine ones were heard to hear, in the same words and order."""
import numpy as np
import pytest

import dragon.vm.torch as torch
from dragon.vm.torch.core.dispatching import engine_gradients
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.utils import _python_dispatch as dispatch
from harness.subresults import each


class Heard(dispatch.TorchDispatchMode):
    """Notes operators; `detach`, by which PyTorch keeps results for later, is no matter of programs."""

    def __init__(self):
        super().__init__()
        self.names, self.calls = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is not torch.ops.aten.detach.default:
            self.names.append(str(func).removeprefix("aten."))
            self.calls.append((func, types, args, kwargs))
        return result


def heard(program, *args):
    with Heard() as mode:
        program(*args)
    return mode.names


def x():
    return torch.arange(6.).view(2, 3)


# What PyTorch 2.13's modes were told of.
TOLD = [
    (lambda x: x + 1, "add.Tensor"), (lambda x: 1 + x, "add.Tensor"), (lambda x: 2 - x, "rsub.Scalar"),
    (lambda x: 1 / x, "reciprocal.default mul.Tensor"), (lambda x: x ** 2, "pow.Tensor_Scalar"),
    (lambda x: 2 ** x, "pow.Scalar"), (lambda x: -x, "neg.default"), (lambda x: x // 2, "floor_divide.default"),
    (lambda x: x > 1, "gt.Scalar"), (lambda x: x.reshape(3, 2), "view.default"), (lambda x: x.T, "permute.default"),
    (lambda x: x[0], "select.int"), (lambda x: x[..., None], "unsqueeze.default"),
    (lambda x: x[x > 1], "gt.Scalar index.Tensor"), (lambda x: x.contiguous(), ""),
    (lambda x: x.T.contiguous(), "permute.default clone.default"), (lambda x: x.chunk(2), "split.Tensor"),
    (lambda x: x.flatten(), "view.default"), (lambda x: x.narrow(0, 0, 1), "slice.Tensor"),
    (lambda x: x.sum(), "sum.default"), (lambda x: x.sum(0), "sum.dim_IntList"), (lambda x: x.std(), "std.correction"),
    (lambda x: x.norm(), "linalg_vector_norm.default"), (lambda x: x.max(0), "max.dim"),
    (lambda x: x.mul_(2), "mul_.Tensor"), (lambda x: x.zero_(), "zero_.default"),
    (lambda x: torch.add(x, x, out=torch.empty(2, 3)), "empty.memory_format add.out"),
    (lambda x: x.__setitem__((slice(None), 1), x[:, 0]), "select.int select.int copy_.default"),
    (lambda x: F.softmax(x, -1), "_softmax.default"), (lambda x: F.linear(x, x), "t.default mm.default"),
    (lambda x: F.linear(x, x, x[:, 0]), "select.int t.default addmm.default"),
    (lambda x: F.layer_norm(x, (3,)), "native_layer_norm.default"),
    (lambda x: F.dropout(x, 0.5, True), "empty_like.default bernoulli_.float div_.Scalar mul.Tensor"),
    (lambda x: F.dropout(x, 0.5, False), ""),
    (lambda x: F.cross_entropy(x, torch.tensor([0, 1])),
     "lift_fresh.default _log_softmax.default nll_loss_forward.default"),
    (lambda x: x @ x.T, "permute.default mm.default"), (lambda x: x.mv(x[0]), "select.int mv.default"),
    (lambda x: torch.matmul(x, x[0]), "select.int mv.default"), (lambda x: torch.cat([x, x]), "cat.default"),
    (lambda x: x.double(), "_to_copy.default"), (lambda x: x.float(), ""), (lambda x: x.to("cpu"), ""),
    (lambda x: x.sum().item(), "sum.default _local_scalar_dense.default"), (lambda x: x.size(), ""),
    (lambda x: torch.zeros(3), "zeros.default"), (lambda x: torch.rand(2), "rand.default"),
    (lambda x: torch.tensor([1.]), "lift_fresh.default"), (lambda x: torch.zeros_like(x), "zeros_like.default"),
    (lambda x: bool(x.sum() > 3), "sum.default gt.Scalar _local_scalar_dense.default"),
]


@each("program, told", TOLD, ids=[f"{place}-{told.replace(' ', '+')}" for place, (_, told)
                                  in enumerate(TOLD)])
def test_operators_are_told_as_pytorch_tells_them(program, told):
    assert heard(program, x()) == told.split()


@pytest.mark.parametrize("program", [
    lambda x: x.narrow(1, -2, 2), lambda x: x.narrow(0, 2, 0), lambda x: torch.outer(x[0], x[1]),
    lambda x: torch.einsum("ij,jk", x, x.T), lambda x: F.dropout(x, 1.0), lambda x: x.flatten(-2, 1)])
def test_results_are_those_without_a_mode_at_the_edges(program):
    with Heard():
        answered = program(x())
    np.testing.assert_array_equal(answered.numpy(), program(x()).numpy())


@each("program", [
    lambda x: x.narrow(0, 1, 5), lambda x: x.narrow(0, -9, 1), lambda x: x.narrow(0, -1, 2),
    lambda x: x.narrow(3, 0, 1), lambda x: x.narrow(0, 1, -1), lambda x: x.flatten(0, 9), lambda x: x.flatten(1, 0),
    lambda x: x.chunk(0), lambda x: x.chunk(-2), lambda x: x.chunk(2, 5), lambda x: x[0, 0].chunk(2),
    lambda x: torch.outer(x, x[0]), lambda x: F.dropout(x, 2.0), lambda x: F.dropout(x, float("nan")),
    lambda x: torch.einsum("ij,jk->ik", x[:0], torch.ones(4, 4)), lambda x: torch.einsum("ij,jk->ik", x[0], x),
    lambda x: torch.einsum("ij", x, x), lambda x: torch.einsum("ij,jk,kl", x, x), lambda x: torch.einsum("", x, x),
    lambda x: x.hsplit(2), lambda x: x.hsplit(0), lambda x: x.vsplit(-1), lambda x: x.dsplit(1),
    lambda x: x[0].vsplit([1]),
    lambda x: torch.einsum("ij,kj->ii", x, x), lambda x: torch.einsum("ij,kj->iz", x, x)])
def test_what_is_refused_without_a_mode_is_refused_in_the_same_words(program):
    with pytest.raises((RuntimeError, ValueError, IndexError)) as plain:
        program(x())
    with Heard(), pytest.raises(type(plain.value)) as answered:
        program(x())
    assert str(answered.value) == str(plain.value)


def test_conversions_heed_the_order_of_elements_and_refuse_what_they_do_not_know():
    last, rows = torch.channels_last, torch.contiguous_format
    with Heard() as mode:
        image = torch.ones(1, 2, 3, 4)
        turned = image.to(memory_format=last)
        assert turned.stride() == image.float(memory_format=last).stride() == (24, 1, 8, 2)
        assert turned.to(memory_format=rows).stride() == turned.cpu(memory_format=rows).stride() == (24, 12, 4, 1)
        assert turned.to(memory_format=last) is turned and turned.to(memory_format=torch.preserve_format) is turned
        assert image.to(torch.float32, False, True) is not image and image.type_as(other=image) is image
    assert mode.names == ["ones.default", *["_to_copy.default"] * 5]
    for program in (lambda: image.to(bogus=1), lambda: image.float(7), lambda: torch.zeros(2, names=("a",))):
        with Heard(), pytest.raises(TypeError):
            program()


def test_backward_passes_are_heard():
    weight, bias = torch.ones(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)
    given = x()
    assert heard(lambda: F.linear(given, weight, bias).relu().sum().backward()) == """
        t.default addmm.default relu.default sum.default ones_like.default expand.default threshold_backward.default
        t.default mm.default t.default sum.dim_IntList view.default t.default""".split()
    np.testing.assert_array_equal(weight.grad.numpy(), [[3, 5, 7]] * 4)
    np.testing.assert_array_equal(bias.grad.numpy(), [2] * 4)


@each("program", [
    lambda x, out: torch.sum(x, 0, out=out), lambda x, out: torch.amax(x, 0, out=out),
    lambda x, out: torch.add(x[0], x[1], out=out)])
def test_results_are_written_where_gradients_are_recorded(program):
    """The forms of operators that write into `out` are no overloads that a table knows."""
    found = torch.empty(3)
    with Heard() as mode:
        assert program(x(), found) is found and torch.is_grad_enabled()
    assert mode.names[-1].endswith("out") and found.equal(program(x(), torch.empty(3)))


def test_operators_say_what_they_are():
    with Heard() as mode:
        x().add_(x(), alpha=2)
    func, types, args, kwargs = mode.calls[-1]
    assert func is torch.ops.aten.add_.Tensor and func.overloadpacket is torch.ops.aten.add_
    assert func.namespace == "aten" and func._schema.name == "aten::add_" and func._schema.is_mutable
    assert types == () and len(args) == 2 and kwargs == {"alpha": 2}


def test_results_are_those_without_a_mode():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(),
                                torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(18, 3))
    batch, labels = torch.randn(4, 1, 8, 8), torch.tensor([0, 1, 2, 0])

    def gradients():
        model.zero_grad()
        F.cross_entropy(model(batch), labels).backward()
        return [parameter.grad.numpy().copy() for parameter in model.parameters()]
    plain = gradients()
    with Heard() as mode:
        answered = gradients()
    for one, other in zip(plain, answered):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert "convolution_backward.default" in mode.names and "native_batch_norm_backward.default" in mode.names


@each("program", [
    lambda p: p.sinh().sum(), lambda p: p.cumsum(0).pow(3).sum(), lambda p: p.std(), lambda p: F.elu(p).sum(),
    lambda p: torch.sort(p, 1)[0][:, 1].sum(), lambda p: p.clamp(0, 1).prod(),
    lambda p: torch.einsum("ij,kj->ik", p, p).sum(), lambda p: p.gather(1, torch.zeros(2, 1, dtype=torch.long)).sum(),
    lambda p: p.clone().mul_(p).sum(), lambda p: torch.stack([p, p * 2]).amax(0).sum(), lambda p: p.logsumexp(1).sum(),
    lambda p: p[[0, 1], [2, 0]].sum(), lambda p: F.normalize(p).sum(),
    *(lambda p, mode=mode: F.embedding_bag(torch.tensor([[0, 1], [1, 1]]), p, mode=mode).pow(2).sum()
      for mode in ("sum", "mean", "max"))])
def test_gradients_without_a_formula_are_the_engines(program):
    values = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])

    def gradient():
        p = values.clone().requires_grad_()
        program(p).backward()
        return p.grad.numpy().copy()
    plain = gradient()
    with Heard():
        answered = gradient()
    np.testing.assert_allclose(plain, answered, rtol=1e-5, atol=1e-6)


@each("program", [
    lambda p: (p * 2j).real, lambda p: (p / 2j).real, lambda p: torch.ops.aten.mul.Scalar(p, 2j).real,
    lambda p: torch.add(p, p, alpha=2j).real, lambda p: torch.sub(p, p, alpha=2j).real,
    lambda p: torch.dot(p, p * 2j).real, lambda p: (p.real * (1 + 2j)).real, lambda p: (p.abs() * p).imag,
    lambda p: torch.cat([p.real[:0], p.imag]), lambda p: torch.outer(p, p)[:, [0, 0]].real])
def test_gradients_of_complex_numbers_and_of_subscripts(program):
    def gradient():
        p = torch.tensor([1 + 2j, -3j], requires_grad=True)
        program(p).sum().backward()
        return p.grad.numpy()
    with Heard():
        answered = gradient()
    np.testing.assert_allclose(answered, gradient(), rtol=1e-6)


@pytest.mark.parametrize("program", [
    lambda p: F.softmax(p, 1)[:, 0], lambda p: F.log_softmax(p, 0)[0], lambda p: p.sinh(), lambda p: p * p.exp()])
def test_gradients_of_gradients(program):
    def gradient():
        p = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], requires_grad=True)
        first, = torch.autograd.grad(program(p).pow(2).sum(), p, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), p)[0].numpy()
    with Heard():
        answered = gradient()
    np.testing.assert_allclose(answered, gradient(), rtol=1e-4, atol=1e-6)


def test_graphs_of_gradients_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(engine_gradients, "KEPT", 2)
    monkeypatch.setattr(engine_gradients, "_graphs", {})
    with Heard():
        for size in (1, 2, 3, 4, 3):
            torch.ones(size, requires_grad=True).sinh().sum().backward()
    assert [key[0] for key in engine_gradients._graphs] == ["aten.sinh.default"] * 2


@pytest.mark.parametrize("program", [torch.sin, torch.exp, torch.sinh, lambda q: q * q, lambda q: q[None] @ q[:, None]])
def test_backward_passes_notice_later_writes(program):
    with Heard():
        q = torch.ones(3, requires_grad=True) * 2
        made = program(q)
        (made if program is torch.exp else q).add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            made.sum().backward()


@pytest.mark.parametrize("program", [lambda q: q + 1, lambda q: q * 5, lambda q: q.view(3, 1).mean(0),
                                     lambda q: torch.cat([q, q]), lambda q: q.cumsum(0), torch.tanh])
def test_writes_to_what_no_gradient_reads_are_let_be(program):
    with Heard():
        p = torch.ones(3, requires_grad=True)
        q = p * 1
        made = program(q)
        q.add_(1)
        made.sum().backward()
    plain = torch.ones(3, requires_grad=True)
    program(plain * 1).sum().backward()
    np.testing.assert_allclose(p.grad.numpy(), plain.grad.numpy(), rtol=1e-6)


def test_running_statistics_may_change_before_a_backward_pass():
    model, batch = torch.nn.BatchNorm1d(3), torch.randn(4, 3)
    with Heard():
        (model(batch) * model(batch * 2)).sum().backward()
    assert model.weight.grad.shape == (3,)


@pytest.mark.parametrize("program", [torch.sin, torch.sinh])
def test_a_second_backward_pass_says_what_is_gone(program):
    with Heard():
        made = program(torch.ones(3, requires_grad=True)).sum()
        made.backward(retain_graph=True)
        made.backward()
        with pytest.raises(RuntimeError, match="retain_graph=True"):
            made.backward()


def test_modes_stand_on_each_other():
    class Named(dispatch.TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append(self.name)
            return func(*args, **(kwargs or {}))
    order = []
    with Named("outer") as outer:
        assert dispatch._get_current_dispatch_mode() is outer and dispatch.is_in_torch_dispatch_mode()
        with Named("inner"):
            x() * 2
        with dispatch._disable_current_modes() as modes:
            x() * 2
        assert modes == [outer]
    assert order == ["inner", "outer"] * 3  # arange and view of x(), and the product
    assert not dispatch.is_in_torch_dispatch_mode()
    with pytest.raises(ZeroDivisionError), Named("gone"):
        1 / 0
    assert heard(lambda: None) == [] and dispatch._get_current_dispatch_mode_stack() == []


def test_a_mode_changes_what_is_computed():
    class Instead(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten.add.Tensor:
                func = torch.ops.aten.sub.Tensor
            return func(*args, **(kwargs or {}))
    given = x()
    with Instead():
        assert (given + 1).tolist() == [[-1, 0, 1], [2, 3, 4]]
    assert (given + 1).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_mode_without_an_answer_says_so():
    given = x()
    with dispatch.TorchDispatchMode(), pytest.raises(NotImplementedError, match="__torch_dispatch__"):
        given + 1
    assert isinstance(dispatch.BaseTorchDispatchMode.push(), dispatch.TorchDispatchMode)
    with dispatch.BaseTorchDispatchMode():
        assert (given + 1)[0, 0] == 1
    with pytest.raises(NotImplementedError, match="_dispatch_key"):
        dispatch.TorchDispatchMode(3)


def test_functions_are_asked_before_operators():
    from dragon.vm.torch.overrides import TorchFunctionMode

    class Calls(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append(func.__name__)
            return func(*args, **(kwargs or {}))
    order, given = [], x()
    with Heard() as mode, Calls():
        F.softmax(given, -1)
    assert "softmax" in order[0] and mode.names == ["_softmax.default"]
