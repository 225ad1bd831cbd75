"""Files go both ways between Dragon and PyTorch: values, geometry, sharing, and everything else that pickles."""
import collections
import io
import pathlib
import zipfile

import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402
from harness.subresults import each  # noqa: E402

DTYPES = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split()
# What a module `t`, genuine or ours, makes; whatever is made is to arrive on the other side.
OBJECTS = {
    "numbers": lambda t: [1, -5, 2**40, -2**70, 1.5, float("inf"), 2 + 3j, True, None, "text", "ü€", b"bytes"],
    "containers": lambda t: {"a": (1, [2, {3, 4}]), 5: collections.OrderedDict(b=1), "c": collections.Counter("aab")},
    "views": lambda t: (lambda x: [x, x.t(), x[1:, ::2], x[0, 1], x.expand(2, 3, 4)])(t.arange(12.).reshape(3, 4)),
    "empty": lambda t: [t.empty(0), t.empty(0, 3), t.empty(2, 0)],
    "zero axes": lambda t: t.tensor(3.5),
    "requires grad": lambda t: t.ones(2, requires_grad=True),
    "computed": lambda t: t.ones(2, requires_grad=True) * 2,
    "channels last": lambda t: t.arange(24.).reshape(1, 2, 3, 4).contiguous(memory_format=t.channels_last),
    "meta": lambda t: t.empty(2, 3, device="meta"),
    "constants": lambda t: [t.float32, t.int64, t.strided, t.device("cpu"), t.device("cuda", 1), t.Size([1, 2])],
    "repeated": lambda t: (lambda x: {"a": x, "b": x, "l": [x]})(t.ones(3)),
    "attributes": lambda t: (lambda x: (setattr(x, "note", [1]), x)[1])(t.ones(2)),
    **{name: lambda t, name=name: t.tensor([0, 1, 1, 0, 1]).to(getattr(t, name)) for name in DTYPES},
}


