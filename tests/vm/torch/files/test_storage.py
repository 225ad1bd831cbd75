"""Storages, copies and pickles of tensors beside PyTorch's."""
import copy
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402
from harness.subresults import each  # noqa: E402

# What is asked of both modules; the answers are compared as text.
QUESTIONS = {
    "bytes": lambda t: t.arange(3, dtype=t.int16)[1:].untyped_storage().tolist(),
    "sizes": lambda t: (lambda s: (len(s), s.nbytes(), s.size(), s.element_size(), s.device))(
        t.ones(3).untyped_storage()),
    "repr": lambda t: [t.ones(2).untyped_storage(), t.FloatStorage([1.5, 2])],
    "write": lambda t: (lambda x: (x.untyped_storage().fill_(0), x)[1])(t.ones(3)),
    "item": lambda t: (lambda s: (s.__setitem__(1, 7), s[1], s.tolist()))(t.UntypedStorage([1, 2, 3])),
    "typed": lambda t: (lambda s: (len(s), s[1], s.dtype, s.type(), s.element_size(), s.tolist()))(
        t.LongStorage([4, 5])),
    "cast": lambda t: t.FloatStorage([1.5, 2.5]).long().tolist(),
    "kinds": lambda t: [isinstance(t.FloatStorage(2), t.FloatStorage), isinstance(t.FloatStorage(2), t.LongStorage)],
    "same": lambda t: (lambda x: x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr())(t.ones(3)),
    "set": lambda t: t.empty(0).set_(t.arange(12.).untyped_storage(), 1, (2, 3), (4, 1)),
    "set to tensor": lambda t: t.empty(0).set_(t.arange(6.).reshape(2, 3).t()),
    "set to typed": lambda t: t.empty(0).set_(t.FloatStorage([1, 2, 3])),
    "set to nothing": lambda t: t.ones(3).set_(),
    "from storage": lambda t: t.FloatTensor(t.FloatStorage([1, 2])),
    "deepcopy of views": lambda t: (lambda y: (y[0].add_(1), y[1], y[1].stride())[1:])(
        copy.deepcopy((lambda x: [x, x.t()])(t.arange(4.).reshape(2, 2)))),
    "deepcopy of grad": lambda t: (lambda x: (x.mul(3).sum().backward(), copy.deepcopy(x).grad)[1])(
        t.ones(2, requires_grad=True)),
    "copy": lambda t: (lambda x: (copy.copy(x).add_(1), x)[1])(t.ones(2)),
    "dtype": lambda t: [copy.deepcopy(t.float32) is t.float32, copy.copy(t.strided) is t.strided],
    "shared": lambda t: (lambda x: (x.is_shared(), x.share_memory_() is x, x.is_shared(), x))(t.ones(3)),
    "shared storage": lambda t: t.ones(3).untyped_storage().share_memory_().is_shared(),
    "clone": lambda t: t.ones(2).untyped_storage().clone().tolist(),
    "cpu": lambda t: (lambda s: s.cpu() is s)(t.ones(2).untyped_storage()),
}


@each("name", QUESTIONS)
def test_answers_as_theirs(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert repr(QUESTIONS[name](dt)) == repr(QUESTIONS[name](torch))


@each("make", [
    lambda t: t.arange(6.).reshape(2, 3).t(), lambda t: t.ones(2, dtype=t.bfloat16), lambda t: t.ones(2)[1:],
    lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.ones(2, requires_grad=True)])
@each("protocol", [2, 5])
def test_pickles(make, protocol):
    value = make(dt)
    read = pickle.loads(pickle.dumps(value, protocol))
    assert type(read) is type(value) and read.tolist() == value.tolist() and read.stride() == value.stride()
    assert read.requires_grad == value.requires_grad
    again = copy.deepcopy(value)
    assert type(again) is type(value) and again.data_ptr() != value.data_ptr() and again.tolist() == value.tolist()


def test_constants_pickle_as_themselves():
    for value in (dt.float32, dt.strided, dt.channels_last, dt.per_tensor_affine, dt.relu, dt.nn.functional.relu):
        assert pickle.loads(pickle.dumps(value)) is value
    assert pickle.loads(pickle.dumps(dt.device("cuda:1"))) == dt.device("cuda:1")


def test_what_storages_cannot():
    lent = dt.ones(2)
    numbers = lent.numpy()
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        lent.untyped_storage().resize_(0)
    assert numbers.tolist() == [1, 1] and not lent.untyped_storage().resizable()
    with pytest.raises(ValueError, match="at least 0"):
        dt.ones(2).untyped_storage().resize_(-1)
    with pytest.raises(RuntimeError, match="created explicitly by the user"):
        copy.deepcopy(dt.ones(2, requires_grad=True) * 2)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        dt.core.functions.pickling._warn_typed_storage_removal.__globals__["_warned"].clear()
        assert len(dt.ones(2).storage()) == 2


def test_a_storage_is_emptied_and_filled_again():
    x = dt.arange(8.0)
    part, storage = x[2:], x.untyped_storage()
    assert storage.resizable() and storage.resize_(0) is storage
    assert (storage.nbytes(), storage.data_ptr(), x.untyped_storage().nbytes(), x.data_ptr()) == (0, 0, 0, 0)
    assert x.shape == (8,) and part.shape == (6,)
    with pytest.raises(RuntimeError, match="emptied"):
        x.sum()
    with pytest.raises(RuntimeError, match="emptied"):
        part.tolist()
    with pytest.raises((RuntimeError, ValueError)):
        x.as_strided((2,), (1,), 0)
    storage.resize_(32)
    x.copy_(dt.arange(8.0))
    assert part.tolist() == [2, 3, 4, 5, 6, 7] and storage.nbytes() == 32


@pytest.mark.parametrize("size", [4, 12, 40, 4096])
def test_a_storage_of_another_size_begins_with_the_old(size):
    def numbers(torch):
        x = torch.arange(5, dtype=torch.int32)
        storage = x.untyped_storage()
        storage.resize_(size)
        return storage.tolist()[:min(size, 20)], storage.nbytes(), len(x.untyped_storage()), x.shape
    assert numbers(dt) == numbers(torch)


def test_a_typed_storage_counts_elements():
    x = dt.arange(3.0)
    storage = x._typed_storage()
    assert storage.resize_(5).size() == 5 and storage.tolist()[:3] == [0, 1, 2]


def test_file_as_storage(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(16)))
    kept = dt.UntypedStorage.from_file(str(path), nbytes=16)
    kept[0] = 9
    assert path.read_bytes()[0] == 0 and kept[15] == 15
    through = dt.UntypedStorage.from_file(str(path), shared=True, nbytes=16)
    through[0] = 9
    assert path.read_bytes()[0] == 9
