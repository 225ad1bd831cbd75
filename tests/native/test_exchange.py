"""Tensors to and from elsewhere without a copy: NumPy, buffers, DLPack; and with one: pickles, copies, lists."""
import copy
import pickle

import numpy as np
import pytest

import dragon
from harness.subresults import each

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
                "complex128"]


def torch_or_skip():
    """Return PyTorch, or skip."""
    return pytest.importorskip("torch", reason="PyTorch is the other side of this exchange")


@each("name", NUMPY_DTYPES)
def test_numpy_shares_memory_both_ways(name):
    array = np.zeros((3, 4), name)
    x = dragon.from_numpy(array)
    assert x.data_ptr() == array.__array_interface__["data"][0] and x.dtype.name == name
    array[1, 2] = 1
    assert x[1, 2].item() == 1
    back = x.numpy()
    assert back.__array_interface__["data"][0] == x.data_ptr() and back.dtype == name
    back[0, 0] = 1
    assert x[0, 0].item() == 1 and np.asarray(x).base is not None


def test_strided_arrays_keep_their_strides():
    array = np.arange(24.0).reshape(4, 6)
    for view in (array[::2, 1::2], array.T, array[1], array[:, 0], np.broadcast_to(array[0], (3, 6))):
        x = dragon.from_numpy(view)
        assert x.shape == view.shape and x.tolist() == view.tolist()
        if view.flags.writeable:
            assert x.data_ptr() == view.__array_interface__["data"][0]


def test_views_become_strided_arrays():
    x = dragon.arange(24.0).reshape(4, 6)
    for view in (x[::2, 1::2], x.T, x[1], x[:, 0]):
        array = view.numpy()
        assert array.__array_interface__["data"][0] == view.data_ptr() and array.tolist() == view.tolist()


def test_read_only_arrays_are_copied():
    array = np.zeros(3)
    array.flags.writeable = False
    x = dragon.from_numpy(array)
    x[0] = 1
    assert array[0] == 0


@pytest.mark.parametrize("array", [np.zeros(3)[::-1], np.zeros((2, 3))[:, ::-1]], ids=["1-d", "2-d"])
def test_negative_strides_are_refused(array):
    with pytest.raises(ValueError, match="stride"):
        dragon.from_numpy(array)


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.zeros(2, ">f4"), np.zeros(2, "f4,i4"),
                                   np.zeros(1, "M8[s]")], ids=["text", "object", "endian", "fields", "time"])
def test_strange_arrays_are_refused(array):
    with pytest.raises((TypeError, ValueError)):
        dragon.from_numpy(array)


def test_memory_outlives_its_maker():
    x = dragon.from_numpy(np.arange(1000.0))
    array = dragon.arange(1000.0).numpy()
    assert x.sum().item() == array.sum() == 499500


def test_buffers():
    x = dragon.tensor([1, 2, 3], dtype=dragon.int32)
    view = memoryview(x)
    assert view.tolist() == [1, 2, 3] and view.format == "i"
    view[0] = 9
    assert x.tolist() == [9, 2, 3]
    assert dragon.from_numpy(bytearray(b"abc")).tolist() == [97, 98, 99]


def test_what_has_no_array():
    with pytest.raises(RuntimeError, match="detach"):
        dragon.ones((2,), requires_grad=True).numpy()
    with pytest.raises(TypeError, match="bfloat16"):
        dragon.ones((2,), dtype=dragon.bfloat16).numpy()
    with pytest.raises((TypeError, NotImplementedError), match="meta"):
        dragon.ones((2,), device="meta").numpy()


@each("name", NUMPY_DTYPES + ["bfloat16"])
def test_dlpack_with_torch_both_ways(name):
    torch = torch_or_skip()
    theirs = torch.ones((3, 4)).to(getattr(torch, name))[:, 1:]
    mine = dragon.from_dlpack(theirs)
    assert mine.data_ptr() == theirs.data_ptr() and mine.strides == tuple(theirs.stride()) and mine.dtype.name == name
    x = dragon.ones((4, 3), dtype=name).transpose(0, 1)
    back = torch.from_dlpack(x)
    assert back.data_ptr() == x.data_ptr() and tuple(back.stride()) == x.strides and str(back.dtype) == f"torch.{name}"
    del theirs, x
    assert mine.tolist() == [[1] * 3] * 3 and back.float().tolist() == [[1] * 4] * 3


