"""Who lacks something for building reads what, and how to get it; before anything is downloaded, and in CMake too."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from harness.commands import find_tool

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
KILLED = "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC", "CMAKE_ARGS")}


def make_program(path, text):
    """Write a program of sh."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def check(*words, **environment):
    """Run check_machine.sh."""
    return subprocess.run(["sh", str(TOOLS / "check_machine.sh"), *map(str, words)], capture_output=True, text=True,
                          env={**ENVIRONMENT, **environment}, timeout=120)


def has_headers():
    """Tell whether this Python's headers are there."""
    import sysconfig
    return pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file()


@pytest.mark.skipif(not has_headers() or shutil.which("c++") is None, reason="this machine cannot build Dragon itself")
def test_a_machine_with_all_of_it_is_told_nothing():
    done = check(sys.executable)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_that_is_missing_is_told_at_once():
    done = check("no-python-here", CXX="no-compiler-here")
    assert done.returncode == 1
    assert "no no-python-here: expected Python 3.10 or later" in done.stderr
    assert "no compiler no-compiler-here: expected g++ 12 or later" in done.stderr
    assert "sudo apt install python3 python3-dev python3-venv g++\n" in done.stderr
    assert "sudo dnf install python3 python3-devel gcc-c++\n" in done.stderr


def test_an_old_python_without_headers_is_named(tmp_path):
    text = 'case "$2" in *"%d.%d"*) echo 3.8 ;; *path*) echo /nowhere ;; *) exit 1 ;; esac'
    python = make_program(tmp_path / "python3.8", text)
    said = check(python).stderr
    assert "Python 3.8: expected 3.10 or later" in said and "no /nowhere/Python.h" in said
    assert "no venv module for Python 3.8" in said and "python3.8-venv python3.8-dev" in said


def test_an_old_compiler_is_named(tmp_path):
    text = '[ "$1" = --version ] && echo "g++ 7.5.0" && exit 0; cat >/dev/null; exit 1'
    compiler = make_program(tmp_path / "old", text)
    said = check(sys.executable, CXX=str(compiler)).stderr
    assert "g++ 7.5.0: expected a compiler of C++20 with OpenMP" in said


def run_compiler(tmp_path, text):
    """Run a program in a compiler's place."""
    program = make_program(tmp_path / "compiler", text)
    return subprocess.run(["sh", str(TOOLS / "compile.sh"), str(program), "-c", "a file.cc"], capture_output=True,
                          text=True, timeout=60)


@pytest.mark.parametrize("text", [KILLED, "kill -9 $$", "echo 'cc1plus: out of memory allocating 9 bytes' >&2; exit 1"])
def test_a_compiler_ended_for_want_of_memory_comes_with_a_letter(tmp_path, text):
    done = run_compiler(tmp_path, text)
    assert done.returncode != 0
    assert "expected about 1.5 GiB" in done.stderr and "JOBS=1" in done.stderr


def test_an_error_of_the_program_is_left_as_it_is(tmp_path):
    done = run_compiler(tmp_path, "echo \"$2: error: no\" >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "a file.cc: error: no\n")


def test_warnings_pass_and_success_is_quiet(tmp_path):
    done = run_compiler(tmp_path, "echo 'warning: 100%' >&2")
    assert (done.returncode, done.stderr) == (0, "warning: 100%\n")
    assert run_compiler(tmp_path, "true").stderr == ""


needs_cmake = pytest.mark.skipif(not (find_tool("cmake") and find_tool("ninja")), reason="no cmake or ninja here")


@needs_cmake
@pytest.mark.parametrize("memory, count", [(0, 1), (900, 1), (2048, 1), (3072, 2), (65536, 42)])
def test_no_more_compilers_run_than_memory_holds(tmp_path, memory, count):
    script = tmp_path / "count.cmake"
    script.write_text(f'include("{TOOLS}/memory.cmake")\ndragon_count_compilers({memory} count)\n'
                      'dragon_read_memory(now)\nmessage(STATUS "count ${count} of ${now}")\n')
    words = subprocess.check_output([find_tool("cmake"), "-P", str(script)], text=True, timeout=60).split()
    assert words[1:3] == ["count", str(count)] and int(words[-1]) > 0


@needs_cmake
def test_cmake_without_a_compiler_says_where_one_comes_from(tmp_path):
    done = subprocess.run([find_tool("cmake"), "-S", str(TOOLS.parent), "-B", str(tmp_path), "-G", "Ninja",
                           f"-DCMAKE_MAKE_PROGRAM={find_tool('ninja')}"], capture_output=True, text=True, timeout=120,
                          env={**ENVIRONMENT, "PATH": "/nowhere"})
    assert done.returncode != 0 and "dragon: got no C++ compiler, expected g++ 12 or later" in done.stderr
    assert "apt install g++" in done.stderr
