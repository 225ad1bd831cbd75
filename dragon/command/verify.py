"""`dragon verify`: a script on the genuine framework and on Dragon, and the first line and tensor where they part."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from dragon.command import compare, outcome, program, sway
from dragon.command.parser import Mistake, add_json, number
from dragon.command.tracing import source
from dragon.vm.alias import VARIABLE

EXAMPLES = (
    ("dragon verify train.py", "both runs, compared line by line"),
    ("dragon verify --lines 5000 train.py --epochs 3", "the first 5000 lines that are run, of a program with words of "
                                                       "its own"),
    ("dragon verify --rtol 1e-3 --json train.py", "wider tolerances, and a report for programs"),
)
WORDS = {"usage": "dragon verify [options] script.py [arguments ...]",
         "description": "Run a script under the genuine framework and under Dragon, one after the other, from the same "
                        "seed, and tell the first\nline and tensor where they part. The genuine framework has to be "
                        "installed beside Dragon."}
GUESTS = ("torch", "torchvision", "tensorflow", "keras")


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("--seed", type=number(), default=0, help="what both sides start from (default 0)")
    parser.add_argument("--rtol", type=number(kind=float), help="relative tolerance; by dtype unless it is said "
                                                                "(1.3e-4 for float32)")
    parser.add_argument("--atol", type=number(kind=float), help="absolute tolerance; by dtype unless it is said")
    parser.add_argument("--lines", type=number(1), default=0, metavar="N", help="end both programs after N lines")
    parser.add_argument("--timeout", type=number(1, float), default=0.0, metavar="SECONDS",
                        help="end each program after so long")
    parser.add_argument("--thorough", action="store_true", help="look at every line each time it runs; otherwise one "
                                                                "that runs very often is looked at now and then")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the Python where the genuine "
                                                                                    "framework is installed")
    add_json(parser)
    parser.add_argument("script", metavar="script.py", help="the program")
    parser.add_argument("arguments", nargs="...", help="the program's own words")


def main(options):
    """Run both, compare, and tell."""
    os.environ.pop(VARIABLE, None)  # which would have Dragon's guests on the genuine side, too
    with open(options.script, "rb") as file:  # says what is wrong with the file itself
        try:
            compile(file.read(), options.script, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise Mistake(f"got {options.script!r}, expected a Python program: {error}") from None
    files = program.list_files(os.path.realpath(options.script))
    guests = [name for name in program.list_roots(files) if name in GUESTS]
    if not guests:
        raise Mistake(f"got {options.script!r}, expected a program that imports one of {', '.join(GUESTS)}")
    check_genuine(options.python, guests)
    with tempfile.TemporaryDirectory(prefix="dragon-verify-") as folder:
        report = verify(options, folder, guests)
    report["notes"] += [] if any(source.read(path).sets_seed for path in files) else [
        f"the program sets no seed: both sides started from {options.seed}"]
    print(json.dumps(report, indent=2) if options.json else outcome.as_text(report))
    return 0 if report["verdict"] == "equal" else 1


def check_genuine(python, guests):
    """Raise a letter where the genuine framework cannot be imported."""
    from dragon.vm.alias import MARK, VERSIONS
    question = ("import importlib.util, os, sys\nfor name in sys.argv[2:]:\n"
                "    spec = importlib.util.find_spec(name)\n"
                "    print(name, spec is not None and spec.origin is not None and not os.path.exists("
                "os.path.join(os.path.dirname(spec.origin), sys.argv[1])))")
    try:
        done = subprocess.run([python, "-c", question, MARK, *guests, "numpy"], capture_output=True, text=True, cwd="/")
    except OSError as error:
        raise Mistake(f"got --python {python}, expected a Python that starts: {error.strerror}") from None
    answers = dict(line.split() for line in done.stdout.splitlines())
    absent = [name for name in (*guests, "numpy") if answers.get(name) != "True"]
    if absent:
        packages = " ".join(f"{name}=={VERSIONS[name]}" if name in VERSIONS else name for name in absent)
        raise Mistake(f"got no genuine {' and no '.join(absent)} in {python}, expected it to be installed there: "
                      f"{python} -m pip install {packages}; or name a Python that has it by --python")


class Side:
    """One of the two runs.

    Parameters
    ----------
    name : str
        "genuine" or "dragon".
    options : argparse.Namespace
        The command's.
    folder : str
        Where its files go.

    """

    def __init__(self, name, options, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        os.mkdir(self.folder)
        self.events = os.path.join(self.folder, "events")
        open(self.events, "wb").close()
        self.usage, self.cut, self.was_ended = None, "", False
        words = {"side": name, "seed": options.seed, "lines": options.lines, "thorough": options.thorough,
                 "events": self.events}
        python = sys.executable if name == "dragon" else options.python
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        environment.setdefault("MPLBACKEND", "Agg")
        environment.update(sway.OTHER_ORDER if name == "swayed" else {})
        self.deadline = time.monotonic() + options.timeout if options.timeout else None
        with open(self.path("stdout"), "wb") as stdout, open(self.path("stderr"), "wb") as stderr:
            # A session of its own, so that workers end with it.
            self.process = subprocess.Popen(
                [python, "-c", START, json.dumps(words), options.script, *options.arguments], stdin=subprocess.DEVNULL,
                stdout=stdout, stderr=stderr, env=environment, start_new_session=True)

    def path(self, name):
        """Return the path of a file of this side."""
        return os.path.join(self.folder, name)

    def is_running(self):
        """Return whether the program runs; end it if its time is over."""
        if self.usage is not None:
            return False
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode, self.usage = os.waitstatus_to_exitcode(status), usage
            return False
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.cut = "its time was over"
            self.end()
            return False
        return True

    def end(self):
        """End the program and its workers."""
        if self.usage is None:
            self.was_ended = True
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            _, status, self.usage = os.wait4(self.process.pid, 0)
            self.process.returncode = os.waitstatus_to_exitcode(status)

    def wait(self):
        """Wait until the program has ended."""
        while self.is_running():
            time.sleep(0.01)

    def read(self, name):
        """Return what the program printed."""
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def tell(self, said):
        """Return time, memory and end of this side, for the report."""
        told = {"peak memory": self.usage.ru_maxrss * 1024 if self.usage else None, "seconds": None, **(said or {})}
        if self.cut:
            told["cut"] = self.cut
        elif said is None and not self.was_ended:
            told["error"] = {"type": f"status {self.process.returncode}", "place": None, "kinds": ["death"],
                             "message": (self.read("stderr").strip().splitlines() or ["no word"])[-1]}
        return told


def verify(options, folder, guests):
    """Run the script on both sides and return the report."""
    sides = []
    try:
        before = list_entries()
        sides.append(Side("genuine", options, folder))
        sides[0].wait()
        left = [name for name, when in list_entries().items() if before.get(name) != when]
        sides.append(Side("dragon", options, folder))
        comparison, part = compare_sides(options, guests, sides)
        known = None
        if part and may_be_rounding(part, comparison) and options.rtol is None and options.atol is None:
            sides[1].wait()  # alone, so that its time is its own
            sides.append(Side("swayed", options, folder))
            known = sway.Sway(sway.Recorder(*(open_stream(side) for side in sides[::2]), "torch" not in guests))
            comparison, part = compare_sides(options, guests, sides, known)
        for side in sides:
            side.end() if part else side.wait()
        report = outcome.make(options, comparison, part, sides, known)
        if left and (part or known):
            names = ", ".join(left[:5]) + (" and more" if left[5:] else "")
            report["notes"].append(f"the genuine run wrote {names} here, and later runs found that: a program that "
                                   "goes on from such files starts elsewhere")
        return report
    finally:
        for side in sides:
            side.end()


def list_entries():
    """Return {name: when it was last written} of what lies in the working folder."""
    with os.scandir() as entries:
        return {entry.name: entry.stat(follow_symlinks=False).st_mtime_ns for entry in entries}


def compare_sides(options, guests, sides, known=None):
    """Compare what the two sides have written; return the comparison, and where they part, or None."""
    comparison = compare.Comparison(*map(open_stream, sides[:2]), compare.tolerances(options.rtol, options.atol),
                                    "torch" not in guests, known)
    try:
        comparison.run()
    except compare.Part as found:
        return comparison, found.report
    return comparison, None


def open_stream(side):
    """Return the events of a side, from the first."""
    return compare.Stream(side.events, side.is_running)


def may_be_rounding(part, comparison):
    """Return whether rounding that has grown may be why the sides part: numbers differ, or did so before."""
    if part["why"] == "value":
        return part["what"] in ("elements", "value") and bool(comparison.worst or "difference" in part)
    return part["why"] in ("flow", "end", "absent") and bool(comparison.worst)


ROOM = os.path.dirname(os.path.abspath(__file__))
# On the genuine side the package `dragon` stays unread, and nothing beside it is found there.
START = f"""import runpy
unread = runpy.run_path({os.path.join(ROOM, "unread.py")!r})
unread["close"]({os.path.join(os.path.dirname(ROOM), "__init__.py")!r})
from dragon.command.tracing import main
main()"""
