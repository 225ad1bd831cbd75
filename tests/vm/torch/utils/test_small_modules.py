"""Versions, the hub, DLPack and the names that libraries take from PyTorch's compiled module."""
import urllib.error

import numpy
import pytest

torch = pytest.importorskip("torch")
from dragon.vm import torch as dt  # noqa: E402
from harness.subresults import each  # noqa: E402


@each("other", ["2.0", "2.13.0", "2.13", "3.0a1", "2.13.0.dev20250101", (2, 1), (2, 13, 0), "1.9.9",
                "2.13.0rc1", "no version"])
def test_versions_compare(other):
    mine, theirs = dt.__version__, torch.torch_version.TorchVersion("2.13.0")
    for name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
        assert getattr(mine, name)(other) == getattr(theirs, name)(other), (name, other)
    assert isinstance(mine, str) and mine.split(".")[0] == "2" and dt.version.cuda is None


HUBCONF = '''
dependencies = ["os"]
from helper import VALUE


def entry(a, b=2):
    """Add."""
    return a + b + VALUE


def _hidden():
    pass
'''


def test_local_hub(tmp_path):
    (tmp_path / "hubconf.py").write_text(HUBCONF)
    (tmp_path / "helper.py").write_text("VALUE = 10")
    folder = str(tmp_path)
    assert dt.hub.load(folder, "entry", 1, b=3, source="local") == 14
    assert dt.hub.list(folder) == ["entry"] and dt.hub.help(folder, "entry") == "Add."
    with pytest.raises(RuntimeError, match="Cannot find callable"):
        dt.hub.load(folder, "other", source="local")
    (tmp_path / "hubconf.py").write_text('dependencies = ["no_such_package"]')
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        dt.hub.list(folder)


def test_hub_without_network(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert dt.hub.get_dir() == str(tmp_path / "hub") == torch.hub.get_dir()
    with pytest.raises(NotImplementedError, match="downloads no code"):
        dt.hub.load("someone/something", "entry")
    with pytest.raises(urllib.error.URLError):
        dt.hub.load_state_dict_from_url("file:///no/such/file.pth")
    source = tmp_path / "weights.pth"
    torch.save({"w": torch.ones(2)}, source)
    read = dt.hub.load_state_dict_from_url(source.as_uri(), file_name="copy.pth")
    assert read["w"].tolist() == [1, 1] and (tmp_path / "hub" / "checkpoints" / "copy.pth").exists()
    with pytest.raises(RuntimeError, match="invalid hash"):
        dt.hub.download_url_to_file(source.as_uri(), str(tmp_path / "x"), "0000")


def test_dlpack_shares_memory():
    x = dt.arange(4.)
    for made in (dt.utils.dlpack.from_dlpack(dt.utils.dlpack.to_dlpack(x)), dt.from_dlpack(numpy.from_dlpack(x))):
        made += 1
    assert x.tolist() == [2, 3, 4, 5]
    theirs = torch.utils.dlpack.from_dlpack(dt.utils.dlpack.to_dlpack(x))
    theirs += 1
    assert x.tolist() == [3, 4, 5, 6]


def test_names_of_the_compiled_module():
    assert dt._C.Generator is dt.Generator and dt._C.TensorBase is dt.Tensor and dt._C.is_grad_enabled()
    assert dt._C._nn._parse_to("cpu", dt.float64) == (dt.device("cpu"), dt.float64, False, None)
    assert dt._C._nn._parse_to(dtype=dt.float16, non_blocking=True)[1:3] == (dt.float16, True)
    with pytest.raises(AttributeError, match="Dragon does not have it"):
        dt._C._no_such_thing


def test_helpers_of_libraries():
    from dragon.vm.torch import _utils as mine
    tensors = [dt.ones(2), dt.zeros(2, 2)]
    flat = mine._flatten_dense_tensors(tensors)
    parts = mine._unflatten_dense_tensors(flat, tensors)
    assert flat.shape == (6,) and [part.shape for part in parts] == [(2,), (2, 2)]
    assert [len(group) for group in mine._take_tensors([dt.ones(4)] * 3, 32)] == [2, 1]
    try:
        raise KeyError("lost")
    except KeyError:
        wrapped = mine.ExceptionWrapper(where="in a test")
    with pytest.raises(KeyError, match="Caught KeyError in a test"):
        wrapped.reraise()
    assert mine._get_device_index("cuda:1") == 1 and mine._get_device_index(None, optional=True) == 0
    assert mine._import_dotted_name("collections.abc.Mapping").__name__ == "Mapping" and not mine.is_compiling()


def test_parts_of_printing():
    for t in (dt, torch):
        shown = t._tensor_str._tensor_str(t.arange(40.).reshape(2, 20), 7)
        assert t._tensor_str._add_suffixes("tensor(" + shown, ["dtype=x", "y" * 70], 7, False) == (
            repr(t.arange(40.).reshape(2, 20))[:-1] + ", dtype=x,\n       " + "y" * 70 + ")")
    assert dt.torch is dt and not dt._subclasses.fake_tensor.is_fake(dt.ones(1))
    for refused in (dt._subclasses.FakeTensor, dt._C.TensorType):
        with pytest.raises(NotImplementedError):
            refused()
