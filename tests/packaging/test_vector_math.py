"""Vector functions that glibc got in 2.35: right where it has them and where it is older, at every width of vectors."""
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = shutil.which("g++")
FUNCTIONS = {"v2": 40, "v3": 80, "v4": 120}


def count(level, folder, *words):
    """Compile the program for a level; return (functions, results that are not the scalar function's own)."""
    best = subprocess.check_output(["sh", ROOT / "tools/cpu_level.sh"], text=True).strip()
    if platform.machine() != "x86_64" or not COMPILER or level > best:
        pytest.skip(f"no compiler here, or no processor of level {level}")
    command = [COMPILER, "-std=c++20", "-O2", f"-I{ROOT}", f"-march=x86-64-{level}", *words, "-o", folder / "program",
               ROOT / "tests/packaging/vector_math.cc", "-ldl"]
    subprocess.run(command, check=True, timeout=300)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]
    functions, others = re.search(r"(\d+) functions, (\d+) others, 0 wrong", done.stdout).groups()
    return int(functions), int(others)


@pytest.mark.parametrize("level", sorted(FUNCTIONS))
def test_this_machines_are_within_their_bound(level, tmp_path):
    functions, others = count(level, tmp_path)
    assert functions == FUNCTIONS[level]
    library, version = platform.libc_ver()
    if library == "glibc" and [int(number) for number in version.split(".")] >= [2, 35]:
        assert others > functions  # vector functions indeed


@pytest.mark.parametrize("level", sorted(FUNCTIONS))
def test_those_of_machines_without_are_the_scalar_ones(level, tmp_path):
    assert count(level, tmp_path, "-DOLD_GLIBC") == (FUNCTIONS[level], 0)
