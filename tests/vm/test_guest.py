"""What every module of a guest can do: lack names politely, and take names from elsewhere when they are asked for."""
import gc
import importlib
import pickle
import sys
import types

import pytest

from dragon.vm import guest
from harness import interpreter

LETTERS = {
    "torch": ("dragon.vm.torch", "zeross", "torch.zeros"),
    "torch.optim.adam": ("dragon.vm.torch.optim.adam", "Adma", "torch.optim.adam.Adam"),
    "tensorflow.io": ("dragon.vm.tensorflow.io", "read_fil", "tensorflow.io.read_file"),
    "keras.layers": ("dragon.vm.keras.layers", "Densee", "keras.layers.Dense"),
    "keras.ops": ("dragon.vm.keras.ops", "matmull", "keras.ops.matmul"),
}


@pytest.mark.parametrize("name", LETTERS)
def test_letters(name):
    module, asked, nearest = LETTERS[name]
    with pytest.raises(AttributeError) as caught:
        getattr(importlib.import_module(module), asked)
    assert caught.value.name == asked
    assert f"module '{name}' has no attribute '{asked}'" in str(caught.value)
    assert f"did you mean '{nearest}" in str(caught.value)


def test_letters_of_guests_whose_names_are_not_known():
    with pytest.raises(AttributeError, match=r"'resnet51'.*the nearest name is 'torchvision\.models\.resnet"):
        importlib.import_module("dragon.vm.torchvision.models").resnet51


def test_letters_about_what_dragon_lacks_name_the_page():
    with pytest.raises(AttributeError, match="docs/torch/coverage"):
        importlib.import_module("dragon.vm.torch").mkldnn_rnn_layer


def test_python_s_own_questions_have_short_answers():
    with pytest.raises(AttributeError, match="^module 'keras' has no attribute '__wrapped__'$"):
        importlib.import_module("dragon.vm.keras").__wrapped__


@pytest.mark.parametrize("name", ["nn.functional", "nothing.below", "", ".", "..", "a b", "é" * 10000, "nn\0"])
@pytest.mark.parametrize("module", ["torch", "keras", "tensorflow"])
def test_what_is_no_name_is_no_attribute(module, name):
    assert not hasattr(importlib.import_module(guest.ROOM + module), name)


def test_workshops_are_plain_modules():
    assert not hasattr(importlib.import_module("dragon.vm.torch.core.size"), "__getattr__")
    assert hasattr(importlib.import_module("dragon.vm.keras.layers.core.dense"), "__getattr__")


@pytest.mark.parametrize("name, names", [
    ("torch", "save vmap nn utils compile"), ("keras", "Model layers Input"), ("keras.layers", "Dense LSTM"),
    ("tensorflow", "Tensor constant data losses"), ("tensorflow.train", "Checkpoint Example")])
def test_names_that_come_late_are_listed_and_come(name, names):
    module = importlib.import_module(guest.ROOM + name)
    assert set(names.split()) <= set(dir(module))
    for each in names.split():
        assert getattr(module, each) is getattr(module, each)


@pytest.mark.parametrize("name", ["torch", "torchvision", "keras", "tensorflow"])
def test_what_is_listed_can_be_had(name):
    module = importlib.import_module(guest.ROOM + name)
    assert [each for each in dir(module) if not hasattr(module, each)] == []


