"""`dragon <command>` in a pipe whose reader goes away, as `head` does: no traceback, and the status says why."""
import os
import signal
import subprocess
import sys

import pytest

COMMANDS = {"info": ["info"], "info as JSON": ["info", "--json"], "help": ["--help"], "version": ["--version"],
            "check": ["check", "program.py"]}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_goes_away_is_no_error(words, tmp_path):
    # Far more lines than a buffer takes, so that writing meets the closed pipe before the end too.
    (tmp_path / "program.py").write_text("import torch\n" + "torch.nothing_of_this_name()\n" * 300)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([sys.executable, "-m", "dragon", *words], stdout=closed, stderr=subprocess.PIPE,
                              text=True, cwd=tmp_path, env=os.environ)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_program_that_is_run_meets_the_pipe_itself(tmp_path):
    code = "import sys\ntry:\n    print('x', flush=True)\nexcept BrokenPipeError:\n    sys.exit(7)\n"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([sys.executable, "-m", "dragon", "run", "-c", code], stdout=closed,
                              stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ)
    assert done.returncode == 7
