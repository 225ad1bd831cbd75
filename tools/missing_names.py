"""Count which names of the guests programs ask for and Dragon lacks: a table by the number of files that they stand in.

    python tools/missing_names.py FOLDER ... [--genuine PYTHON ...] [--page FILE] [--json FILE] [--top N]

Each folder is a program or a repository of them, read as `dragon check` reads it, notebooks too; nothing in it is run.
What a genuine framework lacks as well, as programs of its earlier releases ask for it, is left out where its Python is
named.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess

from dragon.command import check, coverage
from dragon.command.program import read_tree
from dragon.command.uses import read_uses

GUESTS = {"torch": "PyTorch", "torchvision": "torchvision", "tensorflow": "TensorFlow", "keras": "Keras"}
INNER = ("python", "src")  # parts of genuine packages that are nobody's business, as those that begin with a mark
TEST = re.compile(r"(^|[\\/])test|_test")  # tests try what programs leave alone
Count = collections.namedtuple("Count", "files folders refused")
# Run by the genuine framework's Python: which of the names on its standard input there are.
QUESTION = """
import importlib, inspect, json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
def there(name):
    name, _, keyword = name.rstrip("=)").partition("(")
    first, *rest = name.split(".")
    try:
        found, path = importlib.import_module(first), first
    except Exception:
        return None
    for part in rest:
        path += "." + part
        if not inspect.ismodule(found) and not isinstance(found, type):
            break
        try:
            found = getattr(found, part)
        except Exception:
            try:
                found = importlib.import_module(path)
            except BaseException:
                return False
    try:
        words = inspect.signature(found).parameters.values() if keyword else ()
    except (TypeError, ValueError):
        return True
    return not keyword or any(word.name == keyword or word.kind is word.VAR_KEYWORD for word in words)
print("answer", json.dumps({name: there(name) for name in json.load(sys.stdin)}))
"""


def read_folder(folder):
    """Return ({name: (files, reason)}, number of files, uses) of a folder: what is asked for with no way around it."""
    files, own, found, uses = [], set(), collections.defaultdict(lambda: [set(), None]), 0
    for path in check.walk(folder):
        if TEST.search(os.path.relpath(path, folder)):
            continue
        try:
            read, defined = read_uses(read_tree(path)[0], check.ROOTS, coverage.gives_tensor)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue  # of Python 2, or torn
        files.append((path, read))
        own |= defined
    for path, read in files:
        for use in read:
            counted, problem = check.judge(use, own)
            uses += counted
            if problem is not None and problem["kind"] != "possible method" and not use.guarded:
                name = problem["name"].replace("tensorflow.compat.v2.", "tensorflow.")  # the same names
                name += f"({problem['keyword']}=)" if problem["keyword"] else ""
                found[name][0].add(path)
                found[name][1] = problem["reason"]
    return found, len(files), uses


def ask_genuine(pythons, names):
    """Return the names that some genuine framework has, of those that one of the Pythons knows."""
    known = {}
    for python in pythons:
        done = subprocess.run([python, "-c", QUESTION], input=json.dumps(names), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"missing_names: got --genuine {python}, expected a Python that answers: {done.stderr}")
        told = json.loads(done.stdout.rpartition("answer ")[2])
        known.update({name: there for name, there in told.items() if there is not None})
    return known


def is_public(name):
    """Return whether a name is for users."""
    return not any(part.startswith("_") or part in INNER for part in name.partition("(")[0].split(".")[1:])


def drop_parents(names):
    """Return names without those that are only the way to others: an import of a module, and then its names."""
    return {name for name in names if not any(other.startswith(name + ".") for other in names)}


def count(folders, pythons=()):
    """Return ({name: Count}, the number of files, of uses) over all folders."""
    files, places, reasons, total, uses = collections.defaultdict(set), collections.defaultdict(set), {}, 0, 0
    for folder in folders:
        found, read, used = read_folder(folder)
        total, uses = total + read, uses + used
        for name, (paths, reason) in found.items():
            files[name] |= paths
            places[name].add(folder)
            reasons[name] = reason
        print(f"{folder}: {read} files, {used} uses, {len(found)} names missing", flush=True)
    known = ask_genuine(pythons, sorted(files)) if pythons else {}
    chosen = drop_parents({name for name in files if known.get(name, True)})
    return {name: Count(len(files[name]), len(places[name]), reasons[name] is not None) for name in chosen}, total, uses


def order(counts, guest):
    """Return [(name, Count)] of a guest's public names, those in most files first."""
    return sorted(((name, entry) for name, entry in counts.items() if name.split(".")[0] == guest and is_public(name)),
                  key=lambda row: (-row[1].files, -row[1].folders, row[0]))


def write_page(counts, folders, files, uses, top):
    """Return the page: a table for each guest."""
    lines = ["# What other people's programs lack", "",
             f"`tools/missing_names.py` read {files:,} Python files and notebooks of {folders} public repositories: "
             f"{uses:,} uses of the", "frameworks' names and arguments, tests left out. These are the names that the "
             "genuine framework has, that files ask for without a", "way around, and that Dragon lacks, or has only to "
             "be asked for and raises when they are used. A module that is missing", "stands for all that is asked of "
             "it. The most frequent stand first.", ""]
    for guest, title in GUESTS.items():
        rows = order(counts, guest)
        lines += [f"## {title}", ""]
        if not rows:
            lines += ["None.", ""]
            continue
        lines += [f"{len(rows)} names" + (f", of which {top} are shown." if len(rows) > top else "."), "",
                  "| name | files | repositories | |", "|---|---|---|---|"]
        lines += [f"| `{name}` | {entry.files} | {entry.folders} | {'raises' if entry.refused else 'missing'} |"
                  for name, entry in rows[:top]] + [""]
    return "\n".join(lines)


def main():
    """Read the folders and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--genuine", nargs="+", default=[], metavar="PYTHON", help="Pythons with genuine frameworks")
    parser.add_argument("--page", type=pathlib.Path, help="where the page of tables goes")
    parser.add_argument("--json", type=pathlib.Path, help="where all names go, with their counts")
    parser.add_argument("--top", type=int, default=60, help="names of a guest on the page")
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"got {folder}, expected a folder")
    counts, files, uses = count(options.folders, options.genuine)
    if options.json:
        options.json.write_text(json.dumps({name: entry._asdict() for name, entry in counts.items()}, indent=1))
    page = write_page(counts, len(options.folders), files, uses, options.top)
    options.page.write_text(page) if options.page else print(page)


if __name__ == "__main__":
    main()
