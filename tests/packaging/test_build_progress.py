"""What a build tells while it runs, and how files are known that were built or checked before."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "build_progress.py"
STEPS = ["[1/4] Building CXX object core/CMakeFiles/dragon.dir/a.cc.o",
         "[2/4] Building CXX object core/CMakeFiles/dragon_cpu_v3.dir/b.cc.o",
         "[3/4] Building CXX object core/CMakeFiles/_C.dir/c.cc.o", "[4/4] Linking CXX shared module _C.so"]


@pytest.fixture(scope="module")
def tool():
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("build_progress", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder, *words, **environment):
    """Run a command under the tool, in a folder."""
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, cwd=folder, timeout=120,
                          env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "2", **environment})


def saying(*lines, status=0):
    """Return a command that says lines and ends."""
    return [sys.executable, "-c", f"import sys\nfor line in {list(lines)!r}: print(line)\nsys.exit({status})"]


def test_steps_become_an_estimate_and_an_end(tmp_path):
    done = run(tmp_path, *saying("Processing .", "[0/2] Re-checking globbed directories...", *STEPS, "Successfully"))
    assert done.returncode == 0 and not done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("dragon: compiling 4 files with 2 at a time: about ")
    assert last.startswith("dragon: 4 files in ")
    assert "Processing" not in done.stdout


def test_what_a_command_said_is_shown_where_it_fails(tmp_path):
    done = run(tmp_path, *saying(*STEPS[:2], "a.cc:1:1: error: no", status=3))
    assert done.returncode == 3
    assert "a.cc:1:1: error: no" in done.stderr and "Building CXX" not in done.stderr


def test_all_is_shown_where_it_is_asked_for(tmp_path):
    done = run(tmp_path, *saying("Processing .", *STEPS), VERBOSE="1")
    assert done.stdout.splitlines() == ["Processing .", *STEPS]


def test_a_build_that_has_nothing_to_do_tells_nothing(tmp_path):
    done = run(tmp_path, *saying("ninja: no work to do."))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_estimate_is_the_sum_of_what_a_plan_compiles(tool, tmp_path, monkeypatch):
    plan = tmp_path / "build-cp311"
    plan.mkdir()
    paths = ["core/CMakeFiles/dragon.dir/a.cc.o", "core/CMakeFiles/dragon_cpu_v2.dir/b.cc.o",
             "core/CMakeFiles/dragon_cpu_v4.dir/b.cc.o", "core/CMakeFiles/_C.dir/c.cc.o"]
    (plan / "build.ninja").write_text("".join(f"build {path}: CXX_COMPILER__x_Release /a.cc\n" for path in paths)
                                      + "build x.so: CXX_SHARED_LIBRARY_LINKER__x a.o\n")
    monkeypatch.chdir(tmp_path)
    said = []
    progress = tool.Progress(2, said.append)
    progress.start(4)
    assert progress.total == sum(tool.SECONDS.values())
    progress.start(2)
    assert progress.total == sum(tool.SECONDS.values()) / 2


@pytest.fixture
def checkout(tmp_path):
    """A repository with one file and the tools that name files by what they hold."""
    folder = tmp_path / "checkout"
    (folder / "tools").mkdir(parents=True)
    (folder / "core").mkdir()
    (folder / "core" / "a.cc").write_text("int a;\n")
    for name in ("tree_hash.sh", "install_wheel.sh"):
        shutil.copy(ROOT / "tools" / name, folder / "tools" / name)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    return folder


def git(folder, *words):
    """Run git in a folder."""
    subprocess.run(["git", *words], check=True, cwd=folder, timeout=60)


def tree_hash(folder, *paths):
    """Return what the tool prints of paths."""
    return subprocess.run(["sh", folder / "tools" / "tree_hash.sh", *paths], check=True, capture_output=True, text=True,
                          cwd=folder, timeout=60).stdout.strip()


def test_every_change_of_files_changes_their_hash(checkout, tmp_path):
    seen = [tree_hash(checkout, "core")]
    assert seen[0] and tree_hash(checkout, "core") == seen[0]
    (checkout / "core" / "a.cc").write_text("int b;\n")
    seen.append(tree_hash(checkout, "core"))
    (checkout / "core" / "new.cc").write_text("int c;\n")
    seen.append(tree_hash(checkout, "core"))
    git(checkout, "add", ".")
    seen.append(tree_hash(checkout, "core"))
    assert len(set(seen)) == 4
    git(checkout, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "b")
    assert tree_hash(checkout, "core") == seen[-1]
    (checkout / "elsewhere").write_text("")
    assert tree_hash(checkout, "core") == seen[-1]
    git(tmp_path, "clone", "-q", checkout, "other")
    assert tree_hash(tmp_path / "other", "core") == seen[-1]


def test_only_a_wheel_of_the_same_files_is_installed(checkout):
    wheel = checkout / "dist" / "a-1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_text("")
    asked = checkout / "asked"
    python = checkout / "python"
    python.write_text(f'#!/bin/sh\n[ "$1" = tools/source_paths.py ] && echo core || echo "$@" >>{asked}\n')
    python.chmod(0o755)

    def install():
        return subprocess.run(["sh", checkout / "tools" / "install_wheel.sh", python], capture_output=True, text=True,
                              cwd=checkout, timeout=60).returncode

    assert install() == 1
    pathlib.Path(f"{wheel}.tree").write_text("0123456789abcdef\n")
    assert install() == 1 and not asked.exists()
    pathlib.Path(f"{wheel}.tree").write_text(tree_hash(checkout, "core") + "\n")
    assert install() == 0
    *installed, shared = asked.read_text().splitlines()
    assert installed and all("dist/a-1-py3-none-any.whl" in line for line in installed)
    assert shared == "tools/share_libraries.py"


def test_a_folder_without_git_has_no_hash(tmp_path):
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "tree_hash.sh", tmp_path / "tools")
    done = subprocess.run(["sh", tmp_path / "tools" / "tree_hash.sh", "core"], capture_output=True, text=True,
                          cwd=tmp_path, timeout=60, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert done.returncode and not done.stdout


def test_a_build_reads_what_a_source_distribution_has():
    done = subprocess.run([sys.executable, ROOT / "tools" / "source_paths.py"], check=True, capture_output=True,
                          text=True, cwd=ROOT, timeout=60)
    paths = done.stdout.split()
    assert {"core", "dragon", "pyproject.toml"} <= set(paths) and all((ROOT / path).exists() for path in paths)
