"""`dragon check`: whether a program runs on Dragon, runs slower, or where it fails: read, or really run for a while."""
import collections
import difflib
import importlib.util
import json
import os
import warnings

from dragon.command import coverage, foresight, program, refusals, trial
from dragon.command.notebook import SUFFIX
from dragon.command.parser import Mistake, add_json, number
from dragon.command.uses import read_uses
from dragon.core.progress import Progress
from dragon.vm.alias import NESTED

ROOTS = ("torch", "torchvision", "tensorflow", "keras", *NESTED)
OTHERS = ("tensorflow", "keras", *(whole.partition(".")[0] for whole in NESTED))  # of other tensors than PyTorch's
EXAMPLES = (
    ("dragon check train.py", "read a script, and what it imports from beside it"),
    ("dragon check src/ timm", "read a folder, and a package that is installed"),
    ("dragon check --run --steps 20 train.py --epochs 1", "run it for twenty steps of its optimizer, and tell what "
                                                          "happened"),
)
WORDS = {"usage": "dragon check [--json] (script.py | notebook.ipynb | folder | package) ...\n"
                  "       dragon check --run [--steps N] [--timeout SECONDS] [--json] script.py [arguments ...]",
         "description": "Tell whether a program runs on Dragon, runs slower, or where it fails. Names and keyword "
                        "arguments are read, and nothing\nis run, unless --run is said."}
VERSION = 2  # of the report: what version 1 had is still there


def describe(parser):
    """Tell the parser the command's words."""
    parser.add_argument("--run", action="store_true", help="run the script for a while, and tell what really happened")
    parser.add_argument("--steps", type=number(1), metavar="N", help="with --run: end it after N steps of its "
                                                                     "optimizers")
    parser.add_argument("--timeout", type=number(1, float), metavar="SECONDS",
                        help="with --run: end it after so long (default 60)")
    add_json(parser)
    parser.add_argument("targets", nargs="+", metavar="script.py",
                        help="scripts, notebooks, folders or packages; with --run a script, then its own words")


def split(words):
    """Return (our words, the program's own): with --run all behind the script is the program's."""
    if "--run" not in words:
        return words, []
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in ("--steps", "--timeout") else 1
    return words[:place + 1], words[place + 1:]


def main(options, rest=()):
    """Check files, folders and packages; return 1 if something is missing."""
    if rest and not options.run:
        raise Mistake(f"got --run behind {options.targets[0]}, expected it before: what stands behind a script is the "
                      "script's own")
    for option in ("steps", "timeout"):
        if getattr(options, option) is not None and not options.run:
            raise Mistake(f"got --{option} without --run, expected both")
    paths = {path: None for target in options.targets for path in find_files(target)}
    report = judge_whole(check(list(paths), find_imported(options.targets, paths)))
    if options.run:
        if not os.path.isfile(options.targets[0]):
            raise Mistake(f"got --run with {options.targets[0]!r}, expected a script")
        report["run"] = trial.run(options.targets[0], rest, options.steps, options.timeout or 60.0)
        report["verdict"], report["reason"] = trial.judge(report["run"])
    print(json.dumps(report, indent=2) if options.json else as_text(report))
    return 1 if report["verdict"] == "fails" else 0


def judge_whole(report):
    """Add the verdict that reading gives, and the reason for it."""
    found = [entry for entry in (*report["missing"], *report["devices"]) if not entry["guarded"]]
    fails = [entry for entry in found if entry["kind"] != "possible method"]
    if report["unreadable"]:
        return {**report, "verdict": "fails", "reason": report["unreadable"][0]}
    if fails:
        first = fails[0]
        what = first["name"] + (f"({first['keyword']}=)" if first.get("keyword") else "")
        reason = f"{place_of(first)}: " + (
            f"no CUDA device for {what}" if first["kind"] == "device" else
            f"`{what}` raises: {first['reason']}" if first["kind"] == "refused" else
            f"`{what}` is not there" + (f"; the nearest is {first['nearest']}" if first["nearest"] else ""))
        return {**report, "verdict": "fails", "reason": reason}
    if report["slower"]:
        first = report["slower"][0]
        return {**report, "verdict": "runs slower", "reason": f"{place_of(first)}: {first['reason']}"}
    if found:
        first = found[0]
        return {**report, "verdict": "runs", "reason": "everything that it names is there, unless what has "
                f"`.{first['name'].rpartition('.')[2]}` at {place_of(first)} is a tensor"}
    return {**report, "verdict": "runs", "reason": "everything that it names is there"}


