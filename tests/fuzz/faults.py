"""Put faults into the sources, one by one, and see whether the tests catch each.

    python tests/fuzz/faults.py --list
    python tests/fuzz/faults.py --report faults.jsonl
    python tests/fuzz/faults.py --only 'softmax|clip' --seconds 300

The faults stand in `fault_table.py`. All is done in a scratch tree, a worktree of git's at the last commit with what is
compiled of it (`build/faults/tree`); the checkout is only read. A fault of C++ costs its unit and a link, one of Python
nothing. The tests that caught one run again without it, where they must pass. Ends with 1 unless all were caught.
"""
import argparse
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACE = ROOT / "build" / "faults"
BUILD_LIMIT = 3600  # seconds; from nothing it compiles everything
NOTHING_COLLECTED, WRONG_USAGE = 5, 4  # what pytest ends with


@dataclasses.dataclass(frozen=True)
class Fault:
    """What is changed in which file, and who is to notice.

    Parameters
    ----------
    name : str
        How it is asked for.
    file : str
        The file, seen from the root.
    old : str
        A text that occurs in it once.
    new : str
        What stands there instead.
    tests : str
        Arguments of pytest: paths, and `-k` with its pattern.
    why : str
        Which mistake it stands for, and what of it is hard to see.

    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    why: str

    @property
    def compiled(self):
        """Whether something has to be built."""
        return not self.file.endswith(".py")

    @property
    def arguments(self):
        """Return the arguments of pytest as a list."""
        paths, _, pattern = self.tests.partition(" -k ")
        return paths.split() + (["-k", pattern] if pattern else [])

    @property
    def paths(self):
        """Return the files and folders of tests."""
        return [argument for argument in self.tests.partition(" -k ")[0].split() if not argument.startswith("-")]

    @property
    def mark(self):
        """Return what tells this entry from an earlier one of its name."""
        return hashlib.sha256(repr(dataclasses.astuple(self)).encode()).hexdigest()[:16]


class Stale(Exception):
    """The table does not fit the sources."""


def changed(fault, text):
    """Return the text of a file with a fault in it."""
    count = text.count(fault.old)
    if count != 1:
        raise Stale(f"{fault.name}: its old text occurs {count} times in {fault.file}, expected once; the table must "
                    "follow the sources")
    return text.replace(fault.old, fault.new)


class Tree:
    """The scratch tree: the sources of a commit, and what is compiled of them."""

    def __init__(self, place=PLACE / "tree"):
        self.place = place
        # Where checkouts have it: with paths that are alike, ccache knows what was compiled in those.
        self.environment_place = place / ".venv"
        self.level = None
        self.environment = dict(os.environ, PYTHONPATH=str(place), OMP_NUM_THREADS="1", TF_CPP_MIN_LOG_LEVEL="3",
                                CCACHE_BASEDIR=str(place), CCACHE_NOHASHDIR="1")

    def reset(self):
        """Make the tree, or bring it back to what the checkout has committed, whatever an earlier run has left."""
        commit = git(ROOT, "rev-parse", "HEAD")
        if not (self.place / ".git").exists():
            git(ROOT, "worktree", "prune")
            git(ROOT, "worktree", "add", "--force", "--detach", str(self.place), commit)
        # A worktree whose .git is damaged would be taken for a folder of the checkout, and that be reset.
        if pathlib.Path(git(self.place, "rev-parse", "--show-toplevel")) != self.place:
            raise SystemExit(f"{self.place} is no worktree; remove it")
        git(self.place, "checkout", "--quiet", "--force", "--detach", commit)
        git(self.place, "clean", "-fdq")  # what is compiled is ignored, and stays
        if not self.environment_place.is_symlink():
            self.environment_place.symlink_to(sys.prefix)
        return commit

    def configure(self):
        """Choose the one level of this machine."""
        scripts = self.environment_place / "bin"
        self.level = subprocess.run(["sh", "tools/cpu_level.sh"], cwd=self.place, capture_output=True, text=True,
                                    check=True).stdout.strip()
        self.call([str(scripts / "cmake"), "-S", ".", "-B", "build/here", "-G", "Ninja",
                   f"-DDRAGON_CPU_LEVELS={self.level}", f"-DCMAKE_MAKE_PROGRAM={scripts / 'ninja'}",
                   f"-DPython_EXECUTABLE={scripts / 'python'}"], check=True)

    def build(self):
        """Compile what has changed, in one job; return whether it could be, and the last words."""
        # All but the stubs for editors, which take a minute and are nobody's business here.
        code, words = self.call([str(self.environment_place / "bin" / "cmake"), "--build", "build/here", "--parallel",
                                 "1", "--target", "_C", "dragon_run", "dragon_fake", "dragon_cpu",
                                 f"dragon_cpu_{self.level}"])
        return code == 0, words

    def call(self, words, check=False):
        """Run a command in the tree, at low priority."""
        code, text = bounded(["nice", "-n", "10", *words], BUILD_LIMIT, cwd=self.place, env=self.environment)
        if check and code:
            raise SystemExit(f"{' '.join(words)} ended with {code}:\n{text[-3000:]}")
        return code, text

    def pytest(self, arguments, seconds, first=True):
        """Run tests of the tree; return (exit status or None, what was told, last words)."""
        told = PLACE / "told.jsonl"
        told.unlink(missing_ok=True)
        words = ["nice", "-n", "10", sys.executable, __file__, "--child", str(told), "--", "-q", "-p",
                 "no:cacheprovider", "--rootdir", str(self.place), "-c", str(self.place / "pyproject.toml"),
                 *(["-x"] if first else []), *arguments]
        code, text = bounded(words, seconds, cwd=self.place, env=self.environment)
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
        return code, [json.loads(line) for line in lines], text


def git(place, *words):
    """Return what git says."""
    done = subprocess.run(["git", "-C", str(place), *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def bounded(words, seconds, **more):
    """Run a command, and end it and its children after some time; return (exit status or None, output)."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          start_new_session=True, **more) as process:
        try:
            text, _ = process.communicate(timeout=seconds)
            return process.returncode, text
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return None, text


