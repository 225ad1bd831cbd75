"""The check before a change lands: its table, its limit, and what passed before with the same files."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path):
    """A repository whose `make` says which target it was asked for."""
    folder = tmp_path / "checkout"
    for name in ("tools", "core", ".ci", "programs"):
        (folder / name).mkdir(parents=True)
    (folder / "core" / "a.cc").write_text("int a;\n")
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    shutil.copy(ROOT / "tools" / "tree_hash.sh", folder / "tools")
    write_make(folder, 'echo "target $1"')
    subprocess.run("git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm a", shell=True,
                   check=True, cwd=folder, timeout=60)
    return folder


def write_make(folder, text):
    """Write the `make` that stages call."""
    make = folder / "programs" / "make"
    make.write_text(f"#!/bin/sh\n{text}\n")
    make.chmod(0o755)


def run(folder, *stages, **environment):
    """Run stages; return the exit status and what was printed."""
    path = f"{folder / 'programs'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    done = subprocess.run(["bash", folder / ".ci" / "run", *stages], capture_output=True, text=True, cwd=folder,
                          timeout=120, env={**os.environ, "PATH": path, **environment})
    return done.returncode, done.stdout + done.stderr


def test_all_stages_run_and_stand_in_a_table(checkout):
    status, text = run(checkout)
    assert status == 0
    # The last one is run where nvcc is.
    targets = [line for line in text.splitlines() if line.startswith("target") and line != "target cuda"]
    assert targets == [f"target {name}" for name in ("lint", "test", "wheel", "sanitize", "docs", "simt")]
    table = text.partition("== seconds by stage\n")[2].splitlines()
    assert len(table) == 7 and all(" s  " in line for line in table)


def test_what_passed_is_not_run_again_until_its_files_change(checkout):
    assert run(checkout, "sanitize")[0] == 0
    kept = (checkout / ".ci" / "passed").read_text()
    assert kept.startswith("sanitize ")
    status, text = run(checkout, "lint", "sanitize")
    assert status == 0 and "target lint" in text and "target sanitize" not in text
    assert "passed before with the same files" in text
    assert "target sanitize" in run(checkout, "sanitize", CI_FULL="1")[1]
    (checkout / "core" / "a.cc").write_text("int b;\n")
    assert "target sanitize" in run(checkout, "sanitize")[1]
    assert (checkout / ".ci" / "passed").read_text() != kept


def test_a_failure_is_named_and_does_not_hide_the_others(checkout):
    write_make(checkout, 'echo "target $1"; [ "$1" != lint ]')
    status, text = run(checkout, "lint", "wheel")
    assert status == 1
    assert "target wheel" in text and "lint       FAILED: exit status 1" in text and "== failed: lint" in text


def test_what_fails_is_not_kept_as_passed(checkout):
    write_make(checkout, "exit 1")
    assert run(checkout, "sanitize")[0] == 1
    assert "sanitize" not in (checkout / ".ci" / "passed").read_text()


def test_a_stage_that_goes_beyond_the_limit_is_ended_and_the_rest_named(checkout):
    write_make(checkout, '[ "$1" != test ] || sleep 300')
    status, text = run(checkout, "test", "wheel", CI_SECONDS="3")
    assert status == 1
    assert "test       FAILED: ended at the limit of 3 s for all stages" in text
    assert "wheel      FAILED: not run, for " in text and "== failed: test wheel" in text


def test_an_unknown_stage_is_refused(checkout):
    status, text = run(checkout, "tests")
    assert status == 2 and "got the stage 'tests', expected some of: lint test wheel" in text
