"""Several processes of one program: each is told its rank, how many there are, and a port where they meet."""
import ast
import os
import pathlib
import socket
import tempfile
import textwrap

from harness.interpreter import Program

HEAD = """
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
"""
# Genuine PyTorch ends threads of gloo badly now and then ("terminate called without an active exception"): it is left
# at once, after all that a program has to say.
TAIL = """
import os, sys
if "dragon" not in sys.modules:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
"""
ENTER = HEAD + """
import numpy as np
import dragon
from dragon import _C, ops
from dragon.distributed.group import ProcessGroup
from dragon.distributed.stores.tcp import TCPStore
store = TCPStore("127.0.0.1", port, rank == 0, 30.0)
group = ProcessGroup(store, rank, size, TIMEOUT)
g = group.number
"""


def find_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def find_imports(head):
    """Return the statements at the beginning of a program that import, which all its processes have in common."""
    found, statements = [], ast.parse(head).body
    while statements:
        statement = statements.pop(0)
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Constant):
            statements = [*(statement.body if statement.test.value else statement.orelse), *statements]
        elif isinstance(statement, (ast.Import, ast.ImportFrom)) or ast.unparse(statement) == "dragon.vm.install()":
            found.append(ast.unparse(statement))
    return "\n".join(found)


class Ranks:
    """Processes that run one program, forked where its head has been imported.

    Parameters
    ----------
    code : str
        The program.
    size : int
        How many processes.
    head : str, optional
        What comes before it.
    environment : Dict[str, str], optional
        Words of the environment, beside this process's.
    preload : str, optional
        What is imported before; what the head imports without.

    """

    def __init__(self, code, size, head=HEAD, environment=None, preload=None):
        self._folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self._folder.name, "program.py")
        path.write_text(head + textwrap.dedent(code) + TAIL, encoding="utf-8")
        port = find_port()
        self.processes = [Program([path, rank, size, port], self._folder.name,
                                  env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
                                  preload=find_imports(head) if preload is None else preload) for rank in range(size)]

    def finish(self, seconds=120):
        """Wait for all; return [(exit code, output, errors)] by rank."""
        try:
            found = []
            for process in self.processes:
                output, errors = process.communicate(timeout=seconds)
                found.append((process.returncode, output, errors))
            return found
        finally:
            for process in self.processes:
                if process.poll() is None:
                    process.kill()
                    process.communicate()
            self._folder.cleanup()


def run_ranks(code, size, head=HEAD, seconds=120, environment=None, preload=None):
    """Run a program in several processes, which must all end well; return what each has printed."""
    found = Ranks(code, size, head, environment, preload).finish(seconds)
    for rank, (status, _, errors) in enumerate(found):
        assert status == 0, f"rank {rank} ended with {status}:\n{errors[-3000:]}"
    return [output for _, output, _ in found]


def in_group(timeout=30.0):
    """Return the head of programs whose processes are a group `group`, numbered `g`."""
    return ENTER.replace("TIMEOUT", str(timeout))