def spent():
    """Return the processor seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- within the process of the tests

class Teller:
    """Writes down which test runs and which failed, since one that crashes leaves no summary."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", buffering=1)

    def tell(self, **what):
        """Write a line."""
        print(json.dumps(what), file=self.file)

    def pytest_runtest_logstart(self, nodeid, location):
        """Tell which test begins."""
        self.tell(began=nodeid)

    def pytest_runtest_logreport(self, report):
        """Tell what became of it."""
        if report.failed:
            self.tell(failed=report.nodeid, words=str(report.longrepr)[-1500:])
        elif report.passed and report.when == "call":
            self.tell(passed=report.nodeid)

    def pytest_collectreport(self, report):
        """Tell of files that cannot be read."""
        if report.failed:
            self.tell(failed=report.nodeid, words=str(report.longrepr)[-1500:])


def child(path, arguments):
    """Run pytest as if by its own name, and tell what happens."""
    import pytest
    sys.path.pop(0)  # the folder of this file, whose modules are called as others are
    return pytest.main(arguments, plugins=[Teller(path)])


# --- judging

def judge(code, told, text):
    """Return {"outcome": caught, missed, late or error, "test": who caught it, "words": the end of the story}."""
    failed = [line for line in told if "failed" in line]
    passed = sum("passed" in line for line in told)
    began = next((line["began"] for line in reversed(told) if "began" in line), None)
    if code is None:
        return {"outcome": "late", "test": began, "words": "the time was over"}
    if failed:
        return {"outcome": "caught", "test": failed[0]["failed"], "words": failed[0]["words"], "passed": passed}
    if code < 0 or code > 128:
        return {"outcome": "caught", "test": began, "words": f"the process ended with {code}", "passed": passed}
    if code == 0 and passed:
        return {"outcome": "missed", "test": None, "words": text[-300:], "passed": passed}
    return {"outcome": "error", "test": None, "words": f"pytest ended with {code}, no test ran: {text[-1500:]}"}


def hunt(tree, fault, seconds):
    """Put one fault in, run its tests, and take it out again."""
    path, before = tree.place / fault.file, spent()
    text = path.read_text(encoding="utf-8")
    path.write_text(changed(fault, text), encoding="utf-8")
    try:
        if fault.compiled:
            done, words = tree.build()
            if not done:
                return {"outcome": "error", "test": None, "words": f"it does not compile: {words[-2500:]}"}
        built = spent()
        found = judge(*tree.pytest(fault.arguments, seconds))
        return {**found, "build_seconds": round(built - before, 1), "test_seconds": round(spent() - built, 1)}
    finally:
        path.write_text(text, encoding="utf-8")  # it is compiled anew together with the next fault


