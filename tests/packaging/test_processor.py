"""For which processors is compiled: the levels of each kind, and what those read whose kind has no kernels."""
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest
from harness.commands import find_tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
V2, V3 = "fpu sse4_2 popcnt", "fpu avx2 fma bmi2 f16c"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC", "CMAKE_ARGS")}

needs_cmake = pytest.mark.skipif(not find_tool("cmake"), reason="no cmake here")
needs_compiler = pytest.mark.skipif(not (find_tool("cmake") and find_tool("ninja") and shutil.which("c++")),
                                    reason="no cmake, ninja or compiler here")
needs_packages = pytest.mark.skipif(
    needs_compiler.args[0] or not all(importlib.util.find_spec(name) for name in ("pybind11", "scipy_openblas32")),
    reason="what a build needs is not installed beside the tests")


def tell_level(folder, kind, flags=None):
    """Run cpu_level.sh where uname says `kind`, with what the system says of the processor."""
    uname = folder / "uname"
    uname.write_text(f"#!/bin/sh\n[ \"$*\" = -m ] && echo {kind}\n")
    uname.chmod(0o755)
    words = ["sh", str(TOOLS / "cpu_level.sh")]
    if flags is not None:
        (folder / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n")
        words.append(str(folder / "cpuinfo"))
    return subprocess.run(words, capture_output=True, text=True, timeout=60,
                          env={**ENVIRONMENT, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})


@pytest.mark.parametrize("kind, flags, level", [
    ("x86_64", V2, "v2"), ("x86_64", V3, "v3"), ("x86_64", V4, "v4"), ("amd64", V3, "v3"), ("x86_64", "", "v2"),
    ("x86_64", V4.replace("avx512vl", "avx512vl_of_another_kind"), "v3"),
    ("aarch64", None, "generic"), ("arm64", V4, "generic")])
def test_a_machine_has_a_level(tmp_path, kind, flags, level):
    done = tell_level(tmp_path, kind, flags)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{level}\n", "")


@pytest.mark.parametrize("kind, hint", [("riscv64", ""), ("armv7l", "64-bit system"), ("i686", "64-bit system"),
                                        ("ppc64le", "")])
def test_a_machine_without_kernels_reads_a_letter(tmp_path, kind, hint):
    done = tell_level(tmp_path, kind, V3)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"got a processor of kind '{kind}', expected x86_64 or aarch64" in done.stderr and hint in done.stderr


def run_script(folder, text):
    """Run lines of CMake after the functions of levels.cmake; return (status, what is said)."""
    script = folder / "levels.cmake"
    script.write_text(f'include("{TOOLS}/levels.cmake")\n{text}\n')
    done = subprocess.run([find_tool("cmake"), "-P", str(script)], capture_output=True, text=True, timeout=60)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@needs_cmake
@pytest.mark.parametrize("triple, processor", [
    ("x86_64-linux-gnu", "x86-64"), ("x86_64-redhat-linux", "x86-64"), ("amd64-unknown-freebsd14", "x86-64"),
    ("aarch64-linux-gnu", "aarch64"), ("aarch64-unknown-linux-gnu", "aarch64"), ("arm64-apple-darwin23", "aarch64")])
def test_a_compiler_tells_the_kind_of_processor(tmp_path, triple, processor):
    assert run_script(tmp_path, f'dragon_name_processor("{triple}" kind)\nmessage(STATUS "${{kind}}")') == (
        0, f"-- {processor}")


@needs_cmake
@pytest.mark.parametrize("triple", [
    "arm-linux-gnueabihf", "aarch64_be-linux-gnu", "riscv64-linux-gnu", "i686-linux-gnu", "x86_64-linux-gnux32",
    "aarch64-linux-gnu_ilp32", "powerpc64le-linux-gnu", ""])
def test_a_compiler_for_others_is_named(tmp_path, triple):
    status, said = run_script(tmp_path, f'dragon_name_processor("{triple}" kind)')
    assert status != 0 and f"got a compiler for '{triple}', expected one for x86-64 or aarch64" in said
    assert "CXX=/path/to/g++" in said


@needs_cmake
@pytest.mark.parametrize("processor, wish, levels", [
    ("x86-64", "all", "v2;v3;v4"), ("x86-64", "v3", "v3"), ("x86-64", "v3;v4", "v3;v4"), ("x86-64", "", ""),
    ("aarch64", "all", "generic"), ("aarch64", "generic", "generic"), ("aarch64", "", "")])
def test_levels_are_those_asked_for(tmp_path, processor, wish, levels):
    text = f'dragon_choose_levels({processor} "{wish}" levels)\nmessage(STATUS "<${{levels}}>")'
    assert run_script(tmp_path, text) == (0, f"-- <{levels}>")


@needs_cmake
@pytest.mark.parametrize("processor, wish, known", [
    ("aarch64", "v3", "generic"), ("x86-64", "v3;generic", "v2, v3, v4"), ("x86-64", "native", "v2, v3, v4")])
def test_levels_of_another_processor_are_refused(tmp_path, processor, wish, known):
    status, said = run_script(tmp_path, f'dragon_choose_levels({processor} "{wish}" levels)')
    assert status != 0
    assert f"got DRAGON_CPU_LEVELS={wish}, expected 'all' or levels of {processor}, which has {known}" in said


@needs_cmake
@pytest.mark.parametrize("level, flag", [("v2", "-march=x86-64-v2"), ("v4", "-march=x86-64-v4"),
                                         ("generic", "-march=armv8-a")])
def test_a_level_is_a_flag_of_the_compiler(tmp_path, level, flag):
    assert run_script(tmp_path, f'dragon_level_flags({level} flags)\nmessage(STATUS "${{flags}}")') == (0, f"-- {flag}")


def configure(folder, *words, **environment):
    """Configure this checkout; return (status, what is said)."""
    words = [find_tool("cmake"), "-S", str(ROOT), "-B", str(folder / "build"), "-G", "Ninja", *words,
             f"-DCMAKE_MAKE_PROGRAM={find_tool('ninja')}", f"-DPython_EXECUTABLE={sys.executable}"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**ENVIRONMENT, **environment})
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def pretend(folder, triple):
    """Return a compiler that says it compiles for another machine, and is this one's."""
    compiler = folder / "g++"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = -dumpmachine ] && echo {triple} && exit\n'
                        f'exec {shutil.which("c++")} "$@"\n')
    compiler.chmod(0o755)
    return str(compiler)


