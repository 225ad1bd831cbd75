"""Programs in processes of their own, without the time that a new interpreter takes to import packages.

`run(["-c", "import torch; ..."], tmp_path, preload="import torch")` is `subprocess.run([sys.executable, "-c", ...])`
with both outputs captured as text. But the process is forked from one that has run the statements of `preload` before,
and that waits for the next program: one such server for each `preload`, in each process of pytest. A program finds
itself in a process of its own, with its words, folder, environment, streams, a fresh `__main__`, and the modules that
`preload` has imported; it ends as any other.

What it must not be used for: programs about the start or the import itself (what is imported and how long that takes,
options of the interpreter, `sitecustomize`), and those that want memory, pages or descriptors counted. `preload` should
be what the program itself imports first, so that no import that is missing is covered up.

Variables that packages read when they are imported (`START`) are the server's as well: for other values there is
another server. Unless the environment says otherwise, there is one thread, and one of OpenBLAS, which would
start them with the import of NumPy: threads are not forked.
"""
import atexit
import collections
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from harness.waiting import wait_for

SERVER = pathlib.Path(__file__).with_name("interpreter_server.py")
# Beginnings of names of variables that are read when Python starts or a package is imported. PYTHONPATH is not: each
# program has its own.
START = ("PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "MKL_", "KMP_", "LD_", "TF_", "XLA_", "KERAS_", "TORCH",
         "PYTORCH_", "CUDA_", "DRAGON_", "MPL")
GUESTS = "import dragon.vm; dragon.vm.install()"  # what comes before `import torch`, where that is Dragon's
MOST_SERVERS = 4  # each has the packages in memory: the one that was not asked for longest ends
_servers = collections.OrderedDict()  # (preload, variables): server
_lock = threading.Lock()


class ServerEnded(RuntimeError):
    """A server has ended instead of giving an answer."""