def show(value):
    """Return an object as text and plain numbers, the same for both."""
    if hasattr(value, "untyped_storage"):
        numbers = None if value.device.type == "meta" else value.detach().tolist()
        return (str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset(), value.requires_grad,
                value.is_leaf, numbers, getattr(value, "note", None))
    if isinstance(value, dict):
        return type(value).__name__, [(key, show(entry)) for key, entry in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [show(entry) for entry in value]
    return repr(value)


def share(value):
    """Return which tensors of a list look at the same memory."""
    pointers = [entry.untyped_storage().data_ptr() for entry in value]
    return [pointers.index(pointer) for pointer in pointers]


def written(t, value, **options):
    """Return a file with an object, to be read from its start."""
    file = io.BytesIO()
    t.save(value, file, **options)
    file.seek(0)
    return file


def repacked(file, compression=zipfile.ZIP_STORED, change=lambda name, data: data):
    """Return an archive with its records changed."""
    source, target = zipfile.ZipFile(file), io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name in source.namelist():
            archive.writestr(name, change(name, source.read(name)))
    target.seek(0)
    return target


@each("archive, protocol", [(True, 2), (True, 4), (True, 5), (False, 2)])
@each("name", OBJECTS)
def test_files_written_here_are_read_there(name, archive, protocol):
    file = written(dt, OBJECTS[name](dt), _use_new_zipfile_serialization=archive, pickle_protocol=protocol)
    theirs = written(torch, OBJECTS[name](torch), _use_new_zipfile_serialization=archive)
    expected = show(torch.load(theirs, weights_only=False))
    assert show(torch.load(file, weights_only=False)) == expected
    file.seek(0)
    assert show(dt.load(file)) == expected


@each("archive", [True, False])
@each("name", OBJECTS)
def test_files_written_there_are_read_here(name, archive):
    file = written(torch, OBJECTS[name](torch), _use_new_zipfile_serialization=archive)
    expected = show(torch.load(io.BytesIO(file.getvalue()), weights_only=False))
    assert show(dt.load(file)) == expected


@pytest.mark.parametrize("writer", [dt, torch])
@pytest.mark.parametrize("archive", [True, False])
def test_shared_memory_stays_shared(writer, archive):
    read = dt.load(written(writer, [*OBJECTS["views"](writer), writer.ones(3)],
                           _use_new_zipfile_serialization=archive))
    assert share(read) == [0, 0, 0, 0, 0, 5]
    read[1][0, 0] = 100.
    assert read[0][0, 0].item() == 100. and not read[0]._is_view()


def test_conjugate_views_are_computed():
    value = torch.tensor([1 + 2j]).conj()
    assert dt.load(written(torch, value)).tolist() == [1 - 2j]
    assert dt.load(written(torch, value.imag)).tolist() == [-2.0]


def test_one_memory_has_one_dtype():
    x = dt.ones(4)
    with pytest.raises(RuntimeError, match="one dtype"):
        dt.save([x, x.view(dt.int32)], io.BytesIO())


def test_archive_is_laid_out_as_theirs():
    mine, theirs = (zipfile.ZipFile(written(t, {"a": t.ones(3), "b": t.ones(70)})) for t in (dt, torch))
    assert mine.namelist() == theirs.namelist() and mine.testzip() is None
    for info in mine.infolist():
        if "serialization_id" not in info.filename:
            assert mine.read(info) == theirs.read(info.filename), info.filename
        mine.fp.seek(info.header_offset + 26)
        name, extra = (int.from_bytes(mine.fp.read(2), "little") for _ in range(2))
        assert (info.header_offset + 30 + name + extra) % 64 == 0


def train(t):
    """Return a model and its optimizer after one step."""
    t.manual_seed(0)
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.BatchNorm1d(4), t.nn.Linear(4, 1))
    optimizer = t.optim.Adam(model.parameters(), lr=0.1)
    model(t.ones(5, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("t, u", [(dt, torch), (torch, dt)])
def test_checkpoints_of_training(t, u):
    pytest.importorskip("dragon.vm.torch.optim")
    (source, source_optimizer), (target, target_optimizer) = train(t), train(u)
    state = u.load(written(t, {"model": source.state_dict(), "optimizer": source_optimizer.state_dict()}))
    assert isinstance(state["model"], collections.OrderedDict) and state["model"]._metadata
    target.load_state_dict(state["model"])
    target_optimizer.load_state_dict(state["optimizer"])
    target.eval(), source.eval()
    x = [[0.5, 1.0, -1.0]]
    assert target(u.tensor(x)).item() == pytest.approx(source(t.tensor(x)).item(), rel=1e-5)


@pytest.mark.parametrize("t, u", [(dt, torch), (torch, dt), (dt, dt)])
def test_whole_modules(t, u):
    model = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 1))
    file = written(t, model)
    with pytest.raises(Exception, match="Weights only load failed"):
        u.load(file, weights_only=True)
    file.seek(0)
    read = u.load(file, weights_only=False)
    x = [[0.5, 1.0, -1.0]]
    assert type(read) is u.nn.Sequential and read(u.tensor(x)).item() == pytest.approx(model(t.tensor(x)).item())


class Own(dt.Tensor):
    """A class of tensors."""


def test_parameters_and_subclasses():
    read = torch.load(written(dt, dt.nn.Parameter(dt.ones(2))))
    assert type(read) is torch.nn.Parameter and read.requires_grad
    read = dt.load(written(torch, torch.nn.Parameter(torch.ones(2), requires_grad=False)))
    assert type(read) is dt.nn.Parameter and not read.requires_grad
    own = dt.ones(2).as_subclass(Own)
    own.note = "kept"
    with dt.serialization.safe_globals([Own]):
        read = dt.load(written(dt, own))
    assert type(read) is Own and read.note == "kept" and read.tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["text", "pathlib", "file", "bytes", "mmap"])
