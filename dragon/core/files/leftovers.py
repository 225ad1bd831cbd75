"""Names beside a place, for what is being written; and what dead processes left under such names."""
import contextlib
import itertools
import os
import re
import shutil
import time

# What a process leaves behind if it is killed: ".<name>.<system>-<process>-<its start>-<number>.part".
LEFTOVER = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-(\d+)-\d+\.part", re.DOTALL)
LONGEST_NAME = 150  # bytes of a file's own name in the name beside it: systems allow 255 in all
STRANGERS_AGE = 86400.0  # seconds without a change after which what another system left is nobody's
MOST_SWEPT = 1000

_numbers, _swept = itertools.count(), set()


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _system():
    """Return eight digits for this run of this machine and its numbering of processes."""
    if not hasattr(_system, "known"):
        import hashlib
        try:
            numbering = str(os.stat("/proc/self/ns/pid").st_ino).encode()
        except OSError:
            numbering = os.uname().nodename.encode()
        _system.known = hashlib.sha256(_read("/proc/sys/kernel/random/boot_id") + numbering).hexdigest()[:8]
    return _system.known


def _start_of(process):
    """Return when a process started, in the system's ticks; None if there is none."""
    words = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
    if len(words) > 19:
        return int(words[19])
    try:
        os.kill(process, 0)
    except PermissionError:
        return 0
    except OSError:
        return None
    return 0


def _is_left(entry):
    """Return whether a folder's entry was left by a process that is no more."""
    found = LEFTOVER.fullmatch(entry.name)
    if not found:
        return False
    system, process, start = found[1], int(found[2]), int(found[3])
    if system == _system():
        return _start_of(process) != start
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > STRANGERS_AGE


def remove(path):
    """Remove a file or a folder as far as the system allows, and say nothing.

    Parameters
    ----------
    path : str
        What is to go.

    """
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def sweep(folder):
    """Remove what processes that are no more left in a folder.

    Parameters
    ----------
    folder : str
        The folder.

    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            with contextlib.suppress(OSError):
                if _is_left(entry):
                    remove(entry.path)


def sweep_once(folder):
    """Sweep a folder when this process first writes there: looking each time would cost more than writing.

    Parameters
    ----------
    folder : str
        The folder.

    """
    key = os.getpid(), folder
    if key not in _swept:
        if len(_swept) >= MOST_SWEPT:
            _swept.clear()
        _swept.add(key)
        sweep(folder)


def name_beside(target):
    """Return a name beside a place that tells whose it is.

    Parameters
    ----------
    target : str
        The place.

    Returns
    -------
    str
        A path in the same folder that nobody else takes.

    """
    folder, name = os.path.split(target)
    process = os.getpid()
    short = os.fsdecode(os.fsencode(name)[:LONGEST_NAME])
    return os.path.join(folder, f".{short}.{_system()}-{process}-{_start_of(process) or 0}-{next(_numbers)}.part")
