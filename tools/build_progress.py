"""Runs a command that compiles Dragon and tells how long it will take and how far it is, instead of all that it says.

    python tools/build_progress.py .venv/bin/python -m pip install -v .

What the command said is printed where it fails. With `VERBOSE=1` in the environment everything is printed as it comes.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import time

# Seconds of processor time of a file in parts of a build: one machine, `make demo` from nothing.
# Another machine has other seconds and much the same shares.
SECONDS = {"level": 3.0, "v2": 1.5, "bindings": 6.0, "engine": 3.5}
STEP = re.compile(r"\[(\d+)/(\d+)\] (Building CXX object )?(\S+)")
KEPT = 200  # lines that are shown of a command that fails
EVERY = 20  # seconds between two lines where no terminal rewrites one


def weigh(path):
    """Return about how many seconds of a processor a compiled file takes."""
    if not path.endswith(".o"):
        return 0.5
    level = re.search(r"dragon_cpu_(\w+)\.dir", path)
    if level:
        return SECONDS["v2" if level[1] == "v2" else "level"]
    return SECONDS["bindings" if "_C.dir" in path else "engine"]


def list_objects(folder):
    """Return the objects that a package is made of, or none where the plan of its build is not there."""
    try:
        with open(os.path.join(folder, "build.ninja"), encoding="utf-8") as file:
            return [line.split()[1].rstrip(":") for line in file if line.startswith("build ") and
                    re.match(r"build core/\S+\.(o|gch): CXX_COMPILER", line)]
    except OSError:
        return []


def newest_tree(pattern="build-*"):
    """Return the build tree that was configured last, or None."""
    plans = glob.glob(os.path.join(pattern, "build.ninja"))
    return os.path.dirname(max(plans, key=os.path.getmtime)) if plans else None


class Progress:
    """Reads a build's steps, and says how far it is.

    Parameters
    ----------
    jobs : int
        How many compilers run at the same time.
    show : Callable[[str], None]
        Takes a line to show.

    """

    def __init__(self, jobs, show):
        self.jobs, self.show = jobs, show
        self.total = self.done = 0.0
        self.count, self.begin, self.shown = 0, None, None

    def read(self, line):
        """Take a line that the build said; return whether it is one of its steps."""
        step = STEP.search(line)
        if step is None:
            return False
        number, count, path = int(step[1]), int(step[2]), step[4]
        now = time.monotonic()
        if self.begin is None:
            if not step[3]:  # it looks for files that came or went
                return True
            self.begin = self.shown = now
            self.start(count)
        self.done += weigh(path)
        self.count = count
        if now - self.shown >= (0.5 if sys.stdout.isatty() else EVERY):
            self.shown = now
            self.tell(number, count, now - self.begin)
        return True

    def finish(self):
        """Say what it took, if anything was compiled."""
        if self.begin is not None:
            self.show(f"dragon: {self.count} files in {words(time.monotonic() - self.begin)}")

    def start(self, count):
        """Estimate a build of so many steps; of one that goes on where it was, what is left is of average weight."""
        tree = newest_tree()
        weights = [weigh(path) for path in list_objects(tree)] if tree else []
        weights = weights or [SECONDS["engine"]]
        self.total = sum(weights) * min(1.0, count / len(weights))
        self.show(f"dragon: compiling {count} files with {self.jobs} at a time: about {words(self.total / self.jobs)}, "
                  "less where a compiler cache has them")

    def tell(self, number, count, seconds):
        """Show how far it is; the time left is measured on what was done."""
        share = min(1.0, max(self.done / self.total, 1e-6))
        left = "" if share < 0.05 else f", {words(seconds / share - seconds)} left"
        self.show(f"dragon: {number} of {count} files{left}")


def words(seconds):
    """Return a time as a person says it."""
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{max(seconds, 1):.0f} seconds"


def run(command):
    """Run a command; return its exit status."""
    terminal = sys.stdout.isatty()

    def show(text):
        print(f"\r\x1b[K{text}" if terminal else text, end="" if terminal else "\n", flush=True)

    jobs = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)
    progress, kept = Progress(jobs, show), collections.deque(maxlen=KEPT)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        for line in child.stdout:
            if os.environ.get("VERBOSE"):
                print(line, end="", flush=True)
            elif not progress.read(line):
                kept.append(line)
        status = child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise
    if status == 0:
        progress.finish()
    if terminal and progress.begin is not None:
        print()
    if status and not os.environ.get("VERBOSE"):
        print("".join(kept), end="", file=sys.stderr)
    return status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
