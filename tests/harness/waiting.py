"""Waiting for what another thread or process does: as long as a busy machine may need, and no longer than it takes."""
import time

PATIENCE_SECONDS = 240  # only what never happens takes as long


def wait_for(condition):
    """Return whether a condition came true; asks it again and again until it does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_gone(pid):
    """Return whether a process has ended; one that nobody reaps has, too."""
    try:
        with open(f"/proc/{pid}/stat") as status:
            return ") Z " in status.read()
    except (FileNotFoundError, ProcessLookupError):  # before it is opened, or before it is read
        return True