def make_package(folder, **files):
    """Write a package with modules of given texts."""
    (folder / "__init__.py").write_text("")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a module that works and one that does not."""
    folder = tmp_path / "rooms"
    folder.mkdir()
    make_package(folder, whole="one = 1\n", broken="import nothing_of_that_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("rooms")
    for name in [name for name in sys.modules if name.partition(".")[0] == "rooms"]:
        del sys.modules[name]


def test_places(package):
    find, names = guest.lookup(vars(package), {".whole": "one uno=one two", ".absent": "three", ".broken": "four"})
    assert find("one") == find("uno") == package.uno == 1
    assert find("whole").__name__ == "rooms.whole"
    assert {"one", "uno", "two", "three", "whole", "broken"} <= set(names())
    for name in ("two", "three", "five"):
        with pytest.raises(AttributeError, match=f"'rooms' has no attribute '{name}'"):
            find(name)
    for name in ("four", "broken"):
        with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
            find(name)


def test_what_python_asks_for_is_looked_for_once(package, monkeypatch):
    """An interrupt in an import may leave its lock taken; what runs again and again imports nothing."""
    asked = []

    def import_or_none(name):
        asked.append(name)
    monkeypatch.setattr(guest, "import_or_none", import_or_none)
    find, _ = guest.lookup(vars(package))
    for name in ("__module__", "__module__", "five", "five"):
        with pytest.raises(AttributeError, match=f"'rooms' has no attribute '{name}'"):
            find(name)
    assert asked == ["rooms.__module__", "rooms.five", "rooms.five"]


def test_a_module_has_no_modules_below():
    module = types.ModuleType("rooms.plain")
    find, names = guest.lookup(vars(module))
    with pytest.raises(AttributeError, match="'rooms.plain' has no attribute 'os'"):
        find("os")
    assert "os" not in names()


@pytest.mark.parametrize("place, module, full", [
    (".cpu", "torch", "torch.cpu"), (".cpu", "dragon.vm.torch", "dragon.vm.torch.cpu"),
    ("core.text", "tensorflow.strings", "tensorflow.core.text"),
    ("core.text", "dragon.vm.tensorflow.io.gfile", "dragon.vm.tensorflow.core.text"),
    ("dragon.vm.keras", "tensorflow", "dragon.vm.keras")])
def test_full_names(place, module, full):
    assert guest.full_name(place, module) == full


def test_letters_speak_the_guest_s_name_under_both_names():
    code = ("import dragon.vm\ndragon.vm.install()\nimport torch.nn\n"
            "try: torch.nn.Linaer\nexcept AttributeError as error: print(error)")
    said = interpreter.run(["-c", code], "/", check=True, preload="import numpy, dragon.vm").stdout
    assert said.startswith("module 'torch.nn' has no attribute 'Linaer'") and "torch.nn.Linear" in said


def test_pickles_of_earlier_days_find_what_they_name():
    from dragon.vm.alias import MOVED
    for old, new in MOVED.items():
        assert importlib.import_module(f"dragon.vm.{old}") is importlib.import_module(f"dragon.vm.{new}"), old
    shape = pickle.loads(b"cdragon.vm.tensorflow.core.shape\nTensorShape\np0\n((lp1\nI1\naNatp2\nRp3\n.")
    assert shape.as_list() == [1, None]


def test_imports_look_for_no_garbage(tmp_path):
    (tmp_path / "plain.py").write_text("import gc\nenabled = gc.isenabled()\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    for was_enabled in (True, False):
        gc.enable() if was_enabled else gc.disable()
        try:
            found = guest.GuestLoader("dragon.vm.plain", str(tmp_path / "plain.py"))
            module = types.ModuleType("dragon.vm.plain")
            found.exec_module(module)
            assert module.enabled is False and gc.isenabled() is was_enabled
            with pytest.raises(ZeroDivisionError):
                guest.GuestLoader("dragon.vm.broken", str(tmp_path / "broken.py")).exec_module(
                    types.ModuleType("dragon.vm.broken"))
            assert gc.isenabled() is was_enabled
        finally:
            gc.enable()


@pytest.mark.parametrize("module, names", [
    ("keras", "layers saving utils Model ops"), ("tensorflow.keras", "layers saving Sequential"),
    ("keras.layers", "Dense TextVectorization"), ("tensorflow", "constant nn data lookup")])
def test_stars_bring_what_comes_late(module, names):
    """`from module import *` brings modules and names that nobody has asked for yet, and none of Dragon's tools."""
    code = (f"import dragon.vm; dragon.vm.install()\nfrom {module} import *\nimport sys\n"
            f"sys.stdout.write(repr([name for name in {[*names.split(), 'gather', 'core']!r} if name in globals()]))")
    said = interpreter.run(["-c", code], "/", check=True, preload="import numpy, dragon.vm").stdout
    assert [name for name in eval(said) if name not in ("gather", "core")] == names.split() and "core" not in said


def test_the_second_name_of_tensorflow():
    """`tensorflow.compat.v2`, as libraries call TensorFlow, is TensorFlow, and so is what lies below it."""
    code = """import dragon.vm; dragon.vm.install()
import tensorflow.compat.v2 as v2
import tensorflow.compat.v2.data.experimental as data
from tensorflow.compat.v2 import keras
import tensorflow as tf
assert v2 is tf is tf.compat.v2 and data is tf.data.experimental and keras is tf.keras and tf.__name__ == "tensorflow"
"""
    interpreter.run(["-c", code], "/", check=True, preload="import numpy, dragon.vm")


def test_the_nearest_name_is_looked_for_once():
    """Programs ask `hasattr` for what a module lacks again and again."""
    asked = []

    def known():
        asked.append(1)
        return ["alpha", "beta"]
    for _ in range(3):
        assert "'torch.nowhere.alpha'" in str(guest.explain("torch.nowhere", "alpa", known))
    assert guest.explain("torch.nowhere", "betta", known).name == "betta" and len(asked) == 2
    assert "nearest" not in str(guest.explain("torch.nowhere", "_alpha", known)) and len(asked) == 2
