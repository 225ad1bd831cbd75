"""The source distribution: all that a build reads, and nothing that is merely here."""
import pathlib
import subprocess
import sys
import tarfile

import pytest

from dragon.core import distribution

pytest.importorskip("scikit_build_core", reason="the build backend is not installed beside the tests")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
NEEDED = ("CMakeLists.txt", "pyproject.toml", "LICENSE", "THIRD_PARTY.md", "README.md", "PKG-INFO",
          "core/package.cmake", "core/CMakeLists.txt", "core/dragonConfig.cmake", "core/proto/dragon.proto",
          "core/framework/apply.cc", "core/bindings/python.h", "core/kernels/math/arithmetic.cc", "dragon/__init__.py",
          "dragon/vm/torch/__init__.py", "dragon/core/distribution.py", "dragon/vm/torchvision/models/imagenet.txt",
          "tests/cpp/CMakeLists.txt", "tools/machine.cmake", "tools/memory.cmake", "tools/compile.sh",
          "tools/third_party.py", "tools/cpu_level.sh")
FOLDERS = {"core", "dragon", "tools", "tests", "examples"}
MOST_BYTES = 8 << 20


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The path of a source distribution, made from this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    words = [sys.executable, "-c", BUILD, str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def names(archive):
    """Names of its files, below the folder that all lie in."""
    with tarfile.open(archive) as file:
        return {member.name.partition("/")[2] for member in file.getmembers() if member.isfile()}


def test_it_is_called_after_the_distribution(archive):
    assert archive.name == f"{distribution.NAME.replace('-', '_')}-{distribution.VERSION}.tar.gz"
    assert archive.stat().st_size < MOST_BYTES


def test_it_holds_what_a_build_reads(names):
    assert not set(NEEDED) - names
    listed = subprocess.run(["git", "ls-files", "core", "dragon", "tools"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:  # a checkout, not an unpacked archive
        assert not {name for name in listed.stdout.split() if (ROOT / name).is_file()} - names


def test_it_holds_nothing_else(names):
    assert {name.partition("/")[0] for name in names if "/" in name} == FOLDERS
    assert not [name for name in names if ".so" in pathlib.Path(name).name or name.endswith(".pyc")]
    assert not [name for name in names if name.startswith("dragon/lib")]
    assert not [name for name in names if name.startswith("tests/") and not name.startswith("tests/cpp/")]