def test_places_to_write_and_read(kind, tmp_path):
    path = tmp_path / "some.name.pt"
    value = {"x": dt.arange(100), "y": dt.ones(3, dtype=dt.float64), "e": dt.empty(0)}
    if kind in ("file", "bytes"):
        with open(path, "w+b") as file:
            dt.save(value, file)
            file.seek(0)
            read = dt.load(file if kind == "file" else io.BytesIO(file.read()))
    else:
        target = {"text": str(path), "pathlib": pathlib.Path(path), "mmap": path}[kind]
        dt.save(value, target)
        read = dt.load(target, mmap=kind == "mmap")
        assert zipfile.ZipFile(path).namelist()[0] == "some.name/data.pkl"
    assert read["x"].tolist() == list(range(100)) and read["y"].dtype == dt.float64
    read["x"] += 1  # a mapped file is not written to
    assert torch.load(path)["x"][0] == 0


@pytest.mark.parametrize("location", ["cpu", dt.device("cpu"), {"cuda:0": "cpu"}, "meta",
                                      lambda storage, location: storage, lambda storage, location: None])
def test_map_location(location):
    read = dt.load(written(torch, {"x": torch.ones(3)}), map_location=location)
    assert read["x"].device.type == ("meta" if location == "meta" else "cpu")


def test_storages_of_absent_devices_say_so():
    file = repacked(written(dt, dt.ones(3)),
                    change=lambda name, data: data.replace(b"\x03\0\0\0cpu", b"\x06\0\0\0cuda:0"))
    with pytest.raises(RuntimeError, match="map_location"):
        dt.load(file)
    for location in ("cpu", {"cuda:0": "cpu"}, lambda storage, location: storage if location == "cuda:0" else 1 / 0):
        file.seek(0)
        assert dt.load(file, map_location=location).tolist() == [1, 1, 1]


def test_other_byte_order_is_turned():
    def turn(name, data):
        if "/data/" in name:
            return b"".join(data[at:at + 4][::-1] for at in range(0, len(data), 4))
        return b"big" if name.endswith("byteorder") else data
    read = dt.load(repacked(written(torch, {"x": torch.tensor([1., 2.]), "c": torch.tensor([1 + 2j])}), change=turn))
    assert read["x"].tolist() == [1, 2] and read["c"].tolist() == [1 + 2j]


def test_compressed_archives_are_read():
    assert dt.load(repacked(written(torch, torch.arange(1000)), zipfile.ZIP_DEFLATED)).tolist() == list(range(1000))


def test_files_can_follow_each_other():
    file = io.BytesIO()
    dt.save(dt.ones(2), file)
    middle = file.tell()
    dt.save(dt.zeros(3), file)
    file.seek(middle)
    assert dt.load(file).tolist() == [0, 0, 0]


def test_skip_data_and_settings():
    with dt.serialization.skip_data():
        assert dt.load(written(dt, dt.ones(2))).device.type == "meta"
    assert dt.serialization.get_crc32_options() is True
    assert dt.serialization.get_default_load_endianness() is None
    assert dt.serialization.location_tag(dt.ones(1).untyped_storage()) == "cpu"
    assert dt.serialization.check_module_version_greater_or_equal(dt, (2, 0))


@pytest.mark.parametrize("call, error", [
    (lambda t: t.save(1, 5), AttributeError), (lambda t: t.load("no such file"), FileNotFoundError),
    (lambda t: t.save(1, "/no/such/folder/x"), RuntimeError), (lambda t: t.load(io.BytesIO(b"")), EOFError),
    (lambda t: t.load(io.BytesIO(), mmap=True), RuntimeError),
    (lambda t: t.load(written(t, 1), mmap=True), ValueError)])
def test_errors_have_their_classes(call, error):
    for t in (dt, torch):
        with pytest.raises(error):
            call(t)
