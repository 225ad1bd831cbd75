"""Completion scripts complete: bash's is run by bash itself, the others by their shells where they are installed."""
import shutil
import subprocess

import pytest

from dragon.command import table

ASK = """
source ./dragon.bash
COMP_WORDS=({words}); COMP_CWORD={place}
_dragon
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(folder, *words):
    """Return what bash offers for the last of some words."""
    script = ASK.format(words=" ".join(f"'{word}'" for word in words), place=len(words) - 1)
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


@pytest.fixture
def folder(execute, tmp_path):
    (tmp_path / "dragon.bash").write_text(execute("completion", "bash").stdout)
    (tmp_path / "train.py").write_text("")
    return tmp_path


def test_bash_completes_commands(folder):
    assert complete(folder, "dragon", "") >= {command.name for command in table.TABLE} | {"--help", "--version"}
    assert complete(folder, "dragon", "ver") == {"verify"}
    assert complete(folder, "dragon", "zzz") == set()


def test_bash_completes_options_values_and_files(folder):
    assert complete(folder, "dragon", "check", "--s") == {"--steps"}
    assert complete(folder, "dragon", "check", "--") >= {"--json", "--run", "--help", "--timeout"}
    assert complete(folder, "dragon", "completion", "z") == {"zsh"}
    assert complete(folder, "dragon", "run", "--as", "ten") == {"tensorflow"}
    assert complete(folder, "dragon", "plan", "--level", "") == {"0", "1", "2", "3"}
    assert complete(folder, "dragon", "run", "tra") == {"train.py"}
    assert "train.py" in complete(folder, "dragon", "plan", "--svg", "t")


@pytest.mark.parametrize("shell, option", [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_scripts_are_well_formed(execute, tmp_path, shell, option):
    script = execute("completion", shell).stdout
    for command in table.TABLE:
        assert command.name in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script)
    done = subprocess.run([shell, option, "script"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
