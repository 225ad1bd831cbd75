"""A process that has imported packages and forks for every program: what `interpreter.py` starts and speaks to.

`python interpreter_server.py SOCKET STATEMENTS` runs the statements, and then waits on the socket of that number. A
message names a folder with a `request.json`, and brings a socket along: that one gets the number of the new process,
and once it has ended its status and the seconds of processors that it took, with its children. Whoever holds the other
end of the first socket keeps the server and its programs alive.
"""
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import types
from importlib.machinery import BuiltinImporter, SourceFileLoader


class Server:
    """Forks, and waits for what it has forked.

    Parameters
    ----------
    wanted : socket.socket
        Where the messages come from.

    """

    def __init__(self, wanted):
        self.wanted = wanted
        self.poll = select.poll()
        self.poll.register(wanted, select.POLLIN)
        self.running = {}  # a descriptor of the process: (its number, the socket that wants its status)

    def serve(self):
        """Return, in a new process, the folder and the request of the program that it is to run."""
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor in self.running:
                    self.finish(descriptor)
                    continue
                message, descriptors, _, _ = socket.recv_fds(self.wanted, 4096, 1)
                if not message:
                    self.end()
                folder = message.decode()
                answers = socket.socket(fileno=descriptors[0])
                with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
                    request = json.load(file)
                process = os.fork()
                if not process:
                    self.leave(answers)
                    return folder, request
                self.enter(process, answers)

    def enter(self, process, answers):
        """Tell the number of a new process, and look for its end."""
        descriptor = os.pidfd_open(process)
        self.running[descriptor] = process, answers
        self.poll.register(descriptor, select.POLLIN)
        self.tell(answers, process)

    def finish(self, descriptor):
        """Tell the status of a process that has ended, and the seconds that it took."""
        process, answers = self.running.pop(descriptor)
        self.poll.unregister(descriptor)
        os.close(descriptor)
        _, status, used = os.wait4(process, 0)
        self.tell(answers, f"{os.waitstatus_to_exitcode(status)} {used.ru_utime + used.ru_stime}")
        answers.close()

    def tell(self, answers, words):
        """Send some words; nobody may want them any more."""
        try:
            answers.send(str(words).encode())
        except (BrokenPipeError, ConnectionResetError):
            pass

    def leave(self, answers):
        """Close, in a new process, what is the server's."""
        self.wanted.close()
        answers.close()
        for descriptor, (_, others) in self.running.items():
            os.close(descriptor)
            others.close()

    def end(self):
        """Kill what still runs, and go: nobody is there any more."""
        for process, _ in self.running.values():
            os.kill(process, signal.SIGKILL)
        os._exit(0)


def preload(statements):
    """Import packages, and be sure that they have started no threads: those would be missing in a forked process."""
    exec(statements, {"__name__": "preload"})
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise RuntimeError(f"{statements!r} has started {threads - 1} threads, which do not live in forked processes")
    gc.collect()
    gc.freeze()  # so that looking for garbage copies no pages


def connect(folder, request):
    """Take the streams, the folder and the environment that a program is to have."""
    for number, name, flags in ((0, request["input"], os.O_RDONLY), (1, "stdout", os.O_WRONLY | os.O_APPEND),
                                (2, request["errors"], os.O_WRONLY | os.O_APPEND)):
        opened = os.open(os.path.join(folder, name), flags)
        os.dup2(opened, number)
        os.close(opened)
    if request["new_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    coerced = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}  # which Python itself may set
    os.environ.clear()
    os.environ.update({**coerced, **request["env"]})


def forget():
    """Let nothing be as in the other programs that only seems to be by chance, nor as it was before."""
    if "numpy.random.mtrand" in sys.modules:
        sys.modules["numpy.random.mtrand"].seed()
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    importlib.invalidate_caches()


def set_path(first, behind):
    """Set `sys.path` as Python does: the program's folder, PYTHONPATH, and what belongs to Python."""
    between = [os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:] = list(dict.fromkeys([first, *between, *behind]))


def run(request, behind):
    """Run a program in a fresh `__main__`, as `python` with these words does."""
    what, *rest = request["words"]
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    names = vars(module)
    names.update(__builtins__=sys.modules["builtins"], __annotations__={}, __loader__=BuiltinImporter)
    sys.orig_argv = [sys.executable, *request["words"]]
    if what == "-m":
        sys.argv = ["-m", *rest[1:]]
        set_path(os.getcwd(), behind)
        runpy._run_module_as_main(rest[0])
        return
    if what == "-c":
        sys.argv = ["-c", *rest[1:]]
        set_path("", behind)
        source, name = rest[0], "<string>"
    else:
        sys.argv = [what, *rest]
        name = os.path.abspath(what)
        set_path(os.path.dirname(os.path.realpath(what)), behind)
        names.update(__file__=name, __cached__=None, __loader__=SourceFileLoader("__main__", name))
        with open(name, "rb") as file:
            source = file.read()
    exec(compile(source, name, "exec", dont_inherit=True), names)


def run_as_python(request, behind):
    """Run a program; an error is shown without the frames of this file, and ends the process as Python ends it."""
    try:
        run(request, behind)
    except SystemExit:
        raise
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.excepthook = lambda *_: None
        raise


def start():
    """Serve; return, in a new process, what it is to run and the places that `sys.path` ends with."""
    number, statements = sys.argv[1:]
    before = {os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place}
    del sys.path[0]
    behind = [place for place in sys.path if place not in before]
    sys.argv = [""]
    preload(statements)
    folder, request = Server(socket.socket(fileno=int(number))).serve()
    connect(folder, request)
    forget()
    return request, behind


if __name__ == "__main__":
    run_as_python(*start())  # from here, so that a program ends where Python itself ends
