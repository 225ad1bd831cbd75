"""One home for what is installed: its name and release, and the words that install an extra."""
import ast
import importlib.metadata
import re

import pytest

import dragon
from dragon.core import distribution
from harness.tools import ROOT, load

PROJECT = load("tools/requirements.py").read_project()
EXTRAS = PROJECT["project"]["optional-dependencies"]


def calls_of(name):
    """Yield (path, arguments) of the calls of a function in the package."""
    for path in (ROOT / "dragon").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if name in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) == name:
                    yield path, node.args


def test_the_project_is_called_what_messages_say():
    assert PROJECT["project"]["name"] == distribution.NAME
    assert distribution.install_words("onnx") == "pip install 'dragon-engine[onnx]'"
    assert distribution.install_words() == "pip install dragon-engine"


def test_the_release_is_written_once():
    place, = (entry for entry in PROJECT["tool"]["dynamic-metadata"] if entry["field"] == "version")
    found = re.findall(place["regex"], (ROOT / place["input"]).read_text(encoding="utf-8"), re.MULTILINE)
    assert found == [dragon.__version__] and "version" in PROJECT["project"]["dynamic"]
    assert f'"{dragon.__version__}"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_what_is_installed_has_the_release():
    try:
        found = importlib.metadata.distribution(distribution.NAME)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the checkout is tested as it lies, not installed")
    assert found.version == dragon.__version__ and found.metadata["License-Expression"]


def test_messages_name_extras_that_are_there():
    calls = [args[0].value for path, args in calls_of("install_words") if args and isinstance(args[0], ast.Constant)]
    assert {"onnx", "proto", "vision", "keras"} <= set(calls) <= set(EXTRAS)


def test_nobody_is_sent_to_the_stranger():
    """`dragon` on PyPI is somebody else's: no text tells anybody to install it."""
    wrong = re.compile(r"pip3? install[^\n]*[\s'\"]dragon(?![-\w./])|\bdragon\[\w+[\],]")
    folders = ("dragon", "docs", "tools", "benchmarks", "examples")
    texts = [path for folder in folders for kind in ("py", "md", "rst", "sh")
             for path in (ROOT / folder).rglob(f"*.{kind}") if "_build" not in path.parts]
    assert len(texts) > 100
    assert not [str(path) for path in [*texts, ROOT / "README.md"] if wrong.search(path.read_text(encoding="utf-8"))]
