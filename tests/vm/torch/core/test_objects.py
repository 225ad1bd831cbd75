"""Dtypes, devices, sizes, subclasses and old constructors behave as genuine PyTorch's."""
import pickle

import numpy
import pytest
import torch

from dragon.vm import torch as dragon_torch
from harness.subresults import each

BOTH = pytest.mark.parametrize("t", [torch, dragon_torch], ids=["genuine", "dragon"])


@BOTH
def test_dtypes(t):
    assert t.float is t.float32 and t.long is t.int64 and t.half is t.float16
    assert t.float64.is_floating_point and t.complex64.is_complex and not t.uint8.is_signed
    assert t.float32.itemsize == 4 and t.float32.to_complex() is t.complex64
    assert pickle.loads(pickle.dumps(t.bfloat16)) is t.bfloat16
    assert t.promote_types(t.int8, t.float16) is t.float16
    assert t.result_type(t.tensor(1), 1.5) is t.float32
    assert t.can_cast(t.int32, t.float32) and not t.can_cast(t.float32, t.int32)


def test_a_dtype_known_by_name_only_says_so():
    with pytest.raises(TypeError, match="qint8.*known by name only"):
        dragon_torch.zeros(2, dtype=dragon_torch.qint8)


@BOTH
def test_devices(t):
    assert t.device("cpu") == t.device("cpu") != t.device("cpu", 0)
    assert t.device("cuda:1").index == 1 and t.device("cuda:1") == t.device("cuda", 1)
    assert {t.device("cpu"): 1}[t.device("cpu")] == 1
    with pytest.raises(RuntimeError):
        t.device("gpu")
    with t.device("meta"):
        assert t.zeros(2).is_meta if t is torch else t.zeros(2).device.type == "meta"
    assert t.zeros(2).device == t.device("cpu")


@BOTH
def test_sizes(t):
    size = t.zeros(2, 3, 4).shape
    assert size == (2, 3, 4) and size[1:] == t.Size([3, 4]) and isinstance(size[1:], t.Size) and size.numel() == 24
    assert isinstance(size + (1,), t.Size) and pickle.loads(pickle.dumps(size)) == size


@BOTH
def test_subclasses_are_kept_and_asked(t):
    class Plain(t.Tensor):
        pass

    calls = []

    class Listening(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    plain = t.ones(2).as_subclass(Plain)
    plain.note = "kept"
    assert type(plain + 1) is Plain and type(t.exp(plain)) is Plain and plain.note == "kept"
    assert type(t.cat([plain, t.ones(1)])) is Plain and type(plain[0]) is Plain
    listening = t.ones(2).as_subclass(Listening)
    assert type(t.exp(listening)) is Listening and type(1 + listening) is Listening
    assert calls[0] == "exp" and len(calls) >= 2


@BOTH
def test_objects_that_are_no_tensors_may_answer(t):
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, len(args)

    assert t.add(Duck(), 1) == ("add", 2)
    assert t.cat([Duck(), t.ones(1)]) == ("cat", 1)


@BOTH
def test_old_constructors(t):
    assert t.Tensor(2, 3).shape == (2, 3) and t.Tensor().shape == (0,) and t.Tensor([1, 2]).dtype is t.float32
    assert t.LongTensor([1, 2]).dtype is t.int64 and t.DoubleTensor(2).shape == (2,)
    assert isinstance(t.zeros(2), t.FloatTensor) and not isinstance(t.zeros(2), t.LongTensor)
    assert t.zeros(2).type() == "torch.FloatTensor" and t.zeros(2).type("torch.LongTensor").dtype is t.int64


def test_a_missing_name_says_so():
    with pytest.raises(AttributeError, match="'reluu': PyTorch has no such name either; did you mean 'torch.relu'"):
        dragon_torch.reluu


@pytest.mark.parametrize("call", [
    lambda t: t.full((2,), 1, names=("rows",)), lambda t: t.ones(2).new_tensor([1], layout=t.sparse_coo),
    lambda t: t.Tensor._make_subclass(t.Tensor, t.ones(2), dispatch_device=True),
], ids=["names", "layout", "dispatch"])
def test_what_is_not_supported_is_refused(call):
    with pytest.raises(NotImplementedError):
        call(dragon_torch)


@BOTH
def test_numbers_of_a_tensor_with_a_gradient_are_lent_where_nothing_is_recorded(t):
    leaf = t.ones(3, requires_grad=True)
    for tensor in (leaf, leaf * 2):
        for read in (t.Tensor.numpy, numpy.asarray, numpy.array):
            with pytest.raises(RuntimeError, match=r"requires grad.*tensor\.detach\(\)\.numpy\(\)"):
                read(tensor)
            for quiet in (t.no_grad, t.inference_mode):
                with quiet():
                    assert read(tensor).tolist() == tensor.tolist()
        with t.no_grad():
            tensor.numpy()[0] = 7
        assert tensor.tolist()[0] == 7 and tensor.numpy(force=True)[0] == 7 and tensor.requires_grad


@BOTH
def test_the_type_called_tensor_is_the_default_one(t):
    whole = t.ones(2, dtype=t.int64)
    assert whole.type(t.Tensor).dtype is whole.type("torch.Tensor").dtype is t.float32
    t.set_default_dtype(t.float64)
    try:
        assert whole.type(t.Tensor).dtype is t.float64
    finally:
        t.set_default_dtype(t.float32)
    assert whole.type(t.FloatTensor).dtype is whole.type("torch.FloatTensor").dtype is t.float32
    for wrong in (int, float, object, t.nn.Parameter, "FloatTensor", ""):
        with pytest.raises(ValueError):
            whole.type(wrong)
    for wrong in (3, [t.float32], whole):
        with pytest.raises(TypeError):
            whole.type(wrong)


@each("name", """is_conj is_neg resolve_conj resolve_neg is_inference is_distributed dequantize
    _is_all_true sym_int sym_not get_num_interop_threads get_float32_matmul_precision""".split())
def test_functions_that_are_made_in_a_loop_travel_in_pickles(name):
    function = getattr(dragon_torch, name)
    assert pickle.loads(pickle.dumps(function)) is function


@BOTH
def test_tensors_have_numbers_of_their_own(t):
    layer, other = t.nn.Linear(2, 2), t.ones(2)
    view = other.view(2)
    assert layer.weight._cdata == next(layer.parameters())._cdata
    assert len({tensor._cdata for tensor in (layer.weight, layer.bias, other, view)}) == 4


@pytest.mark.parametrize("text, what", [
    ("notadevice", "Expected one of cpu, cuda, .* device type at start of device string: notadevice"),
    ("cpu:x", "Invalid device string: 'cpu:x'"), ("no device", "Invalid device string: 'no device'"),
    ("", "Device string must not be empty")])
@BOTH
def test_wrong_devices_are_told_as_in_pytorch(t, text, what):
    with pytest.raises(RuntimeError, match=what):
        t.device(text)


@each("name", ["cpu:1", "cpu:0", "meta:7", "meta", "meta:0"])
@each("t", [torch, dragon_torch], ids=["genuine", "dragon"])
def test_tensors_on_the_host_and_nowhere_have_no_number_of_a_device(t, name):
    x = t.empty(2, device=t.device(name))
    place = t.device(name.partition(":")[0])
    assert x.device == t.empty(2, device=name).device == (x + 1).device == x.to(name).device == place
    assert t.device("cpu:1").index == 1 and x.device.index is None and (x + t.empty(2, device=place)).shape == (2,)
