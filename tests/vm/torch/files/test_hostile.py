"""Files that lie, are cut off or ask for code: an error that names what was wrong, and nothing else happens."""
import collections
import functools
import io
import os
import pickle
import random
import struct
import subprocess
import zipfile

import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402

ERRORS = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, NotImplementedError, TypeError, AttributeError)
MUTATIONS = 2400


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


class Plain:
    """A class of this module, as a user's own are."""

    made = 0

    def __init__(self, *_):
        Plain.made += 1


def written(value, **options):
    """Return a file that PyTorch wrote."""
    file = io.BytesIO()
    torch.save(value, file, **options)
    file.seek(0)
    return file


def with_pickle(data, *storages):
    """Return an archive with a pickle written by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        for key, storage in enumerate(storages):
            archive.writestr(f"archive/data/{key}", storage)
    file.seek(0)
    return file


TRAPS = {
    "os.system": Call(os.system, "touch trapped"),
    "eval": Call(eval, "open('trapped', 'w')"),
    "exec": Call(exec, "open('trapped', 'w')"),
    "Popen": Call(subprocess.Popen, ["touch", "trapped"]),
    "open": Call(open, "trapped", "w"),
    "getattr": Call(getattr, "text", "upper"),
    "__import__": Call(__import__, "os"),
    "partial": Call(functools.partial, os.system, "touch trapped"),
    "a constructor": Call(Plain, 1),
    "rebuild by a foreign function": Call(torch._tensor._rebuild_from_type_v2, os.system, torch.Tensor,
                                          ("touch trapped",), {}),
    "rebuild by a class": Call(torch._tensor._rebuild_from_type_v2, Plain, torch.Tensor, (1,), {}),
    "loads": Call(pickle.loads, pickle.dumps(1)),
    "hub": Call(torch.hub.load, "trapped"),
    "nested file": Call(torch.load, "trapped"),
}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("name", TRAPS)
def test_calls_are_refused_by_name(name, archive, weights_only, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = Plain.made
    with pytest.raises(pickle.UnpicklingError, match="got the global"):
        dt.load(written([TRAPS[name]], _use_new_zipfile_serialization=archive), weights_only=weights_only)
    assert not os.path.exists("trapped") and Plain.made == before


def test_names_are_told():
    file = written([Call(os.system, "no"), Plain(), torch.ones(1)])
    assert dt.serialization.get_unsafe_globals_in_checkpoint(file) == ["posix.system", f"{__name__}.Plain"]


@pytest.mark.parametrize("target", [b"torch._utils\n_rebuild_tensor_v2\n", b"torch.nn.modules.linear\nLinear\n",
                                    b"collections\nOrderedDict\n", b"torch\nTensor\n"])
def test_attributes_of_classes_and_functions_stay(target):
    # They would change for the whole process.
    state = b"}X\x05\0\0\0namedK\x01s"
    for data in (b"\x80\x02c" + target + state + b"b.", b"\x80\x02c" + target + b"N" + state + b"\x86b."):
        for weights_only in (True, False):
            with pytest.raises(pickle.UnpicklingError):
                dt.load(with_pickle(data), weights_only=weights_only)
    assert not hasattr(dt.nn.Linear, "named")


def test_own_classes_are_made_bare_if_asked_for():
    value = Plain()
    value.number = 3
    data = written({"own": value, "list": collections.deque([1])}).getvalue()
    with pytest.raises(pickle.UnpicklingError, match="Plain"):
        dt.load(io.BytesIO(data))
    before = Plain.made
    read = dt.load(io.BytesIO(data), weights_only=False)
    assert type(read["own"]) is Plain and read["own"].number == 3 and Plain.made == before
    with dt.serialization.safe_globals([Plain, collections.deque]):
        assert dt.load(io.BytesIO(data))["own"].number == 3
        assert dt.serialization.get_safe_globals() == [Plain, collections.deque]
    assert dt.serialization.get_safe_globals() == []
    dt.serialization.add_safe_globals([(Plain, f"{__name__}.Plain"), collections.deque])
    assert dt.load(io.BytesIO(data))["own"].number == 3
    dt.serialization.clear_safe_globals()


LIES = {
    "not a file of ours": b"hello world, hello world",
    "empty": b"",
    "start of an archive": b"PK\3\4" + b"\0" * 100,
    "a tar": b"\0" * 257 + b"ustar" + b"\0" * 300,
}


@pytest.mark.parametrize("name", LIES)
def test_other_files(name):
    with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError), match="load: got"):
        dt.load(io.BytesIO(LIES[name]))


TENSOR = (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000"
          b"X\x03\0\0\0cpu%btQ%b%b%b\x89ccollections\nOrderedDict\n)RtR.")
RIGHT = b"K\x02", b"K\0", b"K\x02\x85", b"K\x01\x85"


@pytest.mark.parametrize("count, offset, size, stride", [
    (b"K\x02", b"K\0", b"K\x03\x85", b"K\x01\x85"),
    (b"K\x02", b"K\x02", b"K\x01\x85", b"K\x01\x85"),
    (b"K\x02", b"J\xff\xff\xff\xff", b"K\x01\x85", b"K\x01\x85"),
    (b"K\x02", b"K\0", b"K\x02\x85", b"J\xff\xff\xff\xff\x85"),
    (b"K\x02", b"K\0", b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86", b"K\0K\x01\x86"),
    (b"K\x03", b"K\0", b"K\x02\x85", b"K\x01\x85"),
    (b"J\xff\xff\xff\x7f", b"K\0", b"K\x02\x85", b"K\x01\x85"),
])
def test_geometry_beyond_the_storage(count, offset, size, stride):
    assert dt.load(with_pickle(TENSOR % RIGHT, struct.pack("2f", 1, 2))).tolist() == [1, 2]
    with pytest.raises(pickle.UnpicklingError):
        dt.load(with_pickle(TENSOR % (count, offset, size, stride), struct.pack("2f", 1, 2)))


def test_damaged_numbers_are_noticed():
    data = written(torch.full((100,), 7.5)).getvalue()
    place = data.index(struct.pack("f", 7.5) * 100)
    broken = data[:place + 8] + b"\xff" + data[place + 9:]
    with pytest.raises(RuntimeError, match="CRC"):
        dt.load(io.BytesIO(broken))
    dt.serialization.set_crc32_options(False)
    try:
        assert dt.load(io.BytesIO(broken))[0].item() == 7.5
    finally:
        dt.serialization.set_crc32_options(True)


def test_compression_bombs_are_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02K\x01.")
    data = bytearray(file.getvalue())
    place = data.index(b"PK\1\2")
    data[place + 24:place + 28] = struct.pack("<I", 0x7fffffff)
    with pytest.raises(RuntimeError, match="damaged"):
        dt.load(io.BytesIO(bytes(data)))


def mutate(source, chance):
    """Return bytes with a few changed, dropped, doubled or cut."""
    data = bytearray(source)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(data) or 1)
        if not data:
            break
        kind = chance.random()
        if kind < 0.6:
            data[place] = chance.choice((0, 255, chance.randrange(256), data[place] ^ 1 << chance.randrange(8)))
        elif kind < 0.7:
            del data[place:place + chance.randint(1, 8)]
        elif kind < 0.8:
            data[place:place] = data[place:place + chance.randint(1, 8)]
        elif kind < 0.85:
            del data[max(place, 1):]
        else:
            data[place] = chance.choice(b"RboiQP.(tqrcN}]l0123ue\x81\x85\x86\x87\x8a\x93")
    return bytes(data)


def test_mutations_end_in_errors_or_objects():
    chance = random.Random(7)
    value = {"x": torch.arange(6.).reshape(2, 3), "y": torch.tensor([1, 2]), "p": torch.nn.Parameter(torch.ones(2)),
             "n": [1, 2.5, "text", None, (True, b"abc")], "o": collections.OrderedDict(a={1, 2})}
    archive = written(value).getvalue()
    old = written(value, _use_new_zipfile_serialization=False).getvalue()
    inner = zipfile.ZipFile(io.BytesIO(archive)).read("archive/data.pkl")
    storages = struct.pack("6f", *range(6)), struct.pack("2q", 1, 2), struct.pack("2f", 1, 1)
    outcomes = collections.Counter()
    for turn in range(MUTATIONS):
        # Of four, two are pickles with right checksums around them, so that the pickle machine sees them.
        file = (io.BytesIO(mutate(archive, chance)) if turn % 4 == 0 else io.BytesIO(mutate(old, chance))
                if turn % 4 == 1 else with_pickle(mutate(inner, chance), *storages))
        try:
            dt.load(file, weights_only=turn % 3 != 0)
            outcomes["read"] += 1
        except ERRORS as error:
            outcomes[type(error).__name__] += 1
    assert outcomes["UnpicklingError"] > MUTATIONS / 10 and outcomes["read"] > MUTATIONS / 50


def test_archives_that_claim_too_much():
    file, packed = io.BytesIO(), io.BytesIO()
    dt.save({"x": dt.zeros(1 << 18)}, file)
    data = file.getvalue()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02K\x01.")
        for key in range(4):
            archive.writestr(f"archive/data/{key}", b"\0" * (1 << 26))
    assert len(packed.getvalue()) < 1 << 20
    packed.seek(0)
    with pytest.raises(RuntimeError, match="claims to hold"):
        dt.load(packed)
    # A directory whose entries all lead to the same bytes.
    place, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entries, tail = bytes(data[place:end]), bytearray(data[-22:])
    count, = struct.unpack_from("<H", tail, 10)
    struct.pack_into("<HHII", tail, 8, 50 * count, 50 * count, 50 * len(entries), place)
    with pytest.raises(RuntimeError, match="overlap"):
        dt.load(io.BytesIO(bytes(data[:place]) + entries * 50 + bytes(tail)))


def test_storages_of_old_files_are_in_the_file():
    data = written([torch.zeros(1000) for _ in range(20)], _use_new_zipfile_serialization=False).getvalue()
    old = struct.pack("<H", 1000)
    assert data.count(b"M" + old) > 19
    with pytest.raises(pickle.UnpicklingError, match="more than the file has"):
        dt.load(io.BytesIO(data.replace(b"M" + old + b"N", b"M" + struct.pack("<H", 19000) + b"N")))


def test_views_that_would_be_computed_are_no_larger_than_their_memory():
    expanded = TENSOR.replace(b"FloatStorage", b"FloatStorage").replace(b")RtR.", b")R}X\4\0\0\0conj\x88stR.")
    assert dt.load(with_pickle(expanded % RIGHT, struct.pack("2f", 1, 2))).tolist() == [1, 2]
    with pytest.raises(pickle.UnpicklingError):
        dt.load(with_pickle(expanded % (b"K\x02", b"K\0", b"\x8a\6\0\0\0\0\0\x10\x85", b"K\0\x85"),
                            struct.pack("2f", 1, 2)))
