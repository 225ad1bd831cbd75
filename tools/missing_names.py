"""Count which names of the guests programs ask for and Dragon lacks: a table by the number of files that they stand in.

    python tools/missing_names.py FOLDER ... [--genuine PYTHON ...] [--page FILE] [--json FILE] [--top N]
    python tools/missing_names.py --again --page FILE

Each folder is a program or a repository of them, read as `dragon check` reads it, notebooks too; nothing in it is run.
What a genuine framework lacks as well, as programs of its earlier releases ask for it, is left out where its Python is
named. With `--again` no programs are read: the names of a page are asked for anew, and those that are there by now
are struck out.
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
        lines += [write_counts(len(rows), top), "",
                  "| name | files | repositories | |", "|---|---|---|---|"]
        lines += [f"| `{name}` | {entry.files} | {entry.folders} | {'raises' if entry.refused else 'missing'} |"
                  for name, entry in rows[:top]] + [""]
    return "\n".join(lines)


def state_of(name):
    """Return what a name, or an argument such as `f(out=)`, is by now: "missing", "raises", or None if it is there."""
    name, _, keyword = name.rstrip("=)").partition("(")
    if coverage.missing_part(name):
        return "missing"
    if keyword:
        known = coverage.keywords_of(name)
        return None if known is None or keyword in known else "missing"
    return "raises" if check.refused_name(name) else None


def ask_again(page):
    """Return a page without the names that are there by now; those of the others that changed have their new state."""
    sections = re.split(r"(?=^## )", page, flags=re.MULTILINE)
    return "".join(map(strike, sections))


def strike(section):
    """Return a guest's section without the names that are there by now."""
    shown = len(ROW.findall(section))

    def renew(row):
        state = state_of(row["name"])
        return state and f"{row['front']} {state} |\n" or ""
    section = ROW.sub(renew, section)
    gone = shown - len(ROW.findall(section))
    counts = COUNTS.search(section)
    if counts is None or not gone:
        return section
    names, top, earlier = int(counts["names"]), int(counts["top"] or counts["names"]), int(counts["gone"] or 0)
    return section.replace(counts[0], write_counts(names, top, earlier + gone))


def write_counts(names, top, gone=0):
    """Return the sentence above a table: how many names were missing, are shown, and are there by now."""
    shown = f"{names} names" + (f", of which {top} are shown" if names > top else "")
    return shown + (f", without {gone} that are there by now." if gone else ".")


ROW = re.compile(r"^(?P<front>\| `(?P<name>[^`]+)` \| \d+ \| \d+ \|) (?:raises|missing) \|\n", re.MULTILINE)
COUNTS = re.compile(r"^(?P<names>\d+) names(?:, of which (?P<top>\d+) are shown)?"
                    r"(?:, without (?P<gone>\d+) that are there by now)?\.$", re.MULTILINE)


def main():
    """Read the folders and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--again", action="store_true", help="ask for the names of the page anew, and read no folder")
    parser.add_argument("--genuine", nargs="+", default=[], metavar="PYTHON", help="Pythons with genuine frameworks")
    parser.add_argument("--page", type=pathlib.Path, help="where the page of tables goes")
    parser.add_argument("--json", type=pathlib.Path, help="where all names go, with their counts")
    parser.add_argument("--top", type=int, default=60, help="names of a guest on the page")
    options = parser.parse_args()
    if options.again is bool(options.folders) or options.again and not options.page:
        parser.error("expected folders, or --again with --page")
    if options.again:
        options.page.write_text(ask_again(options.page.read_text(encoding="utf-8")), encoding="utf-8")
        return
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
