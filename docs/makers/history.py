"""Write how the tables of `docs/benchmarks` changed over commits, from git's history, into `history.csv` beside them.

One line for each group and commit whose mean ratio of Dragon's time to PyTorch's is another than before, with the
machine that the page named. The site draws it; figures of different machines are never drawn into one picture.

    PYTHONPATH=docs python -m makers.history
"""
import csv
import re
import subprocess

from makers.doors import DOCS
from makers.plots import HISTORY, mean, parse_tables

FOLDER = "docs/benchmarks"
# A group, and the column that has Dragon's time divided by PyTorch's.
GROUPS = {**dict.fromkeys("attention convolution dispatch gemm memory reduction training".split(), "dragon / PyTorch"),
          "torch": "ratio"}
MACHINE = re.compile(r"\b(AMD EPYC|AMD \w+|Intel[^,.;\n]*|\w+ Graviton\w*)")


def git(*words):
    """Return what a command of git prints; empty where it fails, as for a file that was not there yet."""
    done = subprocess.run(["git", "-C", str(DOCS.parent), *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def mean_ratio(text, column):
    """Return the geometric mean of a column of a page, or None."""
    cells = [row.get(column, "") for table in parse_tables(text) for row in table]
    ratios = [float(cell) for cell in cells if re.fullmatch(r"\d+\.?\d*", cell) and float(cell) > 0]
    return mean(ratios) if ratios else None


def read_history():
    """Return a line of the table for each change of a group's mean, oldest first.

    Figures that a later commit took out with nothing in their place were not held to be right: they are left out, too.
    """
    lines, last = [], {}
    for commit in reversed(git("log", "--format=%H %as", "--", FOLDER).splitlines()):
        name, date = commit.split()
        for group, column in GROUPS.items():
            text = git("show", f"{name}:{FOLDER}/{group}.md")
            machine, ratio = MACHINE.search(text), mean_ratio(text, column)
            if ratio is None or machine is None:
                lines = [line for line in lines if line is not last.get(group)]
                last.pop(group, None)
                continue
            line = {"date": date, "commit": name[:8], "machine": machine[1].strip(), "group": group,
                    "mean_ratio": f"{ratio:.3f}"}
            if group not in last or (line["machine"], line["mean_ratio"]) != (last[group]["machine"],
                                                                              last[group]["mean_ratio"]):
                lines.append(line)
                last[group] = line
    return lines


def main():
    """Write the table."""
    with HISTORY.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["date", "commit", "machine", "group", "mean_ratio"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(read_history())
    print(HISTORY.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
