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
MOST_FOLDERS = 1000
SMALL = 1024  # names in a folder that are looked through at each save; of larger ones, as many on average

_numbers = itertools.count()
_waiting = {}  # {(process, folder): saves there that need not sweep}


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


def _stat(process):
    """Return what the system tells of a process after its name, as a list; empty if it tells nothing."""
    words = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
    return words if len(words) > 19 else []


def _start_of(process):
    """Return when a process started, in the system's ticks; 0 if that is not told."""
    words = _stat(process)
    return int(words[19]) if words else 0


def _is_gone(process, start):
    """Return whether a process that started at a time is no more, be its number another's now."""
    words = _stat(process)
    if words:
        has_ended = words[0] in (b"Z", b"X") and int(words[17]) < 2  # nobody has asked how it ended
        return has_ended or int(words[19]) != start
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # another user's
        return False
    return process == 0  # which is no process, but this one's group


def _is_left(path):
    """Return whether a file or folder was left by a process that is no more."""
    found = LEFTOVER.fullmatch(os.path.basename(path))
    if not found:
        return False
    system, process, start = found[1], int(found[2]), int(found[3])
    if system == _system():
        return _is_gone(process, start)
    return time.time() - os.lstat(path).st_mtime > STRANGERS_AGE


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

    Returns
    -------
    int
        How many names it has.

    """
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    for path in (os.path.join(folder, name) for name in names if name.endswith(".part")):
        with contextlib.suppress(OSError):
            if _is_left(path):
                remove(path)
    return len(names)


def sweep_at_save(folder):
    """Sweep a folder that is written to; a huge one now and then, since looking would cost more than writing.

    Parameters
    ----------
    folder : str
        The folder.

    """
    key = os.getpid(), folder
    waiting = _waiting.get(key, 0)
    if waiting:
        _waiting[key] = waiting - 1
        return
    if len(_waiting) >= MOST_FOLDERS:
        _waiting.clear()
    _waiting[key] = sweep(folder) // SMALL


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
    return os.path.join(folder, f".{short}.{_system()}-{process}-{_start_of(process)}-{next(_numbers)}.part")
