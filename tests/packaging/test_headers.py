"""A program in C++ against the Dragon that is installed: found by CMake, it calls operators and runs a saved graph."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest
from harness.commands import find_tool

import dragon
from dragon.core import distribution

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cpp"


def run(*words, folder):
    """Run a program to its end; its words are the test's if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ask_cmake_dir(folder):
    """Ask the command, from outside of the checkout."""
    return subprocess.run([sys.executable, "-m", "dragon", "info", "--cmake-dir"], cwd=folder, capture_output=True,
                          text=True, env=os.environ, timeout=120)


def test_the_folder_is_told_or_what_would_make_it(tmp_path):
    done = ask_cmake_dir(tmp_path)
    try:
        assert done.stdout == distribution.find_cmake() + "\n"
        assert (pathlib.Path(done.stdout.strip()) / "dragonConfigVersion.cmake").is_file()
    except FileNotFoundError as error:
        assert done.returncode == 2
        assert done.stderr == f"dragon info: {str(error).removeprefix('dragon: ')}\n"
        assert "expected an installed Dragon: `make install`" in done.stderr


def test_a_program_calls_operators_and_runs_a_graph(tmp_path):
    try:
        place = distribution.find_cmake()
    except FileNotFoundError:
        pytest.skip("the checkout is tested as it lies, not installed")
    cmake, ninja = find_tool("cmake"), find_tool("ninja")
    if not cmake or not ninja or not shutil.which("c++"):
        pytest.skip("no cmake, ninja or compiler on this machine")

    @dragon.function
    def program(x, w):
        return dragon.ops.tanh(x @ w) * 2.0

    x, w = dragon.ones((2, 3)), dragon.ones((3, 4))
    program(x, w)
    program(x, w)
    dragon.Graph(program.graph).save(tmp_path / "saved.dragon")
    run(cmake, "-S", EXAMPLE, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}",
        f"-Ddragon_DIR={place}", folder=tmp_path)
    run(cmake, "--build", tmp_path / "build", folder=tmp_path)
    said = run(tmp_path / "build" / "program", tmp_path / "saved.dragon", folder=tmp_path).splitlines()
    assert said[0].startswith("kernels: v") and said[1] == "x @ x.T sums to 12"
    found = float(said[2].removeprefix("the graph's output sums to "))
    numpy.testing.assert_allclose(found, 16 * numpy.tanh(3), rtol=1e-5)
