"""Tensors that wrap others: what their classes are asked, and what becomes of them in gradients, copies and modules."""
import copy
import gc
import io
import pickle
import weakref

import numpy as np
import pytest

import dragon.vm.torch as torch
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.utils import _python_dispatch as dispatch
from dragon.vm.torch.utils._pytree import tree_map, tree_map_only

told = []


class Logged(torch.Tensor):
    """Wraps one tensor, in a slot, and notes operators."""

    __slots__ = ["elem"]

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        made = torch.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
            layout=elem.layout, device=elem.device, requires_grad=requires_grad)
        made.elem = elem
        return made

    def __repr__(self):
        return f"Logged({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        told.append(str(func).removeprefix("aten."))
        plain = tree_map_only(Logged, lambda item: item.elem, (args, kwargs or {}))
        made = tree_map(lambda item: cls(item) if isinstance(item, torch.Tensor) else item, func(*plain[0], **plain[1]))
        return dispatch.return_and_correct_aliasing(func, args, kwargs, made)


class Pair(torch.Tensor):
    """Wraps two tensors in attributes."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, a, b, size=None, stride=None):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape if size is None else size, dtype=a.dtype,
                                                   strides=a.stride() if stride is None else stride)

    def __init__(self, a, b, size=None, stride=None):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Pair(inner["a"], inner["b"], size, stride)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        first, second = (func(*tree_map_only(Pair, lambda item: getattr(item, name), args),
                              **tree_map_only(Pair, lambda item: getattr(item, name), kwargs or {})) for name in "ab")
        made = tree_map(lambda one, other: Pair(one, other) if isinstance(one, torch.Tensor) else one, first, second)
        return dispatch.return_and_correct_aliasing(func, args, kwargs, made)


def plain():
    return torch.arange(6.).view(2, 3)


def logged(requires_grad=False):
    told.clear()
    return Logged(plain(), requires_grad)


def numbers(x):
    return x.elem.numpy()


def test_a_wrapper_lies_as_it_says():
    x = Logged(plain().t()[1:])
    assert x.shape == (2, 2) and x.stride() == (1, 3) and x.storage_offset() == 1 and not x.is_contiguous()
    assert x.dtype == torch.float32 and x.device.type == "cpu" and x.numel() == 4 and x.dim() == 2 and len(x) == 2
    assert x.data_ptr() == 0 and type(x) is Logged and isinstance(x, torch.Tensor)
    for dtype in (torch.bfloat16, torch.complex64, torch.bool, torch.uint16):
        assert torch.Tensor._make_wrapper_subclass(Logged, (0, 3), dtype=dtype).dtype == dtype
    assert torch.Tensor._make_wrapper_subclass(Logged, (2,), device="meta").device.type == "meta"
    assert torch.Tensor._make_wrapper_subclass(Logged, ()).shape == ()


def test_its_class_is_asked():
    x = logged()
    made = F.linear(x + 1, torch.ones(4, 3), torch.zeros(4))
    assert told == ["add.Tensor", "addmm.default"] and type(made) is Logged
    np.testing.assert_array_equal(numbers(made), [[6] * 4, [15] * 4])
    assert type(torch.cat([x, plain()])) is Logged and type((x > 1).any()) is Logged
    x += 1
    x[0] = 7
    np.testing.assert_array_equal(numbers(x), [[7, 7, 7], [4, 5, 6]])
    assert x.sum().item() == 36 and float(x.sum()) == 36 and bool(x.sum()) and int(x.sum()) == 36
    assert torch.add(x, 1, out=x) is x
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.tolist()


def test_gradients_are_wrappers_too():
    x = logged(requires_grad=True)
    y = (x * x + x).sum()
    assert x.is_leaf and y.requires_grad and not x.elem.requires_grad
    y.backward()
    assert told == """mul.Tensor add.Tensor sum.default ones_like.default expand.default mul.Tensor mul.Tensor
                      add.Tensor add.Tensor""".split()
    assert type(x.grad) is Logged
    np.testing.assert_array_equal(numbers(x.grad), 2 * plain().numpy() + 1)
    (x * 3).sum().backward()
    np.testing.assert_array_equal(numbers(x.grad), 2 * plain().numpy() + 4)
    x.grad = None
    weight = torch.ones(4, 3, requires_grad=True)
    F.linear(x, weight).relu().sum().backward()
    assert type(weight.grad) is Logged and numbers(weight.grad).tolist() == [[3, 5, 7]] * 4


def test_second_gradients_and_gradients_without_a_formula():
    x = logged(requires_grad=True)
    first, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    np.testing.assert_array_equal(numbers(second), 6 * plain().numpy())
    found, = torch.autograd.grad(x.sinh().logsumexp(1).sum(), x)
    p = plain().requires_grad_()
    p.sinh().logsumexp(1).sum().backward()
    np.testing.assert_allclose(numbers(found), p.grad.numpy(), rtol=1e-5)
    doubled = x * 2
    doubled.mul_(x)
    np.testing.assert_array_equal(numbers(torch.autograd.grad(doubled.sum(), x)[0]), 4 * plain().numpy())
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    with torch.no_grad():
        assert not (x * 2).requires_grad


def test_functions_of_python_and_hooks_see_wrappers():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.extend([type(ctx.saved_tensors[0]), type(grad)])
            return grad * 2
    seen, x = [], logged(requires_grad=True)
    x.register_hook(lambda grad: seen.append(type(grad)))
    Double.apply(x).sum().backward()
    assert seen == [Logged] * 3 and numbers(x.grad).tolist() == [[2] * 3] * 2


def test_an_answer_may_record_inside():
    class Inner(torch.Tensor):
        @staticmethod
        def __new__(cls, elem):
            made = torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype)
            made.elem = elem
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            assert torch.ops.aten.mul.Tensor(args[0].elem, 1).requires_grad is False
            with torch.overrides.enable_reentrant_dispatch():
                return cls(func(*tree_map_only(Inner, lambda item: item.elem, args), **(kwargs or {})))
    p = torch.ones(2, requires_grad=True)
    (Inner(p) * 3).sum().elem.backward()
    assert p.grad.tolist() == [3, 3]


def test_copies_pickles_and_files():
    x = Pair(plain(), plain() + 1)
    x.note = "kept"
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(other) is Pair and other.b.tolist() == x.b.tolist() and other.b is not x.b
    assert pickle.loads(pickle.dumps(x)).note == "kept"
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    assert torch.load(file, weights_only=False)["x"].a.tolist() == plain().tolist()


def test_wrappers_are_taken_apart_and_put_together():
    x = Pair(plain(), plain() + 1)
    assert dispatch.is_traceable_wrapper_subclass(x) and dispatch.is_traceable_wrapper_subclass_type(Pair)
    assert not dispatch.is_traceable_wrapper_subclass(logged()) and not dispatch.is_traceable_wrapper_subclass(plain())
    names = []
    made = dispatch.transform_subclass(x, lambda name, part: names.append(name) or part * 2)
    assert names == ["a", "b"] and type(made) is Pair and made.b.tolist() == (x.b * 2).tolist()

    class Shorter(Pair):
        @staticmethod
        def __tensor_unflatten__(inner, context, size, stride):
            return Pair(inner["a"][0], inner["b"][0])
    with pytest.raises(AssertionError, match="transform_subclass"):
        dispatch.transform_subclass(Shorter(plain(), plain()), lambda name, part: part)


def test_weights_of_eight_bits():
    class Int8(torch.Tensor):
        @staticmethod
        def __new__(cls, data, scale, dtype):
            return torch.Tensor._make_wrapper_subclass(cls, data.shape, dtype=dtype)

        def __init__(self, data, scale, dtype):
            self.kept, self.scale = data, scale

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is F.linear:
                x, weight, *rest = args
                return F.linear(x, weight.kept.to(weight.dtype) * weight.scale, *rest)
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

        @classmethod
        def __torch_dispatch__(cls, func, types, args, kwargs=None):
            x = args[0]
            if func in (torch.ops.aten.detach.default, torch.ops.aten.clone.default, torch.ops.aten._to_copy.default):
                return cls(x.kept.clone(), x.scale, (kwargs or {}).get("dtype", x.dtype))
            raise NotImplementedError(f"Int8: {func}")
    layer = torch.nn.Linear(3, 2, bias=False)
    scale = layer.weight.detach().abs().amax(1, keepdim=True) / 127
    kept = (layer.weight.detach() / scale).round().to(torch.int8)
    wanted = layer(plain()).detach().numpy()
    layer.weight = torch.nn.Parameter(Int8(kept, scale, torch.float32), requires_grad=False)
    assert type(layer.weight) is Int8 and isinstance(layer.weight, torch.nn.Parameter)
    assert list(dict(layer.named_parameters())) == ["weight"] and type(layer.state_dict()["weight"]) is Int8
    np.testing.assert_allclose(layer(plain()).numpy(), wanted, atol=0.05)
    assert layer.to(torch.float64).weight.dtype == torch.float64
    with pytest.raises(NotImplementedError, match="Int8: aten.add.Tensor"):
        layer.weight + 1


def test_modes_come_before_classes():
    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), types))
            return func(*args, **(kwargs or {}))
    seen, x = [], logged()
    with Mode():
        x + 1
    assert seen == [("aten.add.Tensor", (Logged,))] and told == ["add.Tensor"]
    with torch.utils._mode_utils.no_dispatch(), Mode():
        assert (plain() + 1)[0, 0] == 1
    assert len(seen) == 1


def test_subclasses_with_numbers_of_their_own():
    class Dense(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            told.append(str(func))
            return super().__torch_dispatch__(func, types, args, kwargs or {})
    told.clear()
    x = torch.Tensor._make_subclass(Dense, plain())
    assert type(x + 1) is torch.Tensor and (x + 1).tolist() == (plain() + 1).tolist()
    assert type(plain().as_subclass(Dense).sum()) is torch.Tensor
    assert told == ["aten.add.Tensor", "aten.add.Tensor", "aten.sum.default"]


def test_policies_ask_for_sizes():
    class Sized(Logged):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            asked.append(str(func))
            return {"aten.size.default": (7, 7), "aten.stride.default": (7, 1), "aten.dim.default": 2,
                    "aten.numel.default": 49, "aten.is_contiguous.default": True}[str(func)]
    asked = []
    x = torch.Tensor._make_wrapper_subclass(Sized, (2, 3), dispatch_sizes_strides_policy="sizes")
    assert x.size() == (7, 7) and x.stride() == (7, 1) and x.dim() == 2 and x.numel() == 49
    y = torch.Tensor._make_wrapper_subclass(Sized, (2, 3), dispatch_sizes_strides_policy="strides")
    assert y.size() == (2, 3) and y.stride() == (7, 1) and asked[-1] == "aten.stride.default"


def test_what_makes_no_wrapper_says_so():
    make = torch.Tensor._make_wrapper_subclass
    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        make(type("Silent", (torch.Tensor,), {}), (2,))
    with pytest.raises(TypeError, match="subclass of torch.Tensor"):
        make(int, (2,))
    with pytest.raises(RuntimeError, match="floating point and complex"):
        make(Logged, (2,), dtype=torch.int64, requires_grad=True)
    with pytest.raises(RuntimeError, match="one for each"):
        make(Logged, (2, 3), strides=(1,))
    with pytest.raises(RuntimeError, match="'sizes' or 'strides'"):
        make(Logged, (2,), dispatch_sizes_strides_policy="none")
    for refused in ({"layout": torch.sparse_coo}, {"dispatch_device": True}, {"storage_size": 4}, {"pin_memory": True}):
        with pytest.raises(NotImplementedError, match=next(iter(refused))):
            make(Logged, (2,), **refused)

    class Declines(Logged):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'aten.sin.default'"):
        Declines(plain()).sin()
    assert repr(make(Pair, (2,), dtype=torch.int8)) == "Pair(..., size=(2,), dtype=torch.int8)"


def test_nobody_keeps_a_wrapper():
    x = logged(requires_grad=True)
    (x * 2).sum().backward()
    gone = [weakref.ref(x), weakref.ref(x.elem), weakref.ref(x.grad.elem)]
    del x
    gc.collect()
    assert [one() for one in gone] == [None] * 3


def test_sparse_tensors_stay_what_they_are():
    logged() + 1
    x = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2., 3.], (2, 2))
    assert x.size() == (2, 2) and x.size(0) == 2 and type(x) is type(x * 2)
    assert copy.deepcopy(x).to_dense().tolist() == pickle.loads(pickle.dumps(x)).to_dense().tolist() == [[0, 2], [3, 0]]
    assert torch.sparse.mm(x, plain()[:, :2]).tolist() == [[6, 8], [0, 3]]
    assert type(torch.sparse.mm(logged(), plain().T)) is Logged and told == ["mm.default"]


@pytest.mark.parametrize("program", [torch.exp, torch.sin, torch.sinh])
def test_backward_passes_notice_writes_to_wrappers(program):
    p = Logged(torch.ones(3), requires_grad=True)
    q = p * 1
    made = program(q)
    with torch.no_grad():
        (made if program is torch.exp else q).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()
    q = p * 1
    made = (q + 1).sum()
    q.add_(1)
    made.backward()
    assert p.grad.elem.tolist() == [1, 1, 1]
