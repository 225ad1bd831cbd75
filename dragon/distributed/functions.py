"""Functions in several processes of this machine."""
import multiprocessing
import os
import pickle
import sys
import tempfile

from dragon.core import files
from dragon.distributed.launch import Launcher, die_with


def _call(function, arguments, path, environment, outputs, parent):
    """Run in a new process: call a function, and leave what it returns in a file."""
    die_with(parent)
    os.environ.update(environment)
    for stream, output in zip((sys.stdout, sys.stderr), outputs):
        if output is not None:
            stream.flush()
            with open(output, "a") as file:
                os.dup2(file.fileno(), stream.fileno())
    value = function(*arguments)
    with files.rewriting(path) as file:
        pickle.dump(value, file)


class _Running:
    """A process of `multiprocessing`, asked as those of `subprocess` are.

    Parameters
    ----------
    process : multiprocessing.Process
        The process.

    """

    def __init__(self, process):
        self._process = process
        self.pid, self.terminate, self.kill = process.pid, process.terminate, process.kill

    def poll(self):
        """Return the exit code; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout=None):
        """Wait for the end."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            import subprocess
            raise subprocess.TimeoutExpired(str(self._process), timeout)


class FunctionLauncher(Launcher):
    """A function in several processes.

    Parameters
    ----------
    function : Callable
        The function; with "spawn" it must be found by its module and name.
    arguments : Sequence[Any]
        Its arguments.
    count : int
        How many processes.
    start_method : str, optional, default="spawn"
        How they are made: spawn, fork or forkserver.
    options : Any
        As of `Launcher`.

    """

    def __init__(self, function, arguments, count, start_method="spawn", **options):
        super().__init__([getattr(function, "__name__", str(function))], count, **options)
        self._function, self._arguments = function, tuple(arguments)
        self._context = multiprocessing.get_context(start_method)
        self._folder = None

    def run(self):
        """Run until all have ended well; return {rank: what the function returned}."""
        with tempfile.TemporaryDirectory() as self._folder:
            super().run()
            return {self.first_rank + local: self._value(local) for local in range(self.count)}

    def _value(self, local):
        with open(os.path.join(self._folder, str(local)), "rb") as file:
            return pickle.load(file)

    def _begin(self, local, environment, outputs):
        paths = [output and output.name for output in outputs]
        process = self._context.Process(target=_call, args=(self._function, self._arguments, os.path.join(
            self._folder, str(local)), environment, paths, os.getpid()))
        process.start()
        return _Running(process)
