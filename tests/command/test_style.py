"""One style for all commands: help with examples, letters for mistakes, statuses, and a start in a blink."""
import os
import re
import subprocess
import sys

import pytest

from dragon.command import parser, run_graph, table

NAMES = [command.name for command in table.TABLE]


def test_help_tells_every_command_in_its_group_with_an_example(execute):
    said = execute("--help").stdout
    assert execute("help").stdout == said
    for command in table.TABLE:
        assert command.example in said and f"\n{command.group}:\n" in said
    assert all(meaning in said for _, meaning in table.STATUSES)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_help_fits_the_terminal(execute, columns):
    said = execute("--help", env={"COLUMNS": str(columns)}).stdout
    sentences = [line for line in said.splitlines() if re.match(r"  [a-z-]+  |  {14}[a-z]", line)]
    assert sentences and max(map(len, sentences)) <= max(columns, 70)


def root():
    """Return the folder that holds the package under test."""
    import dragon
    return os.path.dirname(os.path.dirname(os.path.abspath(dragon.__file__)))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "run-graph"])
def test_each_command_has_help_with_examples_and_statuses(execute, name):
    said = execute(name, "--help").stdout
    assert f"dragon {name}" in said and "examples:" in said and "status:" in said
    assert execute("help", name).stdout == said


@pytest.mark.parametrize("words, letter", [
    (["inof"], "dragon: got 'inof', expected one of run, check, "),
    (["inof"], "; did you mean info?"),
    (["zzz"], "dragon: got 'zzz', expected one of"),
    (["info", "--jsn"], "dragon info: got --jsn, expected one of --help, --json, --cmake-dir; did you mean --json?"),
    (["info", "much"], "dragon info: got 'much' at the end, expected nothing more"),
    (["completion", "fsh"], "; did you mean fish?"),
    (["completion"], "dragon completion: got nothing, expected shell"),
    (["plan", "nowhere.dragon"], "dragon plan: got 'nowhere.dragon', expected a file that can be used: No such file"),
    (["plan", "x", "--level", "7"], "dragon plan: got 7 for --level, expected one of 0, 1, 2, 3"),
    (["plan", "x", "--measure", "none"], "dragon plan: got 'none' for --measure, expected a whole number from 1"),
    (["plan", "x", "--measure"], "dragon plan: got --measure alone, expected one argument after it"),
    (["check", "--steps", "3", "x"], "dragon check: got --steps without --run, expected both"),
    (["onnx", "inspect", "nowhere.onnx"], "dragon onnx: got 'nowhere.onnx', expected a file"),
    (["onnx", "inspect", "a", "--save", "b"], "dragon onnx: got inspect with --save, expected it with run only"),
    (["verify", "nowhere.py"], "dragon verify: got 'nowhere.py', expected a file that can be used"),
    (["run", "--a"], "dragon run: got '--a', expected --as"),
    (["run", "--as", "keros", "x.py"], "dragon run: got --as keros, expected one of"),
])
def test_mistakes_are_letters(execute, words, letter):
    said = execute(*words, status=2)
    assert letter in said.stderr and "Traceback" not in said.stderr and not said.stdout


def test_a_file_that_may_not_be_read(execute, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "Is a directory" in execute("plan", "folder", status=2).stderr
    (tmp_path / "text.dragon").write_text("no graph")
    assert "expected a graph that `graph.save` wrote" in execute("plan", "text.dragon", status=2).stderr


def test_nothing_said_shows_the_help(execute):
    assert "usage: dragon COMMAND" in execute(status=2).stdout


def test_a_reader_that_goes_away(tmp_path):
    line = f"{sys.executable} -c 'from dragon.command import main; main()' completion bash | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": root()})
    assert done.stdout.startswith("# Completion") and not done.stderr
    assert done.returncode in (0, table.STATUS_OF_PIPE)


def test_control_c_is_no_traceback(interrupt, tmp_path):
    (tmp_path / "endless.py").write_text("import torch\nopen('on', 'w').close()\nwhile True:\n    pass\n")
    status, _, said = interrupt("check", "--run", "endless.py", when="on")
    assert status == 130 and said == "dragon: interrupted\n"


def test_what_run_graph_takes_is_what_completion_offers(execute):
    said = execute("run-graph", "--help").stdout
    assert set(re.findall(r"^  (--[a-z]+)", said, re.MULTILINE)) == {option for option, _ in run_graph.OPTIONS}


def test_the_table_is_whole():
    assert len(set(NAMES)) == len(NAMES)
    for command in table.TABLE:
        module = table.load(command)
        assert parser.make(command, module).format_help() and module.EXAMPLES
        if command.name not in ("run", "torchrun", "run-graph", "completion"):
            assert "--json" in parser.make(command, module).format_help()


def test_run_from_the_script(execute, tmp_path):
    (tmp_path / "train.py").write_text("import sys, torch, keras\nprint(torch.ones(2).sum().item(), sys.argv[1:])\n"
                                       "sys.exit(7)\n")
    done = execute("run", "train.py", "--epochs", "3", status=7)
    assert done.stdout == "2.0 ['--epochs', '3']\n" and not done.stderr


def test_info(execute):
    assert "cpu level" in execute("info").stdout
