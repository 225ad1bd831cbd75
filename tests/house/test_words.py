"""Nothing public is without a sentence: operators in their registry, functions and classes in their docstrings."""
import importlib
import inspect
import pkgutil

import dragon
from harness.subresults import each


def list_modules():
    """Return the names of all modules of the package that are not private."""
    found = [name for _, name, _ in pkgutil.walk_packages(dragon.__path__, "dragon.")]
    return ["dragon"] + [name for name in found if "._" not in name]


def list_own(module):
    """Yield (name, object) of the public functions and classes that a module defines."""
    for name, value in vars(module).items():
        if not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value)):
            if value.__module__ == module.__name__:
                yield name, value


def test_every_operator_has_a_sentence():
    silent = [name for name in dragon._C.op_names() if not dragon._C.schema(name)["doc"].strip()]
    assert not silent


def test_operator_sentences_end():
    open_ended = [name for name in dragon._C.op_names() if not dragon._C.schema(name)["doc"].strip().endswith(".")]
    assert not open_ended


@each("name", list_modules())
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    silent = [] if module.__doc__ else [name]
    for own, value in list_own(module):
        if not inspect.getdoc(value):
            silent.append(f"{name}.{own}")
        if inspect.isclass(value):
            silent += [f"{name}.{own}.{method}" for method, function in vars(value).items()
                       if inspect.isfunction(function) and not method.startswith("_") and not inspect.getdoc(function)]
    assert not silent
