"""Walls around a process that makes hostile calls: memory, time, files, network, children, and what it prints."""
import contextlib
import os
import resource
import signal
import sys
import tempfile

from harness.limits import limit_addresses

MEMORY = 1 << 30  # what tensors may take
ADDRESSES = 64 << 30
FILE_SIZE = 64 << 20
GROWTH = 3 << 19  # kilobytes one call may add to the process: half as much again as tensors may take
CPU_SECONDS = 15
WALL_SECONDS = 180  # for calls that wait: a busy machine must not make this too short
REFUSED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.fork", "os.exec",
           "os.posix_spawn", "os.forkpty", "os.kill", "os.chdir", "os.chroot", "os.putenv", "signal.pthread_kill")
WRITING = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.link",
           "os.symlink", "shutil.rmtree", "shutil.move")


@contextlib.contextmanager
def walls():
    """Stand in a temporary folder, the only place where files may be written, with little memory and no network."""
    with tempfile.TemporaryDirectory() as folder:
        standing = limit(os.path.realpath(folder))
        try:
            yield
        finally:
            standing.clear()
            os.chdir(os.sep)


def limit(folder):
    """Put up the walls; return a list that takes down those around files when it is emptied."""
    import dragon
    os.chdir(folder)
    os.environ["HOME"] = folder
    limit_addresses(ADDRESSES)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    dragon.set_memory_limit(MEMORY)
    standing = [True]

    def watch(event, arguments):
        if not standing:
            return
        if event in REFUSED:
            raise PermissionError(f"{event} is not for hostile calls")
        if event in WRITING or event == "open" and writes(arguments):
            path = arguments[0]
            if isinstance(path, (str, bytes)) and not os.path.realpath(os.fsdecode(path)).startswith(
                    (folder, "/dev/null")):
                raise PermissionError(f"{event} of {path!r} is not for hostile calls")
    sys.addaudithook(watch)
    return standing


def writes(arguments):
    """Return whether an `open` event is for writing."""
    mode, flags = arguments[1], arguments[2]
    return any(letter in str(mode or "") for letter in "wax+") or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


def private_output():
    """Return the standard output for findings alone; whatever calls print goes nowhere, and they read nothing."""
    mine = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return mine


@contextlib.contextmanager
def timed():
    """End the process if a call does not return; kernels cannot be interrupted, so the signals' own action does it.

    What counts is the time of the processor, so that a busy machine makes no difference.
    """
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.alarm(WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def most_memory():
    """Return the most memory the process ever had, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
