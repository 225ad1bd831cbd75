"""Nearly right calls, made of the genuine guest and of Dragon, and where the two part.

    python tests/fuzz/pairs.py --face torch --seed 0 --count 20 [--only PATTERN] [--report FILE]

"taken" is a call that the genuine guest refuses and Dragon does not; "refused" the other way round; "differs" where
both answer; "crash" and "slow" are Dragon's alone.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
FACES = ("torch", "torchvision", "tensorflow", "keras")
CHUNK = 40
CRASHES = 3
KNOWN = HERE / "known_pairs.txt"
# TensorFlow's own kernels check what they are given; those of oneDNN end the process for some of it.
# The processes run in other folders: what is searched for modules here is searched there.
PATHS = os.pathsep.join(os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "DRAGON_ALLOCATOR": "naive", "TF_ENABLE_ONEDNN_OPTS": "0", "PYTHONPATH": PATHS}
# Names whose numbers are drawn, or left as they were: only dtypes and shapes are compared.
DRAWN = re.compile(
    r"(?i)rand|normal|dropout|bernoulli|multinomial|poisson|exponential|geometric|cauchy|uniform|rrelu|empty|gamma$|"
    r"gammav2|binomial|categorical|shuffle|lowrank|fractional|distorted|sampler|eig|svd|qr|lobpcg|gumbel|resize")
LACKS = re.compile(
    r"not implemented for|Could not find device|No OpKernel|NotImplemented|not supported|[Uu]nsupported|Unimplemented|"
    r"is not available in GraphDef|only support|not currently support|doesn't support|does not support|Could not run|"
    r"not yet implemented|Can't cast|can't be cast|not allowed in the list")


def read_answers(path, answers, words):
    """Enter what a process wrote down; return the (name, index) of its last call, or None."""
    last = None
    if not path.exists():
        return None
    with open(path, "rb") as file:
        while True:
            try:
                name, index, kind, value = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return last
            last = name, index
            (words if kind == "begun" else answers)[last] = value


def run_side(face, genuine, names, seed, count, calls, folder):
    """Return ({(name, index): answer}, {(name, index): what was changed}) of one side, begun anew behind a crash."""
    answers, words, left, start, crashes = {}, {}, list(names), 0, collections.Counter()
    path = pathlib.Path(folder) / ("genuine" if genuine else "mine")
    while left:
        path.unlink(missing_ok=True)
        command = [sys.executable, str(HERE / "paired.py"), "--face", face, "--calls", str(calls), "--seed", str(seed),
                   "--count", str(count), "--start", str(start), "--answers", str(path), *left]
        done = subprocess.run(command + ["--genuine"] * genuine, capture_output=True, text=True, errors="replace",
                              cwd=folder, env={**os.environ, **ENVIRONMENT})
        last = read_answers(path, answers, words)
        if done.returncode == 0:
            break
        if last is None:
            raise RuntimeError(f"pairs: a process of {face} did not start:\n{done.stderr[-3000:]}")
        name, index = last
        hung = done.returncode in (-signal.SIGALRM, -signal.SIGPROF)
        answers.setdefault(last, ("slow" if hung else "crash", f"{done.returncode}: {done.stderr[-300:]}"))
        crashes[name] += 1
        left, start = left[left.index(name):], index + 1
        if crashes[name] == CRASHES or start >= count:
            left, start = left[1:], 0
    return answers, words


def tolerance(name):
    """Return the relative difference that is rounding in a dtype."""
    return {"float16": 1e-2, "half": 1e-2, "bfloat16": 5e-2, "float32": 2e-3, "complex64": 2e-3}.get(name, 1e-5)


def leaf_differs(theirs, mine, drawn, rounding=tolerance, least=1e-3):
    """Return what differs between two leaves of results, or None."""
    if theirs[0] != mine[0]:
        return f"{mine[0]}, genuine {theirs[0]}"
    if theirs[0] == "value":
        return None if drawn or same_value(theirs[1], mine[1]) else f"{mine[1]!r}, genuine {theirs[1]!r}"
    if theirs[0] == "object":
        return None
    if theirs[1] != mine[1]:
        return f"dtype {mine[1]}, genuine {theirs[1]}"
    if theirs[3] != mine[3]:
        return f"shape {mine[3]}, genuine {theirs[3]}"
    if drawn or theirs[2] is None or mine[2] is None:
        return None
    one, other = theirs[2], mine[2]
    if one.dtype.kind not in "fc":
        return None if numpy.array_equal(one, other) else f"{other.reshape(-1)[:6]}, genuine {one.reshape(-1)[:6]}"
    with numpy.errstate(all="ignore"):
        within = rounding(theirs[1])
        finite = abs(one[numpy.isfinite(one)])
        scale = float(finite.max(initial=least)) if finite.size else 1.0
        good = numpy.isclose(other, one, rtol=within, atol=within * scale, equal_nan=True)
        if one.dtype.kind == "c":
            good |= ~numpy.isfinite(one) & ~numpy.isfinite(other)
    return None if good.all() else f"{other[~good][:4]}, genuine {one[~good][:4]}"


def same_value(one, other):
    """Return whether two plain values are the same, NaN as itself."""
    if isinstance(one, (float, complex)) and isinstance(other, (float, complex)):
        return bool(numpy.isclose(one, other, rtol=1e-3, equal_nan=True))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def judge(name, theirs, mine):
    """Return (kind, words) of how two answers part, or None."""
    if mine[0] in ("crash", "slow") or theirs[0] in ("crash", "slow"):
        return None if theirs[0] in ("crash", "slow") else (mine[0], mine[1])
    if "unmade" in (theirs[0], mine[0]):
        return None
    if theirs[0] == "error" and mine[0] == "error":
        return None
    if theirs[0] == "error":
        if LACKS.search(theirs[2]) or theirs[1] in ("NotImplementedError", "UnimplementedError", "NotFoundError"):
            return None
        return "taken", f"genuine {theirs[1]}: {theirs[2][:300]}"
    if mine[0] == "error":
        return "refused", f"{mine[1]}: {mine[2][:300]}"
    if len(theirs[1]) != len(mine[1]):
        return "differs", f"{len(mine[1])} results, genuine {len(theirs[1])}"
    found = [leaf_differs(one, other, bool(DRAWN.search(name))) for one, other in zip(theirs[1], mine[1])]
    return next((("differs", f"result {place}: {words}") for place, words in enumerate(found) if words), None)


def known_differences():
    """Yield (face, pattern of names, kind, pattern of what was changed and told) of the table of known differences."""
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            face, names, kind, words = line.split(None, 3)
            yield face, re.compile(names), kind, re.compile(words)


def is_known(finding, known):
    """Return whether a finding stands in the table."""
    return any(face in ("*", finding["face"]) and names.fullmatch(finding["name"]) and kind in ("*", finding["kind"])
               and words.search(f"{finding['change']} | {finding['words']}") for face, names, kind, words in known)


def hunt(face, names, seed, count, calls, folder):
    """Return (findings, how many calls were compared, how many the genuine guest took) of some names."""
    mine, words = run_side(face, False, names, seed, count, calls, folder)
    theirs, _ = run_side(face, True, names, seed, count, calls, folder)
    found, taken = [], 0
    for place in sorted(set(mine) & set(theirs)):
        taken += theirs[place][0] == "results"
        told = judge(place[0], theirs[place], mine[place])
        if told:
            found.append({"face": face, "name": place[0], "index": place[1], "seed": seed, "kind": told[0],
                          "words": told[1].replace("\n", " "), "change": words[place]})
    return found, len(set(mine) & set(theirs)), taken


def make_calls(face, folder):
    """Return the path of a file of right calls, which is made where there is none."""
    path = pathlib.Path(folder).resolve() / f"right_{face}.pickle"
    if not path.exists():
        samples = []
        if face == "torch":
            table = pathlib.Path(folder).resolve() / "samples.pickle"
            samples = ["--samples", str(table)]
            if not table.exists():
                subprocess.run([sys.executable, str(HERE / "samples.py"), str(table)], check=True, cwd=os.sep,
                               env={**os.environ, **ENVIRONMENT})
        command = [sys.executable, str(HERE / "right_calls.py"), face, os.path.abspath(path), *samples]
        subprocess.run(command, check=True, stdout=sys.stderr, cwd=os.sep, env={**os.environ, **ENVIRONMENT})
    return path


def main():
    """Hunt behind the faces of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--face", choices=FACES, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="calls of each name")
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="for the files of right calls, which are kept")
    parser.add_argument("--report", help="a file that findings are added to, one JSON object per line")
    options = parser.parse_args()
    known, total = list(known_differences()), 0
    for face in options.face or FACES:
        calls = make_calls(face, options.folder)
        names = [name for name in sorted(pickle.loads(calls.read_bytes())) if re.search(options.only, name)]
        chunks = [names[start:start + CHUNK] for start in range(0, len(names), CHUNK)]

        def run(chunk, face=face, calls=calls):
            with tempfile.TemporaryDirectory() as folder:
                found, compared, taken = hunt(face, chunk, options.seed, options.count, calls, folder)
            found = [finding for finding in found if not is_known(finding, known)]
            if options.report:
                with open(options.report, "a", encoding="utf-8") as file:
                    file.write("".join(json.dumps(finding) + "\n" for finding in found))
            return found, compared, taken
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            parts = list(pool.map(run, chunks))
        findings = [finding for found, _, _ in parts for finding in found]
        kinds = collections.Counter(finding["kind"] for finding in findings)
        for finding in findings:
            print(f"{finding['face']}.{finding['name']} #{finding['index']} {finding['kind']} [{finding['change']}] "
                  f"{finding['words']}")
        print(f"== {face}: {sum(part[1] for part in parts)} calls of {len(names)} names, "
              f"{sum(part[2] for part in parts)} taken by the genuine guest, {dict(kinds)}", flush=True)
        total += len(findings)
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
