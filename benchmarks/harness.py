"""How a figure comes about: every engine in its own process, in turns, the others stopped meanwhile.

A case is measured in rounds. In a round each engine gets one turn, the order rotates, and the processes of the other
engines are stopped, so that no spinning thread pool disturbs. A turn warms up, then takes samples of half a millisecond
or one call. A table shows the median over all turns, and ratios as the median of the ratios within a round.
"""
import collections
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
THREADS = 2

Case = collections.namedtuple("Case", "name make aim flops bytes ratio_to bf16", defaults=("", 0, 0, "torch", False))
Case.__doc__ = """One row of a table.

`make(e)` builds the inputs with engine `e` and returns the function to be timed. `flops` and `bytes` are the least work
a call must do; they give the machine's limit. `ratio_to` names what the aim speaks of: "torch" or "machine".
"""


class Worker:
    """The process of one engine; of the Dragon that was built in a checkout, if one is given."""

    def __init__(self, engine, priority, checkout=None):
        environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), DRAGON_NUM_THREADS=str(THREADS))
        if checkout:
            environment["PYTHONPATH"] = str(checkout.resolve())
        self.engine = engine
        self.process = subprocess.Popen(["nice", "-n", str(priority), sys.executable, HERE / "worker.py", engine],
                                        env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.stop()

    def stop(self):
        """Take the processor away from it."""
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, **question):
        """Wake the process, ask, wait for the answer, stop the process again."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.engine} ended, with status {self.process.wait()}")
        self.stop()
        return json.loads(line)

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()


def measure(case, group, workers, rounds, seconds):
    """Return, by worker, the "times" of a call and the page "faults" of each round; or an "error" in words."""
    results = [{"times": [], "faults": []} for worker in workers]
    for turn in range(rounds):
        pairs = list(zip(workers, results))
        for worker, result in pairs[turn % len(workers):] + pairs[:turn % len(workers)]:
            if "error" in result:
                continue
            answer = worker.ask(group=group, case=case.name, seconds=seconds)
            if "error" in answer:
                result["error"] = answer["error"]
                continue
            result["times"].append(answer["time"])
            result["faults"].append(answer["faults"])
    for worker in workers:
        worker.ask(forget=True)
    return results


def describe_processor():
    """Return the processor's name as Linux tells it."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def format_time(seconds):
    """Return a time with three digits and a unit."""
    for scale, unit in ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms")):
        if seconds < 999.5 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def find_limit(case, machine):
    """Return the seconds that the machine itself needs, or None for a case without known work."""
    if not (case.flops or case.bytes):
        return None
    return max(case.flops / machine["flops"], case.bytes / machine["bandwidth"])


def median_ratio(times, others):
    """Return the median of the ratios within rounds."""
    return statistics.median(time / other for time, other in zip(times, others))


def make_row(case, results, machine):
    """Return the cells of one line of a table."""
    dragon, other = results
    words = [result.get("error") for result in results]
    limit = find_limit(case, machine)
    cells = [f"`{case.name}`"]
    for result, error in zip(results, words):
        cells.append(error or format_time(statistics.median(result["times"])))
    cells.append("" if any(words) else f"{median_ratio(dragon['times'], other['times']):.2f}")
    cells.append("" if limit is None else format_time(limit))
    cells.append("" if limit is None or words[0] else f"{statistics.median(dragon['times']) / limit:.2f}")
    cells.append("" if any(words) else " / ".join(f"{statistics.median(result['faults']):.0f}" for result in results))
    cells.append(case.aim)
    return cells


HEADINGS = ["case", "dragon", "PyTorch", "dragon / PyTorch", "machine's limit", "dragon / limit",
            "page faults a call, dragon / PyTorch", "aim"]


def make_table(rows):
    """Return the rows as a Markdown table."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
