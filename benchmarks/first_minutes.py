"""Whole programs from start to end, under Dragon and under the genuine frameworks: what a newcomer waits for.

    python benchmarks/first_minutes.py [--rounds 5] [--programs train.py,...] [--write]

Each turn is a process of its own with two threads, `python program` and `dragon run program` one after the other, so
the import, the data and the first step count. Printed are medians over rounds of the time, the median of the ratios
within a round, the peak memory, and whether both printed the same. With `--write` the page
`docs/benchmarks/first_minutes.md` is written; the README quotes it.
"""
import argparse
import importlib.metadata
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

from harness import describe_processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks/first_minutes.md"
PROGRAMS = {"train.py": "PyTorch", "torch/gpt.py": "PyTorch", "torch/char_rnn.py": "PyTorch", "torch/vae.py": "PyTorch",
            "tensorflow/digits_convnet.py": "Keras", "tensorflow/time_series.py": "Keras",
            "tensorflow/transformer_block.py": "Keras"}
# Two programs may end on other last digits where sums have another order.
NUMBER = re.compile(r"-?\d+\.\d+")
NEAR = 0.02


def run(words):
    """Return (seconds, MiB, what it printed) of a process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    start = time.perf_counter()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
                             cwd=ROOT / "examples")
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(words)}: got exit status {os.waitstatus_to_exitcode(status)}, expected 0")
    return seconds, usage.ru_maxrss / 1024, printed


def alike(mine, theirs):
    """Tell whether two programs printed the same words, and numbers that agree to a few hundredths."""
    if NUMBER.sub("#", mine).split() != NUMBER.sub("#", theirs).split():
        return False
    pairs = zip(map(float, NUMBER.findall(mine)), map(float, NUMBER.findall(theirs)))
    return all(abs(a - b) <= NEAR * max(1, abs(b)) for a, b in pairs)


def measure(program, rounds):
    """Return a row of the table, and what both sides printed."""
    sides = {"dragon": [sys.executable, "-m", "dragon", "run", program], "genuine": [sys.executable, program]}
    turns = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides)[::1 if number % 2 else -1]:
            turns[side].append(run(sides[side]))
    times = {side: statistics.median(turn[0] for turn in found) for side, found in turns.items()}
    peaks = {side: statistics.median(turn[1] for turn in found) for side, found in turns.items()}
    ratio = statistics.median(a[0] / b[0] for a, b in zip(turns["dragon"], turns["genuine"]))
    printed = {side: found[0][2] for side, found in turns.items()}
    same = "yes" if alike(*printed.values()) else "NO"
    row = (f"| `{program}` | {PROGRAMS[program]} | {times['dragon']:.1f} | {times['genuine']:.1f} | {ratio:.2f} | "
           f"{peaks['dragon']:.0f} | {peaks['genuine']:.0f} | {same} |")
    return row, printed


def lay_beside(printed, row):
    """Return what both sides printed, line beside line, and below it what it cost."""
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    columns = [printed["genuine"].splitlines(), printed["dragon"].splitlines()]
    for column, name, seconds, peak in ((columns[0], "python train.py", cells[3], cells[6]),
                                        (columns[1], "dragon run train.py", cells[2], cells[5])):
        column[:0] = [f"$ {name}"]
        column += ["", f"{seconds} s, {peak} MiB"]
    width = max(map(len, columns[0])) + 4
    return "\n".join(f"{left:{width}}{right}".rstrip() for left, right in zip(*columns, strict=True))


def write_page(rows, printed, rounds):
    """Write the page of figures, with what the first program printed on both sides."""
    beside = lay_beside(printed, rows[0])
    priority = "" if os.sched_getscheduler(0) == os.SCHED_OTHER else ", at real-time priority beside other work"
    versions = ", ".join(f"{shown} {importlib.metadata.version(name)}" for shown, name in (
        ("PyTorch", "torch"), ("Keras", "keras"), ("TensorFlow", "tensorflow-cpu")))
    PAGE.write_text(f"""# The first minutes

Programs of `examples/` from start to end, import and data included: `python program` beside `dragon run program`.

{versions}; {describe_processor()}, two threads each{priority}.
Medians of {rounds} interleaved rounds, each turn in a process of its own. Made by

    python benchmarks/first_minutes.py --rounds {rounds} --write

| program | written for | Dragon s | genuine s | ratio | Dragon MiB | genuine MiB | same output |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

The first of them, as both sides printed it, the clock and the memory below:

```text
{beside}
```
""", encoding="utf-8")


def main():
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows, outputs = [], {}
    for program in args.programs.split(","):
        row, outputs[program] = measure(program, args.rounds)
        rows.append(row)
        print(row, flush=True)
    if args.write:
        write_page(rows, outputs["train.py"], args.rounds)


if __name__ == "__main__":
    main()
