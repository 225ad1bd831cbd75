"""Print how many lines of each part the tests ran, as a table: coverage_table.py PYTHON.json CORE.json."""
import collections
import json
import sys


def read_python(path):
    """Return {file: (lines that ran, lines)} of a report of coverage.py, of the package beside the build alone."""
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    return {"dragon/" + name.rpartition("package/dragon/")[2]: (of["summary"]["covered_lines"],
                                                                of["summary"]["num_statements"])
            for name, of in files.items() if "package/dragon/" in name}


def read_core(path):
    """Return {file: (lines that ran, lines)} of a report of gcovr; a line that templates repeat is one."""
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    found = {}
    for entry in files:
        ran = collections.defaultdict(bool)
        for line in entry["lines"]:
            ran[line["line_number"]] |= line["count"] > 0
        found[entry["file"]] = (sum(ran.values()), len(ran))
    return found


def part_of(name):
    """Return the part of the house that a file belongs to: two folders of the core, three of a guest."""
    folders = name.split("/")[:-1]
    if len(folders) == 1:
        return f"{folders[0]}/*"
    return "/".join(folders[:3 if folders[:2] == ["dragon", "vm"] else 2])


def main(paths):
    """Print the parts of both, and what both come to."""
    table = collections.defaultdict(lambda: [0, 0])
    for read, path in zip((read_python, read_core), paths):
        for name, counts in read(path).items():
            for part in (part_of(name), name.partition("/")[0]):
                table[part] = [one + more for one, more in zip(table[part], counts)]
    print("| part | lines | run | of them |\n|---|---|---|---|")
    for part, (ran, lines) in sorted(table.items()):
        if lines:
            print(f"| `{part}` | {lines:,} | {ran:,} | {100 * ran / lines:.1f} % |")


if __name__ == "__main__":
    main(sys.argv[1:])