class Server:
    """A process that has run some statements, and forks for every program."""

    def __init__(self, preload, env):
        self.has_answered = False
        self.seconds = 0.0  # of processors, that programs took which have ended
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, str(SERVER), str(theirs.fileno()), preload]
            self.process = subprocess.Popen(words, cwd=os.sep, env=env, pass_fds=[theirs.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors)

    def ask(self, folder):
        """Have the program of a folder started; return its process's number, and the socket that gets its status."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                socket.send_fds(self.socket, [os.fsencode(folder)], [theirs.fileno()])
            answer = ours.recv(64)
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
        if not answer:
            ours.close()
            raise ServerEnded(self.say_why())
        self.has_answered = True
        return int(answer), ours

    def say_why(self):
        """Return what a server that has ended has written."""
        self.process.wait()
        self.errors.seek(0)
        return f"the server of interpreters ended with {self.process.returncode}: {self.errors.read()[-3000:]}"

    def end(self):
        """Let the server end, and its programs with it; what they took is that of a child of this process from then."""
        self.socket.close()
        self.process.wait()
        self.errors.close()
        self.seconds = 0.0


def program_seconds():
    """Return the processor time of programs that have ended, of servers that have not: no child of this process."""
    return sum(server.seconds for server in list(_servers.values()))


def _find_server(preload, env):
    """Return the server for these statements and variables; one that has ended is started again."""
    key = preload, tuple(sorted((name, value) for name, value in env.items()
                                if name.startswith(START) and name != "PYTHONPATH"))
    server = _servers.pop(key, None)
    if server is None or server.process.poll() is not None:
        server = Server(preload, env)
    _servers[key] = server
    while len(_servers) > MOST_SERVERS:
        _servers.popitem(last=False)[1].end()
    return server


def _start(folder, preload, env):
    """Have a program started; one try more where a server has ended that had done well before."""
    server = _find_server(preload, env)
    try:
        return server, *server.ask(folder)
    except ServerEnded:
        if not server.has_answered:
            raise
    server = _find_server(preload, env)
    return server, *server.ask(folder)


def end_servers():
    """End all servers; what is run later starts new ones."""
    while _servers:
        _servers.popitem()[1].end()


def _forget_servers():
    """Close, in a forked process, what is its parent's."""
    for server in _servers.values():
        server.socket.close()
        server.process.returncode = 0  # so that nobody says that it was left behind
    _servers.clear()


atexit.register(end_servers)
os.register_at_fork(after_in_child=_forget_servers)


class Program:
    """A program that runs: the part of `subprocess.Popen` that tests use, with outputs that are read at the end."""

    def __init__(self, words, cwd, env=None, input=None, preload="", new_session=False, merged=False):
        self.args = [str(word) for word in words]
        if not self.args or self.args[0].startswith("-") and self.args[0] not in ("-c", "-m"):
            raise ValueError(f"interpreter: got the words {self.args}, expected -c, -m or a file first")
        self.returncode = None
        self._folder = tempfile.TemporaryDirectory(prefix="interpreter-")
        folder = pathlib.Path(self._folder.name)
        for name in ("stdout", "stderr"):
            (folder / name).touch()
        if input is not None:
            (folder / "stdin").write_text(input)
        env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **(os.environ if env is None else env)}
        request = {"words": self.args, "cwd": os.path.abspath(cwd), "env": env, "new_session": new_session,
                   "input": os.devnull if input is None else "stdin", "errors": "stdout" if merged else "stderr"}
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        with _lock:
            self._server, self.pid, self._socket = _start(folder, preload, env)

    def wait(self, timeout=None):
        """Return the exit status once the program has ended."""
        if self.returncode is None:
            self._socket.settimeout(timeout)
            try:
                answer = self._socket.recv(64)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            if not answer:
                raise ServerEnded("the server of interpreters ended while a program ran")
            status, seconds = answer.split()
            self.returncode = int(status)
            if self._server in _servers.values():
                self._server.seconds += float(seconds)
            self._socket.close()
        return self.returncode

    def poll(self):
        """Return the exit status, None while the program runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number):
        """Send the process a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        """Wait, and return what the program has written to its two outputs."""
        self.wait(timeout)
        return self.read("stdout"), self.read("stderr")

    def has_written(self, text):
        """Return whether a text came to stand in the standard output; waits as long as the program may need for it."""
        wait_for(lambda: text in self.read("stdout") or self.poll() is not None)
        return text in self.read("stdout")

    def read(self, name):
        """Return what the program has written so far to `stdout` or `stderr`."""
        return pathlib.Path(self._folder.name, name).read_text(errors="replace")


def run(words, cwd, *, env=None, input=None, timeout=None, check=False, preload="", merged=False):
    """Run a program and wait for its end.

    Parameters
    ----------
    words : Sequence[str]
        What would stand behind `python`: `-c` and code, `-m` and a module, or a file; and words for the program.
    cwd : str
        The folder that it runs in.
    env : Dict[str, str], optional
        Its environment, this process's without.
    input : str, optional
        What it reads from its standard input, nothing without.
    timeout : float, optional
        Seconds after which it is killed.
    check : bool, optional, default=False
        Whether a status that is not 0 raises.
    preload : str, optional
        Statements, `import torch`, that the process it is forked from has run.
    merged : bool, optional, default=False
        Whether both outputs are one.

    Returns
    -------
    subprocess.CompletedProcess
        As `subprocess.run` returns it.

    """
    program = Program(words, cwd, env, input, preload, merged=merged)
    try:
        output, errors = program.communicate(timeout)
    except subprocess.TimeoutExpired:
        program.kill()
        output, errors = program.communicate()
        raise subprocess.TimeoutExpired(program.args, timeout, output, errors) from None
    done = subprocess.CompletedProcess(program.args, program.returncode, output, errors)
    if check and done.returncode:
        raise RuntimeError(f"a program ended with {done.returncode}:\n{output[-3000:]}{errors[-3000:]}")
    return done
