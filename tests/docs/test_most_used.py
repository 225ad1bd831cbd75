"""The docstrings of the names that programs use most: complete, and with examples that hold here and elsewhere.

`most_used.txt` has the names: under [place] those that stand there, with a "!" where nothing is returned.
"""
import importlib.util
import inspect
import json
import os
import pathlib
import re

import pytest

import dragon
from dragon.vm import keras, tensorflow, torch
from harness import interpreter
from harness.subresults import each

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent / "harness" / "examples.py"
ROOTS = {"dragon": dragon, "keras": keras, "tensorflow": tensorflow, "torch": torch}
GENUINE = ("keras", "tensorflow", "torch")
PARAMETERS = re.compile(r"^Parameters\n-{10}\n(.*?)(?=^\w[\w ]*\n-{4,}$|\Z)", re.DOTALL | re.MULTILINE)
RESULT = re.compile(r"^(Returns|Yields)\n-{6,}\n\S", re.MULTILINE)
EXAMPLE = re.compile(r"^Examples\n-{8}\n>>> ", re.MULTILINE)


def read_names():
    """Return the names, and of each whether it returns something."""
    found, place = {}, ""
    for word in (HERE / "most_used.txt").read_text(encoding="utf-8").split():
        if word.startswith("["):
            place = word[1:-1]
        else:
            found[f"{place}.{word.rstrip('!')}"] = not word.endswith("!")
    return found


NAMES = read_names()


def find(name):
    """Return what a name stands for."""
    root, *path = name.split(".")
    value = ROOTS[root]
    for part in path:
        value = getattr(value, part)
    return value


def read_parameters(doc):
    """Return the arguments that a docstring tells."""
    section = PARAMETERS.search(doc)
    heads = [line.partition(" : ")[0] for line in section[1].splitlines() if line[:1].strip()] if section else []
    return [name for head in heads for name in head.split(", ")]


def list_arguments(value):
    """Return the arguments of a signature that are for users, as docstrings write them."""
    if inspect.isclass(value) and not inspect.isfunction(value.__init__) and "__signature__" not in vars(value):
        return []  # made by functions
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(value).parameters.values()
    return [marks.get(parameter.kind, "") + parameter.name for parameter in parameters
            if parameter.name not in ("self", "cls") and not parameter.name.startswith("_")]


@each("name", NAMES)
def test_docstring_is_complete(name):
    value = find(name)
    doc = inspect.getdoc(value)
    assert doc and doc.partition("\n")[0].endswith((".", ":"))
    told = read_parameters(doc)
    others = [word for word in told if word.startswith("**")]  # "*shared, **named" are what a class hands on
    missing = [word for word in list_arguments(value) if word not in told]
    assert not missing or others and not inspect.isfunction(value), missing
    if NAMES[name] and not inspect.isclass(value):
        assert RESULT.search(doc)
    assert EXAMPLE.search(doc)


def run_examples(names, command, folder, preload):
    """Return what failed of examples in a process of their own, forked where `preload` has run."""
    docstrings = {name: inspect.getdoc(find(name)) for name in names}
    path = folder / "examples.json"
    path.write_text(json.dumps(docstrings), encoding="utf-8")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": ""}
    done = interpreter.run([*command, PROGRAM, path], folder, env=environment, preload=preload)
    assert done.returncode == 0, done.stderr[-2000:]
    return "\n\n".join(json.loads(done.stdout.splitlines()[-1]))


def of_door(door):
    """Return the names of a door."""
    return [name for name in NAMES if name.partition(".")[0] == door]


@pytest.mark.parametrize("door", ROOTS)
def test_examples_hold(door, tmp_path):
    if door == "dragon":
        failed = run_examples(of_door(door), [], tmp_path, "import dragon")
    else:
        failed = run_examples(of_door(door), ["-m", "dragon", "run"], tmp_path, f"{interpreter.GUESTS}; import {door}")
    assert not failed, failed


@pytest.mark.parametrize("door", GENUINE)
@pytest.mark.long("it runs the examples of all names that are used most, in the genuine framework")
def test_examples_hold_in_the_genuine_framework(door, tmp_path):
    if importlib.util.find_spec(door) is None:
        pytest.skip(f"genuine {door}, the oracle, is not installed")
    failed = run_examples(of_door(door), [], tmp_path, f"import {door}")
    assert not failed, failed


def test_the_list_is_of_the_most_used():
    assert len(NAMES) >= 300