def test_dlpack_with_numpy():
    x = dragon.arange(6.0).reshape(2, 3)
    array = np.from_dlpack(x)
    assert array.__array_interface__["data"][0] == x.data_ptr()
    assert dragon.from_dlpack(np.arange(3.0)).tolist() == [0, 1, 2]


def test_dlpack_refuses_what_it_should():
    with pytest.raises(RuntimeError, match="detach"):
        dragon.ones((2,), requires_grad=True).__dlpack__()
    with pytest.raises(TypeError, match="from_dlpack"):
        dragon.from_dlpack(3)
    capsule = dragon.ones((2,)).__dlpack__()
    dragon._C.from_dlpack(capsule, dragon.Tensor)
    with pytest.raises(ValueError, match="taken"):
        dragon._C.from_dlpack(capsule, dragon.Tensor)
    assert dragon.ones((2,)).__dlpack_device__() == (1, 0)


def test_dlpack_with_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy needs a GPU")
    x = dragon.from_dlpack(cupy.ones(3))
    assert x.device.type == "cuda"


@each("name", NUMPY_DTYPES + ["bfloat16"])
@each("protocol", [2, 5])
def test_pickles(name, protocol):
    x = dragon.arange(12).reshape(3, 4).astype(name).transpose(0, 1)
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.dtype == x.dtype and y.tolist() == x.tolist() and y.data_ptr() != x.data_ptr()


def test_pickles_keep_what_gradients_are_wanted():
    x = dragon.ones((0, 3), requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    assert y.requires_grad and y.shape == (0, 3)
    assert pickle.loads(pickle.dumps(dragon.float16)) == dragon.float16
    assert pickle.loads(pickle.dumps(dragon.Device("cuda:1"))) == dragon.Device("cuda", 1)


def test_copies():
    x = dragon.ones((2,), requires_grad=True)
    deep, shallow = copy.deepcopy(x), copy.copy(x)
    assert deep.requires_grad and deep.data_ptr() != x.data_ptr()
    assert shallow.requires_grad and shallow.data_ptr() == x.data_ptr()
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]
    with pytest.raises(RuntimeError, match="history"):
        copy.deepcopy(x * 2)


@each("data, name", [(1, "int64"), (1.5, "float32"), (True, "bool"), (2j, "complex64"),
                     ([], "float32"), ([1, 2.5], "float32"), ([[True, False]], "bool"),
                     (np.float64(2), "float64"), (np.int8([1]), "int8"), (range(3), "int64")],
      ids=str)
def test_what_numbers_become(data, name):
    x = dragon.tensor(data)
    assert x.dtype.name == name and x.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize("data", [[1, [2]], [[1, 2], [3]], ["a"], None, object, [None], {1: 2}, "text"], ids=repr)
def test_what_is_no_box_of_numbers(data):
    with pytest.raises((TypeError, ValueError), match="tensor"):
        dragon.tensor(data)


def test_printing():
    assert repr(dragon.tensor([[1.0, 2.0]])) == "Tensor([[1., 2.]])"
    assert repr(dragon.tensor([1, 2], dtype=dragon.int8)) == "Tensor([1, 2], dtype=int8)"
    assert repr(dragon.tensor(1.5, requires_grad=True)) == "Tensor(1.5, requires_grad=True)"
    assert repr(dragon.tensor(1.5, dtype=dragon.bfloat16)) == "Tensor(1.5, dtype=bfloat16)"
    assert repr(dragon.ones((2, 3), device="meta")) == "Tensor(shape=(2, 3), dtype=float32, device='meta')"
    assert "grad_fn=exp" in repr(dragon.tensor(1.0, requires_grad=True).exp())
    assert "..." in repr(dragon.arange(5000))
    empty = dragon.empty((2, 0))
    assert repr(empty) == "Tensor([], shape=(2, 0), dtype=float32)"
    assert f"{dragon.tensor(1.25):.1f}" == "1.2"


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"])
def test_arrays_have_numpys_own_dtype(name):
    array = dragon.tensor([1, 2], dtype=name).numpy()
    assert array.dtype.char == np.dtype(name).char and repr(array) == repr(np.array([1, 2], name))
    assert dragon.from_numpy(np.array([1, 2], "longlong")).dtype == dragon.int64
