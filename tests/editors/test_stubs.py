"""The stubs that editors read say what the package says: every public name, every argument."""
import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys
import warnings
from types import ModuleType

import pytest
from editors.stubs import PACKAGE, list_stubs, names, read

import dragon
from dragon.vm.torch._ops import NAMESPACES

DOORS = ("dragon", "dragon.vm.torch", "dragon.vm.torchvision", "dragon.vm.keras", "dragon.vm.tensorflow")
# Parts of a package that are no public modules.
ASIDE = {"core", "_api", "_words", "__main__"}
START = "start"  # what Python reads when it starts: nobody imports it by this name but a test


def walk(name):
    """Yield the public modules of a door."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except (ImportError, NotImplementedError):  # an optional package is missing
        return
    yield module
    for item in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if item.name not in ASIDE and not (name == "dragon" and item.name in ("vm", "command", START)):
            yield from walk(f"{name}.{item.name}")


@pytest.fixture(scope="module")
def modules():
    return {module.__name__: module for door in DOORS for module in walk(door)}


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").exists(), "expected stubs beside the modules: `make build` or an installed wheel"
    assert len(list_stubs()) > 900


def test_every_stub_can_be_read():
    for path in list_stubs().values():
        assert read(path).body


def test_every_public_module_and_name_is_in_a_stub(modules):
    stubs = list_stubs()
    assert not sorted(set(modules) - set(stubs))
    missing = []
    for name, module in modules.items():
        shown = names(read(stubs[name]))
        for item in dir(module):
            if name == "dragon.vm.torch.ops" and item in NAMESPACES:  # made for whoever asked, anywhere in this process
                continue
            if not item.startswith("_") and item not in (*shown, START) and item.isidentifier():
                if not can_be_had(module, item):
                    continue
                value = vars(module).get(item)
                place = value.__name__ if isinstance(value, ModuleType) else ""
                if place and not place.startswith("dragon"):
                    continue
                missing.append(f"{name}.{item}")
    assert not missing


def can_be_had(module, name):
    """Return whether a module has what it lists; what needs an absent package raises another error."""
    try:
        return hasattr(module, name)
    except (ImportError, NotImplementedError):
        return True


def test_arguments_are_those_of_the_running_package(modules):
    """What `inspect.signature` says of every function and method, its stub says: the names, in order, and defaults."""
    stubs, wrong, count = list_stubs(), [], 0
    for name, module in modules.items():
        for item, nodes in names(read(stubs[name])).items():
            value = getattr(module, item, None)
            if type(nodes[0]).__name__ == "FunctionDef":
                count += 1
                wrong += differences(f"{name}.{item}", nodes, value, bound=False)
            elif type(nodes[0]).__name__ == "ClassDef" and isinstance(value, type):
                for member, defined in names(nodes[0]).items():
                    function = vars(value).get(member)
                    if type(defined[0]).__name__ == "FunctionDef" and not member.startswith("__"):
                        count += 1
                        wrong += differences(f"{name}.{item}.{member}", defined, function, bound=True)
    assert count > 8000
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:20]}"


def differences(where, nodes, value, bound):
    """Yield where a definition has other arguments than a function of the running package."""
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if value is None or isinstance(value, property) or len(nodes) > 1 or not callable(value):
        return
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return
    told = arguments(nodes[0])
    real = [(parameter.name, parameter.kind.name, is_optional(parameters, place))
            for place, parameter in enumerate(parameters)]
    if bound:  # the first one has Python's usual name in a stub
        real, told = real[1:], told[1:]
    if real != told:
        yield f"{where}: {told} for {real}"


def is_optional(parameters, place):
    """Return whether an argument may be left out; behind one that may be, `Signature.empty` is a default itself."""
    parameter = parameters[place]
    positional = (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    before = [other for other in parameters[:place + 1] if other.kind in positional]
    told = before if parameter.kind in positional else [parameter]
    return any(other.default is not other.empty for other in told)


def arguments(node):
    """Return (name, kind, whether it has a default) of the arguments of a definition."""
    spec = node.args
    found = []
    plain = [*((item, "POSITIONAL_ONLY") for item in spec.posonlyargs),
             *((item, "POSITIONAL_OR_KEYWORD") for item in spec.args)]
    for place, (item, kind) in enumerate(plain):
        found.append((item.arg, kind, place >= len(plain) - len(spec.defaults)))
    if spec.vararg:
        found.append((spec.vararg.arg, "VAR_POSITIONAL", False))
    found += [(item.arg, "KEYWORD_ONLY", default is not None)
              for item, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    if spec.kwarg:
        found.append((spec.kwarg.arg, "VAR_KEYWORD", False))
    return found


def test_names_that_only_tables_know_are_told():
    torch = names(read(list_stubs()["dragon.vm.torch"]))
    tensor = names(torch["Tensor"][0])
    assert {"add", "cummax", "randn", "float32", "save", "vmap", "Stream", "nn", "no_grad", "FloatTensor"} <= set(torch)
    assert {"add_", "view", "relu", "sort", "__add__", "__rmatmul__", "backward", "mT"} <= set(tensor)
    assert len(tensor["reshape"]) == 2  # sizes as one sequence, and one by one
    assert {"Conv2d", "Module", "functional", "Sequential"} <= set(names(read(list_stubs()["dragon.vm.torch.nn"])))
    assert "FullyShardedDataParallel" in names(read(list_stubs()["dragon.vm.torch.distributed.fsdp"]))
    results = names(read(list_stubs()["dragon.vm.torch.return_types"]))
    assert set(names(results["sort"][0])) == {"values", "indices"}


def test_every_operator_is_told():
    shown = names(read(list_stubs()["dragon.ops"]))
    assert not sorted(set(dragon.ops.names()) - set(shown))
    assert {"Graph", "Tensor", "schema", "op_names"} <= set(names(read(list_stubs()["dragon._C"])))


def test_stubs_are_the_same_with_and_without_extras():
    """Whatever is installed, stand-ins are read in its place: what needs them has a stub, without words of theirs."""
    code = """
import stubs.extras, sys
stubs.extras.stand_in()
from stubs.places import list_public
public = list_public()
assert {"dragon.onnx.writer", "dragon.vm.torchvision.transforms", "dragon.vm.keras.wrappers.estimators"} <= set(public)
assert not hasattr(sys.modules["PIL"], "__file__") and not hasattr(sys.modules["sklearn"], "__file__")
"""
    folders = [str(pathlib.Path(__file__).parents[2] / "tools"), str(PACKAGE.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    subprocess.run([sys.executable, "-c", code], check=True, cwd="/", env=environment)
    wrappers = list_stubs()["dragon.vm.keras.wrappers.estimators"].read_text(encoding="utf-8")
    assert "check_is_fitted: TypeAlias = Any" in wrappers
