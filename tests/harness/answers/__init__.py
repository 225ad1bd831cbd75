"""What genuine packages answer in tests: recorded in `tests/oracles`, one file a room, asked for only when it must be.

    answers.ask("torch", [code, arrays], compute)

returns what `compute()`, which asks the genuine package, returns: a tree of plain values (`harness/answers/values.py`).
The key is what the answer is a function of: expressions, arrays, seeds, functions of the tests (by their text, and that
of what they call). `docs/design/0034-recorded-answers.md` says more.

How answers are found is said by the environment, which children inherit; `pytest --answers=...` sets it:

* `recorded`: those that are recorded; what is not is asked for, and counted.
* `twentieth`: as before, and a seeded twentieth of the recorded ones is asked for anew and compared.
* `check`: all recorded ones are asked for anew and compared.
* `record`: what is not recorded is asked for and recorded.
* `renew`: everything is asked for anew; what of a room nobody asked for is dropped.
"""
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import re
import struct
import warnings
import zlib

from harness.answers import archive, sources, values
from harness.answers.values import Raised, raised

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Each room's packages, as `pyproject.toml` calls them.
ROOMS = {"operators": ["torch"], "torch": ["torch"], "tensorflow": ["tensorflow-cpu", "keras"],
         "keras": ["tensorflow-cpu", "keras"]}
MODES = ("recorded", "twentieth", "check", "record", "renew")
MODE, SEED, SPOOL, FOLDER = "DRAGON_ANSWERS", "DRAGON_ANSWERS_SEED", "DRAGON_ANSWERS_SPOOL", "DRAGON_ANSWERS_FOLDER"
SHARE = 20


class Stale(AssertionError):
    """A recorded answer is not what the genuine package says."""


def mode():
    """Return how answers are found."""
    found = os.environ.get(MODE, MODES[0])
    if found not in MODES:
        raise ValueError(f"{MODE}: got {found!r}, expected one of {MODES}")
    return found


def folder():
    """Return where answers are recorded."""
    return pathlib.Path(os.environ.get(FOLDER, ROOT / "tests" / "oracles"))


@functools.lru_cache(maxsize=None)
def pinned(package):
    """Return the version of a package that `pyproject.toml` names, or that is here where it names none."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf'"{re.escape(package)}==([^";]+)"', text)
    return found[1] if found else installed(package)


def installed(package):
    """Return the version of a package that is here, without what tells builds apart, or None."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(room):
    """Return {package: version} of what a room's answers are of."""
    return {package: pinned(package) for package in ROOMS[room]}


class Room:
    """The recorded answers of a room; those of other versions of its packages count as none."""

    def __init__(self, name, path):
        self.name, self.archive = name, None
        try:
            found = archive.Archive(path)
        except archive.Damaged as error:
            warnings.warn(f"answers: {error}; they are asked for: make oracles", stacklevel=3)
            return
        if found.versions not in (None, versions(name)):
            warnings.warn(f"answers: {found.path.name} is of {found.versions}, expected {versions(name)}; they are "
                          "asked for: make oracles", stacklevel=3)
            return
        self.archive = found

    def get(self, key):
        """Return a recorded answer as bytes, or None."""
        if self.archive is None:
            return None
        try:
            return self.archive.get(key)
        except archive.Damaged as error:
            warnings.warn(f"answers: {error}; they are asked for: make oracles", stacklevel=3)
            return None


@functools.lru_cache(maxsize=None)
def room_of(name, path):
    """Return a room, read once in a process."""
    return Room(name, path)


def key_of(room, parts):
    """Return the name of an answer: a digest of all that it is a function of.

    None if it is of a folder of one run, or of a file that was written while this process ran.
    """
    try:
        told = values.encode([room, sources.plain(parts)])
    except sources.Changed:
        return None
    return None if b"/pytest-of-" in told else hashlib.sha256(told).digest()[:archive.KEY]


def ask(room, parts, compute, title=None, difference=values.difference, largest=None):
    """Return what a genuine package answers.

    Parameters
    ----------
    room : str
        One of `ROOMS`.
    parts : list
        What the answer is a function of, `title` included if it is needed.
    compute : callable
        Asks the genuine package, which it imports itself, and returns plain values. It starts from its own seed.
    title : str, optional
        What a stale answer is called, the first of the parts by default.
    difference : callable, optional
        What tells how two answers of the genuine package differ, or None, where they differ by more than rounding.
    largest : int, optional
        An answer of more bytes is asked for each time.

    Returns
    -------
    object
        The answer; errors as `Raised`.
    """
    key, how = key_of(room, parts), mode()
    if key is None:
        return values.decode(values.encode(compute()))
    found = None if how == "renew" else room_of(room, folder() / f"{room}.answers").get(key)
    if found is None:
        data = values.encode(compute())
        if largest is None or len(data) <= largest:
            note(room, key, data)
        return values.decode(data)
    answer = values.decode(found)
    if how == "check" or how == "twentieth" and is_drawn(key):
        words = difference(answer, values.decode(values.encode(compute())))
        if words is not None:
            raise Stale(f"{title or parts[0]}: recorded and genuine {' and '.join(ROOMS[room])} differ: "
                        f"{str(words)[:2000]}; `make oracles` records it anew")
    return answer


def is_drawn(key):
    """Whether an answer is of the twentieth that is asked for anew."""
    return zlib.crc32(key, int(os.environ.get(SEED, "0"))) % SHARE == 0


def note(room, key, data):
    """Leave an answer that is not recorded where this run's are collected, if they are."""
    place = os.environ.get(SPOOL)
    if place:
        with open(os.path.join(place, f"{room}.{os.getpid()}"), "ab") as file:
            file.write(archive.ENTRY.pack(key, len(data)) + data)


def collected(place):
    """Return {room: {key: answer as bytes}} of what a run's processes have left."""
    found = {}
    for path in sorted(pathlib.Path(place).iterdir()):
        data, entries = path.read_bytes(), found.setdefault(path.name.partition(".")[0], {})
        try:
            for key, answer in archive.split(data):
                entries.setdefault(key, answer)
        except (ValueError, struct.error):  # a process that was ended while it wrote
            continue
    return found


def record(found, renew=False):
    """Write answers into their rooms' files, and return lines on what changed."""
    lines = []
    for name, entries in sorted(found.items()):
        other = {package: installed(package) for package in ROOMS[name]}
        if other != versions(name):
            lines.append(f"{name}: not recorded, {other} are installed, expected {versions(name)}")
            continue
        path = folder() / f"{name}.answers"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old = Room(name, path).archive
        before = old.entries() if old else {}
        # What differs by rounding alone stays as it is recorded.
        kept = {key: before[key] for key in before if not renew or key in entries and alike(before[key], entries[key])}
        new = {**entries, **kept}
        (old or archive.Archive(path, read=False)).write(new, versions(name))
        lines.append(f"{name}: {len(new)} answers, {len(new.keys() - before.keys())} of them new, "
                     f"{len(before.keys() - new.keys())} dropped, {path.stat().st_size} bytes")
    return lines


def alike(one, other):
    """Whether two answers differ by rounding at most."""
    return one == other or values.difference(values.decode(one), values.decode(other)) is None
