"""Classes and modes hear of attributes, operators of Python's and looks at numbers as in genuine PyTorch."""
import copy
import operator
import pickle

import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

BOTH = (torch, dragon_torch)
NAMES = {"divide": "div", "divide_": "div_"}  # one object here, which is called so


def listening(t):
    """Return a class of tensors, and the list of the names of what it is asked for."""
    heard = []

    class Heard(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            name = func.__name__
            heard.append(func.__self__.__name__ if name in ("__get__", "__set__") else NAMES.get(name, name))
            return super().__torch_function__(func, types, args, kwargs or {})
    return Heard, heard


ATTRIBUTES = ("shape dtype device ndim itemsize nbytes requires_grad is_leaf grad data retains_grad _version grad_fn "
              "layout is_sparse is_quantized is_cpu is_cuda is_meta real mT T mH H name _base output_nr "
              "_backward_hooks _post_accumulate_grad_hooks").split()
CALLS = {
    "item": lambda x: x[0, 0].item(), "tolist": lambda x: x.tolist(), "numpy": lambda x: x.numpy().tolist(),
    "size": lambda x: (x.size(), x.size(0)), "bool": lambda x: bool(x[0, 0]), "float": lambda x: float(x[0, 0]),
    "int": lambda x: int(x[0, 0]), "complex": lambda x: complex(x[0, 0]), "index": lambda x: [1, 2][x[0, 0].long()],
    "len": lambda x: len(x), "write": lambda x: x.__setitem__(0, 5.0), "as_subclass": lambda x: type(x.as_subclass(
        type(x).__mro__[1])).__name__, "dir": lambda x: "shape" in dir(x), "plus": lambda x: +x, "minus": lambda x: -x,
    "abs": abs, "not": lambda x: ~x.long(), "contains": lambda x: 2.0 in x, "is zero": lambda x: x._is_zerotensor(),
    "set grad": lambda x: setattr(x, "grad", None), "set requires_grad": lambda x: setattr(x, "requires_grad", True),
    "set data": lambda x: setattr(x, "data", x.data * 2), "copy": lambda x: type(copy.copy(x)).__name__,
    "None": lambda x: (x == None, x != None),  # noqa: E711
    "text": lambda x: (x == "a", x != "a"),
    "subscript": lambda x: x.as_subclass(type(x).__mro__[1])[x.long() - 1, 0], "hooks": lambda x: len(
        [x.requires_grad_(), x.register_hook(print), x._backward_hooks][-1])}


@each("read", ATTRIBUTES)
def test_attributes(read):
    found = []
    for t in BOTH:
        kind, heard = listening(t)
        result = getattr(t.tensor([[1.0, 2.0], [3.0, 4.0]]).as_subclass(kind), read)
        found.append((heard, isinstance(result, kind), str(result) if not isinstance(result, t.Tensor) else None))
    assert found[0] == found[1]


@each("name", CALLS)
def test_calls(name):
    found = []
    for t in BOTH:
        kind, heard = listening(t)
        result = CALLS[name](t.tensor([[1.0, 2.0], [2.0, 1.0]]).as_subclass(kind))
        asked = list(heard)
        if name == "copy":
            asked = asked[:1]
        found.append((asked, type(result).__name__, result.tolist() if isinstance(result, t.Tensor) else result))
    assert found[0] == found[1] or name in ("None", "text") and found[0][1:] == found[1][1:]  # who is not asked for ==


@each("other", ["number", "plain", "same"])
@each("name", "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt ge iadd "
      "isub imul ifloordiv ipow iand ior ixor ilshift irshift".split())
def test_operators(name, other):
    found = []
    for t in BOTH:
        kind, heard = listening(t)
        both = []
        for swapped in (False, True):
            x = t.tensor([3, 2]).as_subclass(kind)
            y = {"number": 2, "plain": t.tensor([1, 2]), "same": t.tensor([2, 1]).as_subclass(kind)}[other]
            result = getattr(operator, name)(*((y, x) if swapped and not name.startswith("i") else (x, y)))
            both.append((type(result).__name__, result.tolist()))
        found.append((list(heard), both))
    assert found[0] == found[1]


@each("name", "add sub mul truediv mod and_ or_ xor lshift rshift lt ge".split())
@each("other", [None, "a", [1, 2]])
def test_operators_of_what_is_no_operand(name, other):
    for t in BOTH:
        kind, _ = listening(t)
        with pytest.raises(TypeError):
            getattr(operator, name)(t.tensor([3, 2]).as_subclass(kind), other if name != "mul" or other else {})


@pytest.mark.parametrize("t", BOTH)
def test_modes_hear_of_attributes(t):
    heard = []

    class Mode(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            heard.append(t.overrides.resolve_name(func))
            return func(*args, **(kwargs or {}))
    x = t.ones(2, requires_grad=True)
    with Mode():
        assert x.shape == (2,) and x.T is not None and x.grad is None and not bool(x[0] == 2)
    names = [name for name in heard if name and name.endswith("__get__")]
    assert names == ["torch.Tensor.shape.__get__", "torch.Tensor.T.__get__", "torch.Tensor.grad.__get__"]
    assert t.Tensor.grad.__get__ in t.overrides.get_default_nowrap_functions()
    assert t.Tensor.shape.__get__ == t.Tensor.shape.__get__ != t.Tensor.dtype.__get__


@pytest.mark.parametrize("t", BOTH)
def test_a_class_may_say_another_shape(t):
    class Odd(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func == t.Tensor.shape.__get__:
                return "odd"
            if func.__name__ == "__len__":
                return 7
            if func.__name__ in ("__bool__", "__float__", "item"):
                raise ValueError("no numbers")
            return super().__torch_function__(func, types, args, kwargs or {})
    x = t.ones(2).as_subclass(Odd)
    assert x.shape == "odd" and len(x) == 7 and x.dtype == t.float32
    for look in (bool, float, lambda x: x.item()):
        with pytest.raises(ValueError, match="no numbers"):
            look(x)


@pytest.mark.parametrize("t", BOTH)
def test_classes_without_an_answer_of_their_own(t):
    class Plain(t.Tensor):
        pass
    x = t.ones(2, 2).as_subclass(Plain)
    assert type(x.data) is type(x.T) is type(x + 1) is Plain and type(x.shape) is t.Size
    x.requires_grad = True
    (x * 2).sum().backward()
    assert type(x.grad) is t.Tensor
    parameter = t.nn.Parameter(t.ones(2))
    assert type(parameter.data) is t.Tensor and pickle.loads(pickle.dumps(parameter)).shape == (2,)
    with pytest.raises(AttributeError):
        x.shape = (4,)
    with pytest.raises(AttributeError):
        x.no_such_attribute


@pytest.mark.parametrize("t", BOTH)
def test_hooks_are_shown(t):
    x = t.ones(2, requires_grad=True)
    assert x._backward_hooks is None and x._post_accumulate_grad_hooks is None
    first, second = x.register_hook(print), x.register_hook(len)
    assert list(x._backward_hooks.values()) == [print, len] and list(x._backward_hooks) == [first.id, second.id]
    first.remove()
    assert list(x._backward_hooks.values()) == [len]
    y = x * 2
    y.register_hook(abs)
    assert list(y._backward_hooks.values()) == [abs]
    x.register_post_accumulate_grad_hook(print)
    assert list(x._post_accumulate_grad_hooks.values()) == [print]


SHARED = {
    "x[1:] = x[:-1]": True, "x[1:] = x[1:]": False, "x[1:].copy_(x[:-1])": True, "m.copy_(m.t())": True,
    "x[1:] += x[:-1]": True, "x[x > 2] = x[:2]": True, "x[x > 2] = x[0]": False, "x[i] = x[:2]": True,
    "x[:2] = x[2:4]": False, "m[:, 0] = m[:, 1]": False, "m[0] = m[1]": False, "x[:3].copy_(x[:1].expand(3))": False,
    "x.masked_fill_(x > 1, x[0])": False, "x.masked_scatter_(x > 2, x)": False, "x.index_fill_(0, i, x[0])": False,
    "x.put_(i, x[:2])": True, "x.index_put_((i,), x[:2])": True, "x.index_copy_(0, i, x[:2])": True,
    "t.take(x, i, out=x[:2])": True, "t.masked_select(x, x > 2, out=x[:2])": True,
    "t.index_select(x, 0, i, out=x[:2])": True, "t.kthvalue(m, 1, 0, out=(m[0], t.empty(3).long()))": True,
    "x[...] = x": False, "x.copy_(x)": False, "x *= x": False, "x[:0] = x[1:1]": False}


@each("code", SHARED)
def test_writes_over_what_is_read(code):
    for t in BOTH:
        names = {"t": t, "x": t.arange(5.0), "m": t.arange(9.0).reshape(3, 3), "i": t.tensor([0, 1])}
        if SHARED[code]:
            with pytest.raises(RuntimeError):
                exec(code, names)
        else:
            exec(code, names)


@pytest.mark.parametrize("t", BOTH)
def test_a_class_tells_a_method_from_the_function(t):
    """A class may split itself by `torch.unbind` where it is asked for the method, as iteration asks."""
    class Batch(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            found = super().__torch_function__(func, types, args, kwargs or {})
            if func == t.Tensor.unbind:
                assert len(t.unbind(args[0])) == len(found)
                asked.append(func.__name__)
            return found
    asked = []
    x = t.ones(3, 2).as_subclass(Batch)
    assert [type(row) for row in x] == [Batch] * 3 == [type(row) for row in x.unbind(0)]
    assert asked == ["unbind"] * 2 and len(t.unbind(x, 1)) == 2 and len(asked) == 2
