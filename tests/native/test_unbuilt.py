"""Dragon where its sources lie: as it was installed, or with a letter that says what to do."""
import importlib.machinery
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "_C" + importlib.machinery.EXTENSION_SUFFIXES[0]


@pytest.fixture
def checkout(tmp_path):
    """A folder with Dragon's sources and nothing compiled."""
    shutil.copytree(ROOT / "dragon", tmp_path / "dragon", ignore=shutil.ignore_patterns("*.so*", "lib", "__pycache__"))
    return tmp_path


def run(folder, *arguments):
    """Run Python in a folder, which it looks through first."""
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def test_sources_alone_say_what_would_do(checkout):
    done = run(checkout, "-c", "import dragon")
    letter = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and letter.startswith("ImportError: dragon: got no compiled part in ")
    assert "make build" in letter and LIBRARY in letter


def test_libraries_for_another_python_are_named(checkout):
    (checkout / "dragon" / "_C.cpython-27-other.so").touch()
    letter = run(checkout, "-c", "import dragon").stderr.splitlines()[-1]
    assert "a compiled part for another Python (_C.cpython-27-other.so)" in letter


def test_a_library_that_does_not_load_says_why(checkout):
    (checkout / "dragon" / LIBRARY).write_bytes(b"no library")
    letter = run(checkout, "-c", "import dragon").stderr.splitlines()[-1]
    assert letter.startswith("ImportError") and "make build" not in letter


def test_sources_take_the_installed_libraries(checkout):
    done = run(checkout, str(ROOT / "tools" / "share_libraries.py"), "--to", str(checkout / "dragon"))
    assert done.returncode == 0, done.stderr
    done = run(checkout, "-c", "import dragon; print(dragon.__file__, dragon.tensor([1.0]) + 1)")
    assert done.returncode == 0 and done.stdout.startswith(str(checkout / "dragon")), done.stderr
