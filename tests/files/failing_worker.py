"""Have calls of the system fail while writers write, in this process's children; each finding is a line of output.

    LD_PRELOAD=failing_calls.so python failing_worker.py --tries 10 --seed 0 ["torch.save" ...]
"""
import argparse
import ctypes
import errno
import mmap
import os
import random
import sys
import tempfile

from kill_worker import Judge, in_child, wait
import writers

FAULTS = ("SystemError", "NameError", "UnboundLocalError", "AssertionError", "MemoryError", "RecursionError")
system = ctypes.CDLL(None)
system.calls_counted.restype = ctypes.c_long


def write(judge, place, error, lasting):
    """Have a child write while a call fails; return its status, what it raised, and how many calls there were."""
    shared = mmap.mmap(-1, 4096)

    def work():
        below = os.path.realpath(judge.folder).encode()
        system.fail_at(below, ctypes.c_long(place), error, lasting)
        try:
            judge.write(judge.path, 99)
        except BaseException as raised:
            system.fail_at(None, ctypes.c_long(0), 0, 0)
            shared[8:4000] = f"{type(raised).__name__}: {raised}".encode()[:3900].ljust(3992)
            raise
        finally:
            shared[:8] = system.calls_counted().to_bytes(8, "little")
        system.fail_at(None, ctypes.c_long(0), 0, 0)
    status = wait(in_child(work))
    return status, shared[8:4000].rstrip(b"\0 ").decode(), int.from_bytes(shared[:8], "little")


def hunt(judge, tries):
    """Fail so many calls, of those that there are."""
    _, _, count = write(judge, 0, errno.EIO, 0)
    judge.renew()
    for _ in range(tries):
        place, lasting = judge.chance.randint(1, count), judge.chance.randrange(2)
        error = errno.ENOSPC if lasting else errno.EIO
        status, raised, _ = write(judge, place, error, lasting)
        when = f"where call {place} of {count} fails with {errno.errorcode[error]}{' and all after it' * lasting}"
        if status is None or os.WIFSIGNALED(status):
            judge.tell(f"{when}: ended with status {status}")
        if raised.split(":")[0] in FAULTS:
            judge.tell(f"{when}: {raised[:200]}")
        composed = judge.name in writers.COMPOSED  # it may be past the point where the new content counts
        judge.check({99} if status == 0 else {judge.number, 99} if composed else {judge.number}, when)
        left = [name for name in writers.leftovers(judge.folder) if not composed or name.endswith(".part")]
        if left:
            judge.tell(f"{when}: left {left}")
        judge.renew()


def main():
    """Walk the writers named on the command line, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    troubles = 0
    for name in options.names or writers.WRITERS:
        with tempfile.TemporaryDirectory() as above:
            folder = os.path.join(above, "files")
            os.mkdir(folder)
            judge = Judge(name, folder, random.Random(f"{name} {options.seed}"))
            hunt(judge, options.tries)
        troubles += len(judge.findings)
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
