"""Whatever bytes a graph is loaded from, it is a graph or an error: never a crash, a hang or memory without end."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import dragon

TESTS = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.long("graphs are damaged and read thousands of times")
def test_damaged_graphs(tmp_path):
    # A process of its own: a crash is told by its status, and the limit of memory holds for nobody else.
    package = str(pathlib.Path(dragon.__file__).resolve().parents[1])
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([package, str(TESTS)]), OMP_NUM_THREADS="1")
    messages = 20000 if importlib.util.find_spec("google.protobuf") else 0
    done = subprocess.run([sys.executable, "-m", "harness.graph_fuzz", "100000", str(messages), "7"], cwd=tmp_path,
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    graphs, errors, grown = map(int, re.findall(r"=(\d+)", done.stdout))
    assert graphs + errors == 100000 + messages
    assert graphs > 5000 and errors > 50000  # both ends of the loader were visited
    assert grown < 100, f"{grown} MiB"
