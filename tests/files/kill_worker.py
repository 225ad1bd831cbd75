"""Have writers killed and their disks full, in this process's children; each finding is a line of output.

    python kill_worker.py --kills 100 --seed 0 ["torch.save" ...]
"""
import argparse
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import writers  # noqa: E402  (the path must be set before)

LIMIT = 120.0  # seconds that a child may need on a busy machine
warnings.simplefilter("ignore")


def in_child(work):
    """Fork a child that works and ends; return its number."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        os._exit(1)
    os._exit(0)


def wait(child, seconds=LIMIT):
    """Return a child's status, or None if it was still there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.0005)
    return None


class Judge:
    """Writes, lets others write, and tells what is not as it was promised."""

    def __init__(self, name, folder, chance):
        self.name, self.folder, self.chance = name, folder, chance
        kind, self.write, self.read = writers.WRITERS[name]
        self.path, self.findings, self.number = os.path.join(folder, kind), [], 1
        self.write(self.path, self.number)
        start = time.monotonic()
        self.write(self.path, 2)
        self.seconds, self.number = time.monotonic() - start, 2

    def tell(self, what):
        """Note a finding."""
        self.findings.append(what)
        print(f"{self.name}: {what}", flush=True)

    def check(self, allowed, when):
        """Read, in a child for readers may crash too; the content must be one of those allowed."""
        def look():
            try:
                found = self.read(self.path)
            except BaseException as error:
                with open(report, "w") as file:
                    file.write(f"{type(error).__name__}: {error}\n" + traceback.format_exc()[-600:])
                raise
            with open(report, "w") as file:
                file.write(str(found))
        report = os.path.join(self.folder, "..", f"report{os.getpid()}")
        status = wait(in_child(look))
        text = pathlib.Path(report).read_text() if os.path.exists(report) else f"status {status}"
        if status != 0:
            self.tell(f"{when}, cannot be read: {text}")
            return None
        if int(text) not in allowed:
            self.tell(f"{when}, holds {text}, expected one of {sorted(allowed)}")
        return int(text)

    def kill(self):
        """Have a child write again and again, end it at some moment, and look."""
        first = self.number + 1

        def work():
            number = first
            while True:
                self.write(self.path, number % 100)
                number += 1
        child = in_child(work)
        time.sleep(self.chance.uniform(0, 2.5 * self.seconds + 0.002))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.check(set(range(100)), "after a kill")

    def fill(self, size):
        """Have a child write where files may not be longer than so many bytes, and look."""
        def work():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            self.write(self.path, 99)
        status = wait(in_child(work))
        if status is None:
            self.tell(f"did not end on a disk with {size} bytes")
        elif os.WIFSIGNALED(status):
            self.tell(f"ended by signal {os.WTERMSIG(status)} on a disk with {size} bytes")
        allowed = {99} if status == 0 else {self.number}
        self.check(allowed, f"after a disk with {size} bytes, where writing {'succeeded' if status == 0 else 'failed'}")
        if left := writers.leftovers(self.folder):
            self.tell(f"left {left} on a full disk")

    def renew(self):
        """Write once more; all that was left by the dead must be gone."""
        self.number = 5
        status = wait(in_child(lambda: self.write(self.path, 5)))
        if status != 0:
            self.tell(f"cannot be written any more: status {status}")
        self.check({5}, "after a new writing")
        if left := writers.leftovers(self.folder):
            self.tell(f"left {left} after a new writing")


def small_disk(folder, size):
    """Mount a disk of so many bytes; return whether that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


def fill_disk(name, chance):
    """Write onto a disk that other files have filled up to some point."""
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "disk")
        os.mkdir(folder)
        if not small_disk(folder, 1 << 21):
            return []
        try:
            judge = Judge(name, folder, chance)
            room = os.statvfs(folder)
            with open(os.path.join(folder, "ballast"), "wb") as file:
                file.write(b"x" * max(0, room.f_bavail * room.f_bsize - chance.choice((0, 4096, 60000, 150000))))
            status = wait(in_child(lambda: judge.write(judge.path, 99)))
            if status is None or os.WIFSIGNALED(status):
                judge.tell(f"ended with {status} on a full disk")
            judge.check({99} if status == 0 else {2}, "after a full disk")
            if left := writers.leftovers(folder):
                judge.tell(f"left {left} on a full disk")
        finally:
            subprocess.run(["umount", "-l", folder])
    return judge.findings


def main():
    """Walk the writers named on the command line, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mounted", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    troubles = 0
    for name in options.names or writers.WRITERS:
        chance = random.Random(f"{name} {options.seed}")
        with tempfile.TemporaryDirectory() as above:
            folder = os.path.join(above, "files")
            os.mkdir(folder)
            judge = Judge(name, folder, chance)
            for turn in range(options.kills):
                judge.kill()
            judge.renew()
            for turn in range(max(2, options.kills // 4)):
                judge.fill(chance.choice((0, 1, 100, 5000, 40000, 100000, 150000)) + chance.randrange(1000))
                judge.renew()
        troubles += len(judge.findings)
        for turn in range(options.kills // 4 if options.mounted else 0):
            troubles += len(fill_disk(name, chance))
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
