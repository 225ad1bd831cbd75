"""How tests of commands start them: as a user does, outside of the checkout."""
import os
import signal
import subprocess
import sys

import pytest

import dragon
from harness import interpreter
from harness.waiting import PATIENCE_SECONDS, wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(dragon.__file__)))
START = "from dragon.command import main; main()"


@pytest.fixture
def execute(tmp_path):
    """Return a function that runs `dragon` with words and returns what came of it."""
    def call(*words, status=0, path=(), cwd=tmp_path, env=None):
        environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(
            [*map(str, path), ROOT, os.environ.get("PYTHONPATH", "")]), **(env or {})}
        done = interpreter.run(["-c", START, *words], cwd, env=environment, timeout=600,
                               preload="import dragon.command")
        assert done.returncode == status, done.stdout + done.stderr
        return done
    return call


@pytest.fixture
def interrupt(tmp_path):
    """Return a function that starts `dragon` with words, presses Ctrl-C once a file is there, and returns what came."""
    def take_control_c():  # which is ignored by what runs in the background, and by its children
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def call(*words, when):
        process = subprocess.Popen([sys.executable, "-m", "dragon", *map(str, words)], cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=take_control_c,
                                   env={**os.environ, "PYTHONPATH": ROOT})
        try:
            wait_for(lambda: (tmp_path / when).exists() or process.poll() is not None)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
        return process.returncode, out, err
    return call
