"""Have many threads call the same functions at the same time; each result must be one thread's alone.

    python tests/fuzz/threads.py --calls 1000000 --threads 8 --seed 0 --only torch.compile

Threads change as often as Python lets them; with `--yields`, also between two lines of Dragon's own code.
"""
import argparse
import faulthandler
import json
import random
import sys
import threading
import time
import traceback
import warnings

import numpy

import thread_programs

TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}
INDICES = 24  # different calls of a program
STALLED = 60.0  # seconds without a call that ends: the threads wait for each other
SHOWN = 5


def answers(program):
    """Return {index: the results that a call may have}: of a function that is compiled later, and of graphs."""
    found = {}
    for index in range(INDICES):
        expected = []
        if program.plain is not None:
            expected.append(thread_programs.leaves(program.plain(index)))
        found[index] = expected
    for _ in range(1 if program.plain is None else 3):  # the first calls make graphs, later ones run them
        for index in range(INDICES):
            found[index].append(thread_programs.leaves(program.call(index)))
    return found


def same(program, one, other):
    """Return whether two results are the same: to the last bit, unless graphs may sum in another order."""
    if len(one) != len(other):
        return False
    for a, b in zip(one, other):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.tobytes() == b.tobytes():
            continue
        if program.exact or a.dtype.kind not in "fc" or not numpy.allclose(a, b, equal_nan=True, **TOLERANCE):
            return False
    return True


class Yields:
    """A trace function that lets other threads go on between lines of Dragon's code, now and then."""

    def __init__(self, seed, odds=40):
        self._random, self._odds = random.Random(seed), odds

    def __call__(self, frame, event, argument):
        return self._line if "dragon/core/capture" in frame.f_code.co_filename else None

    def _line(self, frame, event, argument):
        if self._random.randrange(self._odds) == 0:
            time.sleep(0)
        return self._line


class Hunt:
    """Threads that call one program after the other, all at the same time."""

    def __init__(self, threads, seed, interval=1e-6, yields=False):
        self.threads, self.seed, self.interval, self.yields = threads, seed, interval, yields
        self.calls, self.findings = 0, []
        self._lock = threading.Lock()

    def run(self, makers, calls):
        """Have each program called so often; `makers` give a fresh one and one to ask alone."""
        for fresh, alone in makers:
            try:
                expected = answers(alone)
            except Exception as error:
                self._note(alone, -1, f"alone: {type(error).__name__}: {error}", traceback.format_exc())
                continue
            self._run_one(fresh, expected, calls)

    def _run_one(self, program, expected, calls):
        before = sys.getswitchinterval()
        start = threading.Barrier(self.threads)
        workers = [threading.Thread(target=self._work, args=(program, expected, start, number, calls // self.threads),
                                    daemon=True) for number in range(self.threads)]
        sys.setswitchinterval(self.interval)
        try:
            for worker in workers:
                worker.start()
            known, since = -1, time.monotonic()
            while any(worker.is_alive() for worker in workers):
                for worker in workers:
                    worker.join(0.2)
                if self.calls != known:
                    known, since = self.calls, time.monotonic()
                elif time.monotonic() - since > STALLED:
                    faulthandler.dump_traceback(all_threads=True)
                    self._note(program, -1, "the threads wait for each other", "")
                    return
        finally:
            sys.setswitchinterval(before)

    def _work(self, program, expected, start, number, count):
        order = random.Random(f"{self.seed} {program.name} {number}")
        start.wait()
        if self.yields:
            sys.settrace(Yields(order.random()))
        try:
            for _ in range(count):
                self._call(program, expected, order.randrange(INDICES))
        finally:
            sys.settrace(None)

    def _call(self, program, expected, index):
        try:
            result = thread_programs.leaves(program.call(index))
        except Exception as error:
            self._note(program, index, f"{type(error).__name__}: {error}", traceback.format_exc())
        else:
            if not any(same(program, result, one) for one in expected[index]):
                shapes = [leaf.shape for leaf in result]
                self._note(program, index, f"another call's answer, or none: shapes {shapes}, expected "
                           f"{[leaf.shape for leaf in expected[index][0]]}", "")
        self.calls += 1

    def _note(self, program, index, what, trace):
        with self._lock:
            self.findings.append({"program": program.name, "index": index, "what": what, "trace": trace})


def pairs(only, limit=None):
    """Return (program, the same made anew) of all whose names contain a text."""
    return list(zip(thread_programs.all_programs(only), thread_programs.all_programs(only)))[:limit]


def main():
    """Run the hunt; end with 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--interval", type=float, default=1e-6, help="seconds between changes of threads")
    parser.add_argument("--yields", action="store_true", help="change threads between lines of the capture, too")
    parser.add_argument("--report", help="a file for findings, one a line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made = pairs(options.only)
    hunt = Hunt(options.threads, options.seed, options.interval, options.yields)
    begin = time.monotonic()
    for pair in made:
        before = len(hunt.findings)
        hunt.run([pair], max(options.calls // len(made), options.threads))
        new = hunt.findings[before:]
        if new:
            print(f"{pair[0].name}: {len(new)} of {options.calls // len(made)} calls", flush=True)
            for finding in new[:SHOWN]:
                print(f"    {finding['index']}: {finding['what'][:300]}")
    seconds = time.monotonic() - begin
    print(f"{hunt.calls} calls of {len(made)} programs by {options.threads} threads in {seconds:.0f} s: "
          f"{len(hunt.findings)} findings")
    if options.report:
        with open(options.report, "a") as file:
            file.writelines(json.dumps(finding) + "\n" for finding in hunt.findings)
    sys.exit(bool(hunt.findings))


if __name__ == "__main__":
    main()