def list_commands(folder):
    """Return what is compiled, as [(file, command)]."""
    entries = json.loads((folder / "build" / "compile_commands.json").read_text())
    return [(pathlib.Path(entry["file"]).name, entry["command"]) for entry in entries]


@needs_compiler
def test_cmake_refuses_a_processor_without_kernels(tmp_path):
    status, said = configure(tmp_path, CXX=pretend(tmp_path, "riscv64-linux-gnu"))
    assert status != 0 and "dragon: got a compiler for 'riscv64-linux-gnu', expected one for x86-64 or aarch64" in said


@needs_packages
def test_arm_has_one_level_and_no_onednn(tmp_path):
    status, said = configure(tmp_path, CXX=pretend(tmp_path, "aarch64-linux-gnu"))
    assert status == 0, said
    commands = list_commands(tmp_path)
    assert all("-fsigned-char" in command for file, command in commands)
    assert not [file for file, command in commands if "onednn" in file or "-march=x86-64" in command]
    products = [command for file, command in commands if file == "matmul.cc" and "DRAGON_DEVICE=cpu_" in command]
    assert len(products) == 1 and "DRAGON_DEVICE=cpu_generic" in products[0]
    assert "-march=armv8-a" in products[0] and "-DDRAGON_WITHOUT_ONEDNN" in products[0]


@needs_packages
def test_x86_has_three_levels_and_onednn(tmp_path):
    status, said = configure(tmp_path, CXX=pretend(tmp_path, "x86_64-linux-gnu"))
    if "got no oneDNN" in said:
        pytest.skip("oneDNN's package is not installed beside the tests")
    assert status == 0, said
    commands = list_commands(tmp_path)
    assert any("onednn" in file for file, command in commands)
    assert not [file for file, command in commands if "-fsigned-char" in command or "WITHOUT_ONEDNN" in command]
    levels = [command for file, command in commands if file == "activation.cc" and "DRAGON_DEVICE=cpu_" in command]
    assert sorted(command.partition("-march=")[2].split()[0] for command in levels) == [
        "x86-64-v2", "x86-64-v3", "x86-64-v4"]


@needs_packages
def test_onednn_that_is_not_there_is_asked_for(tmp_path):
    status, said = configure(tmp_path, "-DDRAGON_ONEDNN=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON")
    assert status != 0 and "dragon: got no oneDNN of release 3" in said and "-DDRAGON_ONEDNN=OFF" in said


def test_requirements_of_the_build_are_those_of_this_machine():
    spec = importlib.util.spec_from_file_location("dragon_requirements", TOOLS / "requirements.py")
    requirements = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(requirements)
    lines = requirements.read_project()["build-system"]["requires"]
    chosen = requirements.choose(lines)
    assert all(len(line.split()) == 1 for line in chosen), "words that a shell would take apart"
    assert any("onednn" in line for line in chosen) == (platform.machine() == "x86_64")
    assert len(chosen) == sum(";" not in line or platform.machine() == "x86_64" for line in lines)
    assert requirements.choose(["a>=1; platform_machine == 'nothing'", "b[c]==2"]) == ["b[c]==2"]
