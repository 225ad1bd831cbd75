"""Raise an exception at every moment of small programs at which Python runs signal handlers, and look at what is left.

    python tests/fuzz/interrupts.py --most 400 --timers 60 --seed 0 capture backward

Python runs signal handlers where a function begins, at jumps backwards and after calls of C functions, and pending
calls at the same places. A pending call that asks for itself again counts them and raises at the n-th: n = 1, 2, 3, ...
After each: what came out is what was raised, nothing of the process's or the thread's state is left changed, and the
program's next run, here and in another thread, gives the same bits.
"""
import argparse
import collections
import ctypes
import gc
import hashlib
import json
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))

PERIOD = 32  # pending calls that Python makes at one such moment, as long as there are more
PATIENCE = 20  # seconds for a run in another thread
OTHER_THREAD = 8  # every how manieth run is made there as well
_is_true = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)
_add = ctypes.pythonapi.Py_AddPendingCall
_add.argtypes = (ctypes.c_void_p, ctypes.py_object)


class Stop(BaseException):
    """What a handler of one's own raises."""


class Late(Exception):
    """What a timeout's handler raises, which `except Exception` takes."""


KINDS = (KeyboardInterrupt, Stop, Late)


class Imports:
    """Notes what Python looks for on disk: an interrupt in its machinery of imports may leave a lock taken."""

    def __init__(self):
        self.names = []

    def find_spec(self, name, path=None, target=None):
        """Note a name, and leave it to others."""
        self.names.append(name)


class Moments:
    """Counts the moments at which signal handlers would run; raises an exception at one of them."""

    def __init__(self, target=None, error=None):
        self._target, self._error, self._calls, self._runs = target, error, 0, False
        self.place = None  # where it was raised

    count = property(lambda self: (self._calls + PERIOD - 1) // PERIOD)

    def __bool__(self):
        if not self._runs:
            return False
        if sys.getprofile() is not None:  # before an event of a profile, Python 3.11 waits until no call is pending
            self._runs = False
            return False
        self._calls += 1
        if self._target is not None and self._calls == (self._target - 1) * PERIOD + 1:
            self._runs = False
            self.place = _place(sys._getframe(1))
            raise self._error
        _add(_is_true, self)
        return False

    def start(self):
        """Count from now on."""
        self._runs = True
        _add(_is_true, self)

    def stop(self):
        """Count no more."""
        self._runs = False


def _place(frame):
    """Return the innermost lines of a stack."""
    lines = []
    while frame is not None and len(lines) < 6:
        lines.append(f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return lines


# --- what must be as it was

_IGNORED = {"end", "known", "ids", "uids", "prefixes", "counters", "default_session", "name_counts"}


def _told(value, depth=1):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, set)):
        return (type(value).__name__, len(value), *(_told(item, depth - 1) for item in value if depth))
    if isinstance(value, dict):
        return "dict", len(value)
    return type(value).__name__


def _modules():
    return [(name, vars(module)) for name, module in list(sys.modules.items())
            if name.startswith("dragon") and type(module).__name__ != "_Lazy" and hasattr(module, "__dict__")]


def state():
    """Return {name: value} of what an interrupted program must leave as it found it."""
    from dragon import _C
    from dragon.core.capture import captured_print, regions, suppress_output
    found = {f"thread.{name}": value for name, value in _C.thread_state().items()}
    for name, fields in _modules():
        for key, value in list(fields.items()):
            if isinstance(value, threading.local):
                for field, held in list(vars(value).items()):
                    if field not in _IGNORED:
                        found[f"{name}.{key}.{field}"] = _told(held)
            elif isinstance(value, type(threading.Lock())):
                found[f"{name}.{key}"] = value.locked()
    found.update(suppressed=len(suppress_output._installed), printed=len(captured_print._installed),
                 plain_runs=len(regions.PLAIN_RUNS))
    found.update(stdout=id(sys.stdout), stderr=id(sys.stderr), handle=id(logging.Logger.handle), print=id(print),
                 profile=repr(sys.getprofile()), trace=repr(sys.gettrace()), gc=gc.isenabled(),
                 sigint=repr(signal.getsignal(signal.SIGINT)), folder=os.getcwd())
    found["threads"] = sorted(thread.name for thread in threading.enumerate() if not thread.daemon)
    found["children"] = _children()
    return found


