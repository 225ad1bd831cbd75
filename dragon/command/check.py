"""`dragon check`: what a program uses of a framework that Dragon lacks, with places, before anything is run."""
import collections
import difflib
import importlib.util
import json
import os
import warnings

from dragon.command import USAGE, coverage, fail
from dragon.command.uses import read_uses

ROOTS = ("torch", "torchvision", "tensorflow", "keras")
OTHERS = ("tensorflow", "keras")  # whose tensors have other methods than PyTorch's


def main(arguments):
    """Check files, folders and packages; return 1 if something is missing."""
    as_json = "--json" in arguments
    targets = [word for word in arguments if not word.startswith("-")]
    unknown = [word for word in arguments if word.startswith("-") and word != "--json"]
    if "-h" in unknown or "--help" in unknown:
        print(USAGE)
        return 0
    if unknown or not targets:
        fail(f"check: got {unknown[0] if unknown else 'nothing'}, expected scripts, folders or packages")
    report = check([path for target in targets for path in find_files(target)])
    print(json.dumps(report, indent=2) if as_json else as_text(report))
    return 1 if any(not entry["guarded"] for entry in report["missing"]) else 0


def find_files(target):
    """Return the sources of a script, a folder or a package."""
    if os.path.isfile(target):
        return [target]
    if os.path.isdir(target):
        return walk(target)
    try:
        spec = importlib.util.find_spec(target)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        fail(f"check: got {target!r}, expected a script, a folder or a package that can be imported")
    if spec.submodule_search_locations:
        return [path for folder in spec.submodule_search_locations for path in walk(folder)]
    return [spec.origin]


def walk(folder):
    """Return the sources below a folder."""
    return sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
                  if name.endswith(".py"))


def check(paths):
    """Return a report on files, as a dict that JSON can hold."""
    report = {"files": len(paths), "unreadable": [], "uses": 0, "names": 0, "missing": []}
    files, own = [], set()
    for path in paths:
        try:
            with open(path, "rb") as file, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                uses, defined = read_uses(file.read(), path, ROOTS, coverage.gives_tensor)
        except (SyntaxError, ValueError) as error:
            report["unreadable"].append(f"{path}: {error}")
            continue
        files.append((path, uses))
        own |= defined
    names = set()
    for path, uses in files:
        roots = {use.name.split(".")[0] for use in uses if use.kind == "name"}
        foreign = bool(roots & set(OTHERS)) and "torch" not in roots
        for use in uses:
            counted, problem = judge(use, own, foreign)
            report["uses"] += counted
            if counted:
                names.add((use.name, use.keyword))
            if problem is not None:
                report["missing"].append({"file": path, "line": use.line, "column": use.column, **problem,
                                          "guarded": use.guarded})
    report["names"] = len(names)
    report["share"] = 1 - len(report["missing"]) / report["uses"] if report["uses"] else 1.0
    return report


def judge(use, own, foreign=False):
    """Return (whether it is a use of the guest, what is missing or None); `foreign`: in a file without PyTorch."""
    if use.kind == "attribute":
        # Of an unknown object: a tensor's, if PyTorch's tensors have it and nothing in the program does.
        if foreign or use.name not in coverage.tensor_names() or use.name in own:
            return False, None
        return True, missing_name("torch.Tensor." + use.name, "possible method")
    name = "torch.Tensor." + use.name if use.kind.startswith("method") else use.name
    if use.keyword is None:
        return True, missing_name(name, "name" if use.kind == "name" else "method")
    if coverage.missing_part(name):
        return False, None  # its name is reported already
    known = coverage.keywords_of(name)
    if known is None or use.keyword in known:
        return True, None
    near = difflib.get_close_matches(use.keyword, known, 1, 0.6)
    return True, {"kind": "keyword", "name": name, "keyword": use.keyword, "nearest": near[0] if near else None}


def missing_name(name, kind):
    """Return what is missing of a dotted name, or None."""
    part = coverage.missing_part(name)
    return part and {"kind": kind, "name": part, "keyword": None, "nearest": coverage.nearest_name(part)}


def as_text(report):
    """Return a report as lines: one per place, then the most frequent gaps, then the share."""
    lines = [f"unreadable: {entry}" for entry in report["unreadable"]]
    counts = collections.Counter()
    for entry in report["missing"]:
        what = (f"{entry['name']}({entry['keyword']}=)" if entry["keyword"] else entry["name"])
        counts[what] += 1
        near = f"; the nearest is {entry['nearest']}" if entry["nearest"] else ""
        note = {"possible method": " (if this is a tensor)"}.get(entry["kind"], "")
        note += " (the program can do without)" if entry["guarded"] else ""
        lines.append(f"{entry['file']}:{entry['line']}:{entry['column']}: Dragon lacks {what}{note}{near}")
    if len(counts) > 1 and len(report["missing"]) > 10:
        lines.append("most often: " + ", ".join(f"{name} ({count})" for name, count in counts.most_common(10)))
    lines.append(f"{report['files']} files, {report['uses']} uses of {report['names']} names: "
                 f"{report['share']:.1%} covered")
    return "\n".join(lines)
