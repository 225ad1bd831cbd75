"""No file runs code: whatever allowed constructors are combined; and honest files of all kinds are read."""
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import io
import os
import pathlib
import pickle
import types
import typing
import uuid
import zipfile

import numpy
import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402
from harness.subresults import each  # noqa: E402


class Call:
    """Pickles as the call of a function, whose result gets states in turn."""

    def __init__(self, function, *arguments):
        self.parts, self.states = (function, arguments), []

    def given(self, *states):
        """Return this with states."""
        self.states += states
        return self

    def __reduce__(self):
        return self.parts if not self.states else (*self.parts, self.states[0])


class New(Call):
    """Pickles as a bare instance."""

    __class__ = property(lambda self: self.parts[0])  # picklers compare

    def __reduce_ex__(self, protocol):
        import copyreg
        parts = copyreg.__newobj__, (self.parts[0], *self.parts[1])
        return parts if not self.states else (*parts, self.states[0])


def namespace(**attributes):
    """Return a namespace as files hold it."""
    return Call(types.SimpleNamespace).given(attributes) if attributes else types.SimpleNamespace()


def trap():
    """Return a call that would write a file."""
    return Call(functools.partial, torch.save, 1, "trapped")


def late_trap():
    """Return a function of torch with arguments, which got the function last."""
    return Call(functools.partial, torch.relu).given((torch.save, (1, "trapped"), {}, None))


def storage(hand):
    """Return what looks like a storage to who asks for its memory."""
    return namespace(_untyped_storage=namespace(_memory=namespace(numel=hand)), dtype=torch.float32)


def traps(hand):
    """Return objects that would make a careless reader call what they hold; `hand` makes that."""
    asks = namespace(keys=hand(), get=hand(), __setstate__=hand())
    return {
        "dict": Call(dict, asks), "OrderedDict": Call(collections.OrderedDict, asks),
        "Counter": Call(collections.Counter, asks), "defaultdict": Call(collections.defaultdict, list, asks),
        "missing": Call(collections.defaultdict, hand()),
        "attributes": Call(types.SimpleNamespace).given(asks),
        "slots": Call(types.SimpleNamespace).given(({}, asks)),
        "storage": Call(torch._utils._rebuild_tensor_v2, storage(hand()), 0, (1,), (1,), False, None),
        "storage of bytes": Call(torch._utils._rebuild_tensor_v3, namespace(_memory=namespace(numel=hand())), 0, (1,),
                                 (1,), False, None, torch.uint8),
        "parameter": Call(torch._utils._rebuild_parameter, namespace(detach=hand()), True, None),
        "state": Call(torch._utils._rebuild_parameter_with_state, torch.ones(1), True, None, asks),
        "rebuilt": Call(torch._tensor._rebuild_from_type_v2, types.SimpleNamespace, torch.Tensor, (), asks),
        "rebuilt state": Call(torch._tensor._rebuild_from_type_v2, torch._utils._rebuild_parameter, torch.Tensor,
                              (namespace(as_subclass=hand()), True, None), {}),
        "optimizer's step": New(torch.optim.SGD).given({"_patch_step_function": hand(), "defaults": {},
                                                        "param_groups": [], "state": {}}),
        "optimizer's state": New(torch.optim.Adam).given({"defaults": {}, "param_groups": [{"params": [1]}],
                                                          "state": asks}),
        "module": New(torch.nn.Linear).given({"__setstate__": hand()}),
        "module's method": New(torch.nn.Linear).given({"forward": hand()}),
        "attention": New(torch.nn.MultiheadAttention).given(namespace(setdefault=hand())),
        "class": Call(type(torch.nn.Parameter), "Made", (), {"__hash__": hand()}),
        "new class": New(type(torch.nn.Parameter), "Made", (), {"__hash__": hand()}),
        "tensor's method": Call(torch._utils._rebuild_parameter_with_state, torch.ones(1), True, None,
                                {"detach": hand()}),
    }