def _children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return len(file.read().split())


def differences(before, after):
    """Return what differs, as text; what is new and empty does not."""
    found = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new or name not in before and (not new or new[1:] == (0,) if isinstance(new, tuple) else not new):
            continue
        if name in before and name not in after and not old:
            continue
        found.append(f"{name}: {old!r} -> {new!r}")
    return found


def digest(result):
    """Return a text of all bits of a result."""
    import numpy
    total = hashlib.sha256()

    def add(item):
        if isinstance(item, dict):
            for key in item:
                total.update(str(key).encode())
                add(item[key])
        elif isinstance(item, (list, tuple)):
            for one in item:
                add(one)
        elif hasattr(item, "detach") or hasattr(item, "numpy"):
            add(numpy.asarray((item.detach() if hasattr(item, "detach") else item).numpy()))
        elif isinstance(item, numpy.ndarray):
            total.update(f"{item.dtype}{item.shape}".encode() + item.tobytes())
        else:
            total.update(repr(item).encode())
    add(result)
    return total.hexdigest()


# --- one program

class Hunt:
    """All interrupts of one program, and what was found.

    Parameters
    ----------
    name : str
        Which program.
    make : Callable[[], Callable]
        Makes what is run; a program that may be run again after an interrupt has `reusable`.

    """

    def __init__(self, name, make):
        self.name, self.make = name, make
        self.reusable = getattr(make, "reusable", True)
        self.findings, self.counts, self.lost = [], collections.Counter(), []
        sys.unraisablehook = self._note_lost
        signal.signal(signal.SIGUSR2, Moments.__bool__)  # it stands for a handler, in whose name it raises
        for _ in range(2):  # imports, caches, threads
            self.expected = digest(make()())
        begin = time.perf_counter()
        run = make()
        self.again = digest(run()) and digest(run()) if self.reusable else self.expected
        self.seconds = (time.perf_counter() - begin) / 2
        self.attempts = 0

    def _note_lost(self, lost):
        self.lost.append((lost.exc_value, repr(lost.object)))

    def moments(self):
        """Return how many moments the program has."""
        run, moments, imports = self.make(), Moments(), Imports()
        sys.meta_path.insert(0, imports)
        moments.start()
        run()
        moments.stop()
        sys.meta_path.remove(imports)
        if imports.names:
            self.findings.append({"program": self.name, "what": "import", "text": ", ".join(imports.names)})
        return moments.count

    def walk(self, most, seed):
        """Interrupt the program at each of its moments, or at so many of them that are spread evenly."""
        count = self.moments()
        step = max(1, -(-count // most))
        first = 1 + random.Random(f"{seed}{self.name}").randrange(step)
        for number in range(first, count + 1, step):
            kind = KINDS[(number // step + seed) % len(KINDS)]
            self.attempt(kind, number)
        return count

    def attempt(self, kind, number=None, delay=None):
        """Interrupt one run at a moment, or by a timer, and look at what is left."""
        run, error = self.make(), kind("interrupt")
        before, self.lost = state(), []
        moments = Moments(number, error)
        came = place = None

        def handler(*_):
            moments.place = _place(sys._getframe(1))
            raise error
        former = signal.signal(signal.SIGALRM, handler)
        try:
            if number is not None:
                moments.start()
            else:
                signal.setitimer(signal.ITIMER_REAL, delay)
            run()
            signal.setitimer(signal.ITIMER_REAL, 0)
            moments.stop()
        except BaseException as problem:
            came = problem
        moments.stop()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        self.attempts += 1
        place = moments.place
        self._judge(kind, number, place, error, came, before, run)

    def _judge(self, kind, number, place, error, came, before, run):
        def find(what, text):
            self.counts[what] += 1
            self.findings.append({"program": self.name, "what": what, "kind": kind.__name__, "number": number,
                                  "text": text, "place": place})
        if place is None:
            self.counts["over before"] += 1
        elif came is None:
            lost = [where for value, where in self.lost if value is error]
            if lost:
                self.counts["in a finalizer"] += 1  # Python itself loses it
            else:
                find("lost", "no exception came out")
        elif type(came) is type(error) and came.__cause__ is error:
            self.counts["in a codec"] += 1  # Python itself raises it anew, with what was decoded in its words
        elif came is not error:
            find("replaced", "".join(traceback.format_exception(came))[-1500:])
        for problem in (came, error, *(value for value, _ in self.lost)):
            if problem is not None:
                problem.__traceback__ = None  # its frames hold iterators, which have processes
        changed = differences(before, state())
        if changed:
            find("state", "; ".join(changed))
        self._run_again(run, find)

    def _run_again(self, run, find):
        expected = {self.expected, self.again}

        def check(where):
            try:
                if digest((run if self.reusable else self.make())()) not in expected:
                    find("result", f"another result {where}")
            except BaseException as problem:
                find("next run", where + ": " + "".join(traceback.format_exception(problem))[-1500:])
        check("here")
        if self.attempts % OTHER_THREAD == 0:
            thread = threading.Thread(target=check, args=("in another thread",), daemon=True)
            thread.start()
            thread.join(PATIENCE)
            if thread.is_alive():
                find("hang", "the next run in another thread does not end")


def hunt(name, make, most, timers, seed):
    """Return a report of one program."""
    begun = time.perf_counter()
    one = Hunt(name, make)
    count = one.walk(most, seed) if most else 0
    chance = random.Random(f"{name}{seed}")
    for number in range(timers):
        one.attempt(KINDS[number % len(KINDS)], delay=max(1e-6, chance.random() * one.seconds * 1.1))
    return {"program": name, "moments": count, "interrupts": one.attempts, "counts": dict(one.counts),
            "findings": one.findings, "seconds": round(time.perf_counter() - begun, 1)}


# --- all programs, each in a process of its own

def run_child(name, options):
    """Return the report of one program, which may crash or hang."""
    command = [sys.executable, __file__, "--child", "--most", str(options.most), "--timers", str(options.timers),
               "--seed", str(options.seed), name]
    environment = dict(os.environ, OMP_NUM_THREADS="2", TF_CPP_MIN_LOG_LEVEL="3")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, env=environment)
    except subprocess.TimeoutExpired as error:
        tail = (error.stderr or b"")[-600:]
        return {"program": name, "interrupts": 0, "counts": {"hang": 1},
                "findings": [{"program": name, "what": "hang", "text": f"after {options.timeout} s {tail}"}]}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"program"')]
    if done.returncode or not lines:
        return {"program": name, "interrupts": 0, "counts": {"crash": 1}, "findings": [
            {"program": name, "what": "crash", "text": f"{done.returncode}: {done.stderr[-1500:]}"}]}
    return json.loads(lines[-1])


def main():
    """Hunt, and end with 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--most", type=int, default=400, help="moments of each program")
    parser.add_argument("--timers", type=int, default=60, help="interrupts of each program by a timer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--report", help="a file of findings, one a line")
    options = parser.parse_args()
    import interrupted_programs
    names = options.programs or list(interrupted_programs.PROGRAMS)
    if options.child:
        for name in names:
            name, _, most = name.partition("=")
            print(json.dumps(hunt(name, interrupted_programs.PROGRAMS[name], int(most or options.most), options.timers,
                                  options.seed)), file=sys.__stdout__, flush=True)
        return 0
    total, found = 0, 0
    for name in names:
        report = run_child(name, options)
        total, found = total + report["interrupts"], found + len(report["findings"])
        print(f"{name}: {report.get('moments', '?')} moments, {report['interrupts']} interrupts, "
              f"{report['counts']}, {report.get('seconds', '?')} s", flush=True)
        if options.report:
            with open(options.report, "a") as file:
                file.writelines(json.dumps(finding) + "\n" for finding in report["findings"])
    print(f"{total} interrupts, {found} findings")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