def confirm(tree, entries, seconds):
    """Run what has caught faults without them: whatever fails is no witness."""
    code, told, text = tree.pytest([entry["test"] for entry in entries], seconds, first=False)
    failed = {line["failed"]: line["words"] for line in told if "failed" in line}
    passed = {line["passed"] for line in told if "passed" in line}
    for entry in entries:
        test = entry["test"]
        # A file that could not be read has no test of its own: it is one if any of its tests began.
        entry["confirmed"] = test not in failed and any(one == test or one.startswith(test + "::") for one in passed)
        if not entry["confirmed"]:
            entry["outcome"], entry["words"] = "error", "its test does not pass without the fault: " + failed.get(
                test, f"{code}: {text[-500:]}")


# --- the report

def read_report(path):
    """Return {name: the last line about a fault}."""
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {line["name"]: line for line in lines}


def write_report(path, entries):
    """Write all lines anew, as a whole or not at all."""
    if path is not None:
        fresh = path.with_suffix(path.suffix + ".new")
        fresh.write_text("".join(json.dumps(entry) + "\n" for entry in entries.values()), encoding="utf-8")
        fresh.replace(path)


def tell(entry):
    """Print a line about a fault."""
    seconds = f"{entry.get('build_seconds', 0):.0f} + {entry.get('test_seconds', 0):.0f} s"
    print(f"{entry['outcome']:7} {entry['name']} ({seconds}) {entry['test'] or ''}", flush=True)
    if entry["outcome"] != "caught":
        print("        " + entry["words"].strip().replace("\n", "\n        "), flush=True)


def hunt_all(faults, options):
    """Hunt for what is not decided yet; return {name: entry}."""
    PLACE.mkdir(parents=True, exist_ok=True)
    lock = open(PLACE / "lock", "w", encoding="utf-8")  # until the process ends, however it does
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit(f"another run works in {PLACE}") from None
    tree = Tree()
    commit = tree.reset()
    if dirty := git(ROOT, "status", "--porcelain", "--untracked-files=no"):
        print(f"not committed, and so not hunted in:\n{dirty}", flush=True)
    known = read_report(options.report)
    entries = {fault.name: known[fault.name] for fault in faults
               if fault.name in known and known[fault.name]["mark"] == fault.mark
               and known[fault.name]["outcome"] == "caught" and (options.keep or known[fault.name]["commit"] == commit)}
    todo = [fault for fault in faults if fault.name not in entries]
    if todo:
        tree.configure()
        done, words = tree.build()
        if not done:
            raise SystemExit(f"the sources do not compile:\n{words[-3000:]}")
    for fault in sorted(todo, key=lambda fault: fault.compiled):  # those that need no building first
        try:
            found = hunt(tree, fault, options.seconds)
        except Stale as error:
            found = {"outcome": "error", "test": None, "words": str(error)}
        entries[fault.name] = {"name": fault.name, "mark": fault.mark, "commit": commit, **found}
        tell(entries[fault.name])
        write_report(options.report, known | entries)
    if fresh := [entry for entry in entries.values() if entry["outcome"] == "caught" and not entry.get("confirmed")]:
        tree.reset()
        tree.build()
        confirm(tree, fresh, options.seconds * 2)
        write_report(options.report, known | entries)
    return entries


def main():
    """Hunt for the faults of the command line."""
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2], sys.argv[4:]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="a pattern of faults")
    parser.add_argument("--list", action="store_true", help="the faults, and who is to catch them")
    parser.add_argument("--report", type=pathlib.Path, help="a file that says what came out, and where to go on")
    parser.add_argument("--keep", action="store_true", help="what was caught at an earlier commit is not tried again")
    parser.add_argument("--seconds", type=float, default=900, help="of the tests of one fault")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through `finally`: what was started is ended
    from fault_table import FAULTS
    chosen = [fault for fault in FAULTS if re.search(options.only or "", fault.name)]
    if options.list:
        for fault in chosen:
            print(f"{fault.name}: {fault.file}\n    {fault.why}\n    pytest {fault.tests}")
        return
    entries = hunt_all(chosen, options)
    wrong = [entry for entry in entries.values() if entry["outcome"] != "caught"]
    print(f"{len(entries) - len(wrong)} of {len(entries)} faults caught")
    for entry in wrong:
        tell(entry)
    sys.exit(bool(wrong or not entries))


if __name__ == "__main__":
    main()