def place_of(entry):
    """Return where something stands: the file and the line, of a notebook the cell and the line within it."""
    cell = f"cell {entry['cell']}:" if "cell" in entry else ""
    return f"{entry['file']}:{cell}{entry['line']}"


def find_files(target):
    """Return the sources of a script, a folder or a package."""
    if os.path.isfile(target):
        return program.list_files(target)
    if os.path.isdir(target):
        return walk(target)
    try:
        # The parents of a dotted name are imported, and a file that is not there is none.
        spec = None if target.endswith(".py") else importlib.util.find_spec(target)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise Mistake(f"got {target!r}, expected a script, a folder or a package that can be imported")
    if spec.submodule_search_locations:
        return [path for folder in spec.submodule_search_locations for path in walk(folder)]
    return [spec.origin]


def find_imported(targets, paths):
    """Return those of the files that are imported: what a script finds beside it, and all of a package."""
    folders = [os.path.join(target, "") for target in targets if os.path.isdir(target)
               and not os.path.isfile(os.path.join(target, "__init__.py"))]
    return {path for path in paths if path not in targets and not path.startswith(tuple(folders))}


def walk(folder):
    """Return the sources below a folder, but for what is hidden and for installed packages."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"
                      and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))]
        found += [os.path.join(place, name) for name in names if name.endswith((".py", SUFFIX))]
    return sorted(found)


def check(paths, imported=()):
    """Return a report on files, as a dict that JSON can hold, without what imported ones do as scripts."""
    from dragon.core import config
    cuda = config.device_count("cuda")
    report = {"version": VERSION, "files": len(paths), "unreadable": [], "uses": 0, "names": 0, "missing": [],
              "devices": [], "slower": [], "unseen": []}
    files, own, notebooks, roots = [], set(), {}, {}
    for path in Progress(paths, what="reading", unit="files"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree, notebooks[path] = program.read_tree(path)
                roots.update(dict.fromkeys(name.partition(".")[0] for name, level in program.list_imports(tree)
                                           if not level))
                tree.body = [node for node in tree.body if path not in imported or not program.is_main(node)]
                uses, defined = read_uses(tree, ROOTS, coverage.gives_tensor)
                seen = foresight.read(tree, path, cuda)
        except (SyntaxError, ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            report["unreadable"].append(f"{path}{f':{line}' if line else ''}: {getattr(error, 'msg', None) or error}")
            continue
        files.append((path, uses))
        own |= defined
        for kind, entries in seen.items():
            report[kind] += [{"kind": "device", **entry} if kind == "devices" else entry for entry in entries]
    names = set()
    for path, uses in files:
        spoken = {use.name.split(".")[0] for use in uses if use.kind == "name"}
        foreign = bool(spoken & set(OTHERS)) and "torch" not in spoken
        for use in uses:
            counted, problem = judge(use, own, foreign)
            report["uses"] += counted
            if counted:
                names.add((use.name, use.keyword))
            if problem is not None:
                report["missing"].append({"file": path, "line": use.line, "column": use.column, **problem,
                                          "guarded": use.guarded})
    for kind in ("missing", "devices", "slower", "unseen"):
        for entry in report[kind]:
            if notebooks.get(entry["file"]) is not None:
                entry["cell"], entry["line"] = notebooks[entry["file"]].place(entry["line"])
    report["names"] = len(names)
    report["unseen"] += list_unread(roots)
    sure = sum(entry["kind"] != "possible method" for entry in report["missing"])
    report["share"] = 1 - sure / report["uses"] if report["uses"] else 1.0
    return report


def judge(use, own, foreign=False):
    """Return (whether it is a use of the guest, what is missing or None); `foreign`: in a file without PyTorch."""
    if use.kind == "attribute":
        # Of an unknown object: a tensor's, if PyTorch's tensors have it and nothing in the program does.
        if foreign or use.name not in coverage.tensor_names() or use.name in own:
            return False, None
        # It is never counted: `words.index` is no more covered than it is missing.
        return False, None if use.name in PLAIN else missing_name("torch.Tensor." + use.name, "possible method")
    name = "torch.Tensor." + use.name if use.kind.startswith("method") else use.name
    if use.kind.endswith("call"):
        # Its name is counted where it stands with points; what an import has bound is used here.
        return use.kind == "bare call" and not coverage.missing_part(name), refused_name(name)
    if use.keyword is None:
        # What PyTorch's tensors lack as well is asked of something else, however sure it looks.
        sure = use.kind != "method" or use.name in coverage.tensor_names()
        problem = missing_name(name, use.kind if sure else "possible method")
        return sure, problem or (refused_name(name) if use.kind == "method" else None)
    if coverage.missing_part(name):
        return False, None  # its name is reported already
    known = coverage.keywords_of(name)
    if known is None or use.keyword in known:
        return True, None
    near = difflib.get_close_matches(use.keyword, known, 1, 0.6)
    return True, {"kind": "keyword", "name": name, "keyword": use.keyword, "nearest": near[0] if near else None,
                  "reason": None}


# What lists, texts and numbers have as well: of something unknown that is the likelier meaning.
PLAIN = frozenset(name for kind in (list, dict, set, str, bytes, float, int) for name in dir(kind))


def missing_name(name, kind):
    """Return what is missing of a dotted name, or None."""
    part = coverage.missing_part(name)
    return part and {"kind": kind, "name": part, "keyword": None, "nearest": coverage.nearest_name(part),
                     "reason": None}


def refused_name(name):
    """Return a name that is there and raises whenever it is used, or None."""
    reason = refusals.reason_of(name)
    return reason and {"kind": "refused", "name": name, "keyword": None, "nearest": None, "reason": reason}


def list_unread(roots):
    """Return the packages that a program imports which stand on a framework themselves, and are not read with it."""
    return [{"file": None, "line": None, "reason": f"{name} uses a framework itself, and is not read: `dragon check "
                                                   f"{name}` does"} for name in roots if name in STANDING]


# Packages that many programs import and that use a framework's inner names.
STANDING = frozenset("""transformers timm lightning pytorch_lightning accelerate diffusers peft datasets torchmetrics
    einops safetensors torchaudio fastai keras_hub keras_cv tensorflow_datasets tensorflow_addons torch_geometric ignite
    skorch sentence_transformers torchtext""".split())


def as_text(report):
    """Return a report as lines: one per place, then the most frequent gaps, then the share, then the verdict."""
    lines = [f"unreadable: {entry}" for entry in report["unreadable"]]
    counts = collections.Counter()
    for entry in report["missing"]:
        what = (f"{entry['name']}({entry['keyword']}=)" if entry["keyword"] else entry["name"])
        counts[what] += 1
        near = f"; the nearest is {entry['nearest']}" if entry["nearest"] else ""
        note = {"possible method": " (if this is a tensor)"}.get(entry["kind"], "")
        note += " (the program can do without)" if entry["guarded"] else ""
        told = (f"{what} raises{note}: {entry['reason']}" if entry["kind"] == "refused" else
                f"Dragon lacks {what}{note}{near}")
        lines.append(f"{place_of(entry)}:{entry['column']}: {told}")
    lines += [f"{place_of(entry)}: {entry['name']} needs a CUDA device, and there is none"
              for entry in report["devices"] if not entry["guarded"]]
    lines += [f"{place_of(entry)}: slower: {entry['reason']}" for entry in report["slower"]]
    if len(counts) > 1 and len(report["missing"]) > 10:
        lines.append("most often: " + ", ".join(f"{name} ({count})" for name, count in counts.most_common(10)))
    lines.append(f"{report['files']} files, {report['uses']} uses of {report['names']} names: "
                 f"{report['share']:.1%} covered")
    if "run" in report:
        lines += trial.as_lines(report["run"])
    else:
        lines += [f"not seen: {place_of(entry) + ': ' if entry['file'] else ''}{entry['reason']}"
                  for entry in report["unseen"][:5]]
        lines.append("reading sees no values: shapes, dtypes and methods of unknown objects are judged by --run alone")
    return "\n".join([*lines, f"verdict: {report['verdict']}: {report['reason']}"])