HANDS = {"partial": trap, "partial, later": late_trap, "function": lambda: torch.hub.list}
MAPPED = numpy.memmap, "trapped", "uint8", "w+", 0, (10,)


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("name", traps(trap))
def test_nothing_calls_back(name, hand, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol in (2, 4):
        file = io.BytesIO()
        torch.save({"x": traps(HANDS[hand])[name]}, file, pickle_protocol=protocol)
        for weights_only in (True, False):
            file.seek(0)
            with pytest.raises((pickle.UnpicklingError, RuntimeError)):
                dt.load(file, weights_only=weights_only)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("what", [
    New(*MAPPED), Call(*MAPPED), New(numpy.lib.npyio.DataSource).given({"_istmpdest": True, "_destpath": "precious"}),
    Call(numpy.save, "trapped", [1]), Call(functools.partial, numpy.save, "trapped"),
    Call(functools.partial, pathlib.Path.touch, pathlib.Path("trapped")), New(type, "Made", (), {}),
    Call(torch.utils.data.DataLoader, [1]),
    torch.hub.load, torch.save, torch.jit.load], ids=list(map(str, range(11))))
def test_what_touches_the_disk_is_refused(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious").mkdir()
    file = io.BytesIO()
    torch.save([what], file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="got the global"):
        dt.load(file, weights_only=False)
    assert os.listdir(tmp_path) == ["precious"]


def nested(steps=64):
    """Return the middle of a pickle: a tuple of two of a tuple of two ..., each there once."""
    return b"K\1" + b"".join(b"q%c0h%ch%c\x86" % (n, n, n) for n in range(steps))


ENDLESS = {
    "key": b"\x80\x02}" + nested() + b"K\1s.", "set": b"\x80\x04\x8f(" + nested() + b"\x90.",
    "frozenset": b"\x80\x04(" + nested() + b"\x91.", "result": b"\x80\x02" + nested() + b".",
    "counted": b"\x80\x02ccollections\nCounter\n(" + nested() + b"l\x85R.",
    "made": b"\x80\x02cbuiltins\nset\n(" + nested() + b"l\x85R.",
    "told": b"\x80\x02c_codecs\nencode\n" + nested() + nested() + b"\x86R.",
    "told as a layout": b"\x80\x02ctorch.serialization\n_get_layout\n" + nested() + b"\x85R.",
    "list": b"\x80\x02cbuiltins\nlist\ncbuiltins\nrange\nK\0\x8a\x08\0\0\0\0\0\0\0\x10\x86R\x85R.",
    "set of a range": b"\x80\x02cbuiltins\nset\ncbuiltins\nrange\n\x8a\x08\0\0\0\0\0\0\0\x10\x85R\x85R.",
    "size": b"\x80\x02ctorch\nSize\ncbuiltins\nrange\n\x8a\x08\0\0\0\0\0\0\0\x10\x85R\x85R.",
    "fraction": b"\x80\x02cfractions\nFraction\nX\x0c\0\0\x001e9999999999\x85R.",
    "bytes": b"\x80\x04\x8e\0\0\0\0\0\0\0\x10abc.", "text": b"\x80\x04\x8d\0\0\0\0\0\0\0\x10abc.",
    "bytearray": b"\x80\x05\x96\0\0\0\0\0\0\0\x10abc.", "integer": b"\x80\x02\x8b\xff\xff\xff\x7fabc.",
    "array": b"\x80\x02cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R"
             b"(K\1\x8a\x06\0\0\0\0\0\x10\x85cnumpy\ndtype\nX\2\0\0\0f8\x89\x88\x87R\x89U\1btb.",
}


@pytest.mark.timeout(60)
@each("weights_only", [True, False])
@each("name", ENDLESS)
def test_small_files_take_little(name, weights_only):
    import tracemalloc
    tracemalloc.start()
    try:
        with pytest.raises(pickle.UnpicklingError):
            dt.load(with_pickle(ENDLESS[name]), weights_only=weights_only, encoding="latin1")
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()


def with_pickle(data):
    """Return an archive with a pickle written by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", data)
    file.seek(0)
    return file


# --- honest files

class Colour(enum.Enum):
    """An enumeration."""

    RED = (1, 2)


class Pair(typing.NamedTuple):
    """A tuple with names."""

    one: int
    other: object


@dataclasses.dataclass
class Slotted:
    """A class with slots."""

    __slots__ = ("a", "b")
    a: int
    b: object


class Named(dict):
    """A dict of a class of its own."""


class Texts(str):
    """A text of a class of its own."""


HONEST = {
    "arrays": [numpy.arange(6.).reshape(2, 3), numpy.arange(6).reshape(2, 3).T, numpy.zeros((0, 3), "i2"),
               numpy.array(5, "u1"), numpy.array([1 + 2j]), numpy.array(["ab", "c"]), numpy.array([b"ab"]),
               numpy.arange(3, dtype=">i4"), numpy.array([True, False]), numpy.array([1, "a", None], object),
               numpy.array(["2020-01-01", "2021-02-03"], "M8[D]"), numpy.array([1, 2], "m8[3s]")],
    "fields": numpy.array([(1, 2.5, [1, 2]), (3, 4.5, [3, 4])], [("a", "i4"), ("b", "f8"), ("c", "i2", (2,))]),
    "scalars": [numpy.float64(2.5), numpy.int8(-3), numpy.bool_(True), numpy.complex64(1j), numpy.float16(1),
                numpy.datetime64("2020-01-01"), numpy.str_("abc"), numpy.bytes_(b"abc")],
    "dtypes": [numpy.dtype("f8"), numpy.dtype(">i2"), numpy.dtype("S7"), numpy.dtype("M8[3s]"), numpy.dtype(object),
               numpy.dtype([("a", "i4"), ("b", "f8", (2, 2))]), numpy.float32],
    "random state": numpy.random.RandomState(5).get_state(),
    "times": [datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.timedelta(1, 2, 3),
              datetime.timezone(datetime.timedelta(hours=2)), datetime.time(1, 2)],
    "numbers": [decimal.Decimal("1.50"), fractions.Fraction(-2, 3), 2 + 3j, 10**50],
    "containers": [collections.deque([1, 2], 5), collections.defaultdict(list, a=[1]), collections.Counter("aab"),
                   collections.defaultdict(functools.partial(collections.defaultdict, int)), frozenset({1, 2}),
                   slice(1, None, 2), range(3, 10, 2), collections.OrderedDict(a=1), bytearray(b"abc")],
    "paths": [pathlib.PurePosixPath("a/b"), uuid.UUID(int=5), types.SimpleNamespace(a=1)],
    "own": [Colour.RED, Pair(1, [2]), Slotted(1, [2]), Named(a=1), Texts("text")],
}


@each("protocol", [2, 4, 5])
@each("name", HONEST)
def test_honest_files_are_read(name, protocol):
    file = io.BytesIO()
    torch.save(HONEST[name], file, pickle_protocol=protocol)
    file.seek(0)
    found = dt.load(file, weights_only=False)
    assert repr(found) == repr(HONEST[name])
    for ours, theirs in zip(*([one] if isinstance(one, numpy.ndarray) else one for one in (found, HONEST[name]))):
        assert type(ours) is type(theirs) and getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)
        if isinstance(ours, numpy.ndarray):
            assert ours.flags.writeable and ours.flags.f_contiguous == theirs.flags.f_contiguous


def test_arrays_are_one_where_they_were_one():
    array = numpy.arange(3.)
    file = io.BytesIO()
    torch.save([array, {"again": array}], file)
    file.seek(0)
    one, other = dt.load(file, weights_only=False)
    assert one is other["again"]


def test_arrays_as_weights_if_vouched_for():
    file = io.BytesIO()
    torch.save({"x": numpy.arange(3.)}, file)
    names = [numpy._core.multiarray._reconstruct, numpy.ndarray, numpy.dtype, type(numpy.dtype("f8"))]
    for module in (torch, dt):
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError):
            module.load(file, weights_only=True)
        with module.serialization.safe_globals(names):
            file.seek(0)
            assert module.load(file, weights_only=True)["x"].tolist() == [0, 1, 2]


def test_functions_with_arguments_in_modules():
    from torch import nn
    model = nn.Sequential(nn.Linear(3, 3))
    model.norm, model.activation = functools.partial(nn.LayerNorm, eps=1e-3), functools.partial(nn.functional.gelu)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    found = dt.load(file, weights_only=False)
    assert found.norm.func is dt.nn.LayerNorm and found.norm.keywords == {"eps": 1e-3}
    assert found.activation(dt.ones(1)).item() == pytest.approx(0.8413, abs=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_whole_optimizers(name):
    for source, target in ((torch, dt), (dt, torch), (dt, dt)):
        weight = source.nn.Parameter(source.ones(2))
        optimizer = getattr(source.optim, name)([weight], lr=0.1)
        weight.sum().backward()
        optimizer.step()
        schedule = source.optim.lr_scheduler.StepLR(optimizer, 3)
        file = io.BytesIO()
        source.save({"o": optimizer, "s": schedule.state_dict()}, file)
        file.seek(0)
        found = target.load(file, weights_only=False)
        assert type(found["o"]) is getattr(target.optim, name) and found["o"].param_groups[0]["lr"] == 0.1
        found["o"].step()
