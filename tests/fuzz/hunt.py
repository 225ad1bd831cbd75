"""Make very many hostile calls of every face, in workers that may crash, and report what was not answered rightly.

    python tests/fuzz/hunt.py --calls 2000000 --seed 0 --face torch --jobs 2

Where the genuine guest is installed, each finding is made again there: an error of the same class is as it should be.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

WORKER = pathlib.Path(__file__).resolve().with_name("worker.py")
sys.path.insert(0, str(WORKER.parents[1]))

from harness import interpreter  # noqa: E402  (the path must be set before)

SAMPLES = pathlib.Path(__file__).resolve().with_name("samples.py")
FACES = ("bindings", "operators", "native", "torch", "torchvision", "tensorflow", "keras")
DEVICES = ("cuda",)  # the operators with their operands there; DRAGON_SIMT names a library that stands for a GPU
GENUINE = ("torch", "torchvision", "tensorflow", "keras")
CHUNK = 40  # names per worker
CRASHES = 4  # of one name, after which its other calls are left
COMPARED = 6  # findings of one kind that are made again by the genuine guest
CALLS = 2000000
# What a function's own lines raise when an argument is not what they take it for: no face promises which of them.
BLUNDERS = {"AttributeError", "KeyError", "ZeroDivisionError", "RecursionError"}
ENVIRONMENT = {"DRAGON_ALLOCATOR": "naive", "OMP_NUM_THREADS": "2", "TF_CPP_MIN_LOG_LEVEL": "3",
               "KERAS_BACKEND": "tensorflow"}


class Finding(dict):
    """What a worker told of one call, with the command that makes the call again."""

    def words(self):
        """Return the finding as lines of text."""
        genuine = f"\n    genuine: {self['genuine']}" if "genuine" in self else ""
        return (f"{self['where']}: {self['trouble']}: {self['class']}: {self['message']!r}\n    {self['call'][:400]}"
                f"{genuine}\n    again: {self['again']}")


def command_of(words, name, index):
    """Return the command that makes one call again."""
    return f"python tests/fuzz/worker.py {' '.join(words)} --only {index} {name}"


def write_preload(face):
    """Return what is imported where workers are forked; nothing that belongs to a device."""
    if face in DEVICES:
        return ""
    module = {"operators": "operators", "bindings": "bindings"}.get(face, "guests")
    return f"import sys; sys.path[:0] = {[str(WORKER.parents[1]), str(WORKER.parent)]}; import sandbox, {module}"


def run_worker(face, names, seed, count, start=0, samples=None, options=(), folder=None):
    """Return (findings, place, what happened) of one worker; the place is (name, index) of a crash, or None."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        status = pathlib.Path(home) / "status"
        words = ["--face", face, "--seed", str(seed), *options]
        if samples:
            words += ["--samples", str(samples)]
        command = [WORKER, *words, "--count", count, "--start", start, "--status", status, *names]
        environment = dict(os.environ, **ENVIRONMENT, TMPDIR=home)
        if face in DEVICES:
            environment["DRAGON_ALLOCATOR"] = "guard"  # what stands for a GPU cannot touch the host's tensors then
        done = interpreter.run(command, os.sep, env=environment, preload=write_preload(face))
        found = [Finding(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]
        for finding in found:
            finding["again"] = command_of(words, finding["name"], finding["index"])
        if done.returncode == 0:
            return found, None, None
        told = status.read_text().split() if status.exists() else []
        if len(told) < 2 or told[0] not in names:
            raise RuntimeError(f"hunt: got a worker that did not start, expected calls of {names[0]}:\n{done.stderr}")
        name, index = told[0], int(told[1])
        what = "hang" if done.returncode in (-signal.SIGALRM, -signal.SIGPROF) else "crash"
        found.append(Finding(
            name=name, where=name, index=index, trouble=what, call="", message=done.stderr[-3000:],
            again=command_of(words, name, index),
            **{"class": f"ended with {done.returncode}"}))
        return found, (name, index), what


def run_names(face, names, seed, count, samples=None, folder=None):
    """Return the findings of some names; behind a crash the worker starts again with the next call."""
    found, left, start, crashes = [], list(names), 0, collections.Counter()
    while left:
        more, place, _ = run_worker(face, left, seed, count, start, samples, folder=folder)
        found += more
        if place is None:
            break
        name, index = place
        crashes[name] += 1
        left, start = left[left.index(name):], index + 1
        if crashes[name] == CRASHES or start >= count:
            left, start = left[1:], 0
    return found


def list_names(face):
    """Return the names of a face."""
    done = subprocess.run([sys.executable, str(WORKER), "--face", face, "--list"], stdout=subprocess.PIPE, text=True,
                          check=True, cwd=os.sep)
    return done.stdout.split()


def kind(finding):
    """Return what makes two findings the same: where, which error, and its words without numbers and names."""
    words = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'", "_", finding["message"])[:80]
    return finding["where"], finding["trouble"], finding["class"], words if finding["trouble"] == "class" else ""


def compare(face, seed, findings, samples=None, folder=None):
    """Leave out findings whose call raises the same class in the genuine guest, or one that is as wrong."""
    asked, chosen = collections.Counter(), []
    for finding in findings:
        asked[kind(finding)] += 1
        if finding["trouble"] in ("class", "empty message") and asked[kind(finding)] <= COMPARED:
            chosen.append(finding)
    places = [(finding["name"], finding["index"], finding["step"]) for finding in chosen]
    answers = ask_genuine(face, seed, places, samples, folder)
    same = {kind(finding) for finding, answer in zip(chosen, answers)
            if answer == finding["class"] or {answer, finding["class"]} <= BLUNDERS}
    for finding, answer in zip(chosen, answers):
        finding["genuine"] = answer or "no error"
    return [finding for finding in findings if kind(finding) not in same]


def ask_genuine(face, seed, places, samples=None, folder=None):
    """Return per call the class of the error that the genuine guest raises, or None, or how it ended."""
    answers = []
    file = pathlib.Path(folder or tempfile.gettempdir()) / "replay.json"
    file.write_text(json.dumps(places), encoding="utf-8")
    words = ["--face", face, "--seed", str(seed), "--genuine", "--replay", str(file)]
    words += ["--samples", str(samples)] if samples else []
    while len(answers) < len(places):
        done = subprocess.run([sys.executable, str(WORKER), *words, "--start", str(len(answers))], capture_output=True,
                              text=True, errors="replace", env=dict(os.environ, **ENVIRONMENT), cwd=os.sep)
        more = [json.loads(line)["raised"] for line in done.stdout.splitlines() if line.startswith("{")]
        answers += more
        if done.returncode == 0:
            break
        if len(answers) < len(places):
            answers.append(f"ended with {done.returncode}")
    return answers


def has_genuine(face):
    """Return whether the genuine guest of a face is installed, and starts: one that does not would answer nothing."""
    if face not in GENUINE:
        return False
    return subprocess.run([sys.executable, str(WORKER), "--face", face, "--genuine", "--list"], capture_output=True,
                          env=dict(os.environ, **ENVIRONMENT), cwd=os.sep).returncode == 0


def hunt(face, seed, calls, jobs, samples=None, names=None, folder=None, report=None):
    """Return the findings of about so many calls of a face.

    Parameters
    ----------
    face : str
        One of FACES.
    seed : int
        What the calls are made from.
    calls : int
        How many, spread evenly over the names.
    jobs : int
        Workers at a time.
    samples : str, optional
        A file of right calls.
    names : Sequence[str], optional
        Those to call; all by default.
    folder : str, optional
        Where the workers' own folders stand.
    report : str, optional
        A file that findings are added to as they come, one JSON object per line.

    """
    names = names or list_names(face)
    count = max(1, calls // len(names))
    chunks = [names[start::max(1, len(names) // CHUNK)] for start in range(max(1, len(names) // CHUNK))]

    def run(chunk):
        found = run_names(face, chunk, seed, count, samples, folder)
        if report:
            with open(report, "a", encoding="utf-8") as file:
                file.write("".join(json.dumps(dict(finding, face=face)) + "\n" for finding in found))
        return found
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [finding for found in pool.map(run, chunks) for finding in found]


def make_samples(folder):
    """Return the path of a file of right calls."""
    path = pathlib.Path(folder).resolve() / "samples.pickle"
    if not path.exists():
        subprocess.run([sys.executable, str(SAMPLES), str(path)], check=True, cwd=os.sep)
    return path


def main():
    """Hunt behind the faces of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--face", choices=FACES + DEVICES, action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="for the file of right calls, which is kept")
    parser.add_argument("--only", help="a pattern of names")
    parser.add_argument("--report", help="a file that findings are added to as they come, one JSON object per line")
    options = parser.parse_args()
    faces, total = options.face or FACES, 0
    for face in faces:
        samples = make_samples(options.folder) if face == "torch" else None
        names = [name for name in list_names(face) if re.search(options.only or "", name)]
        with tempfile.TemporaryDirectory() as folder:
            findings = hunt(face, options.seed, options.calls // len(faces), options.jobs, samples, names, folder,
                            options.report)
            made = len(findings)
            if has_genuine(face):
                findings = compare(face, options.seed, findings, samples, folder)
        total += len(findings)
        told = {kind(finding): finding for finding in reversed(findings)}
        for finding in sorted(told.values(), key=kind):
            print(finding.words(), flush=True)
        print(f"== {face}: {len(names)} names, {made} findings, {len(findings)} of them not as in the genuine guest, "
              f"{len(told)} different\n", flush=True)
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
