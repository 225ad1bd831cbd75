"""Names of files: lists, wildcards and braces as what they stand for, in an order that is always the same."""
import glob
import os
import re

from dragon.io.sources.remote import ask_fsspec, is_remote, local_path

BRACES = re.compile(r"\{([^{}]*)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)")
MOST_NAMES = 10_000_000
WILD = re.compile(r"[*?[]")


def expand_braces(name):
    """Return the names that braces stand for: "a-{00..02}.tar" is three, "{a,b}.tar" two.

    Parameters
    ----------
    name : str
        The name. Numbers are written with as many digits as the first of their range has.

    Returns
    -------
    list of str
        The names.

    """
    found = BRACES.search(name)
    if found is None:
        return [name]
    words = _words_of(found[1], name)
    rest = expand_braces(name[found.end():])
    if len(words) * len(rest) > MOST_NAMES:
        raise ValueError(f"expand_braces: got {name!r}, which stands for {len(words) * len(rest)} names, expected "
                         f"{MOST_NAMES} at most")
    return [name[:found.start()] + word + end for word in words for end in rest]


def _words_of(inside, name):
    numbers = RANGE.fullmatch(inside)
    if numbers is None:
        return inside.split(",") if "," in inside else ["{" + inside + "}"]
    first, last = int(numbers[1]), int(numbers[2])
    if not first <= last < first + MOST_NAMES:
        raise ValueError(f"expand_braces: got {name!r}, expected a range that rises, of {MOST_NAMES} numbers at most")
    return [f"{number:0{len(numbers[1])}}" for number in range(first, last + 1)]


def list_paths(paths, who):
    """Return the files that a name, or a list of names, stands for.

    Parameters
    ----------
    paths : Union[str, os.PathLike, Sequence]
        The names. A file that is there is taken by its name; otherwise braces and wildcards are expanded, and what a
        wildcard finds is sorted.
    who : str
        Who speaks.

    Returns
    -------
    list of str
        The names of files.

    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    found = [each for path in paths for each in _expand(os.fsdecode(path), who)]
    if not found:
        raise ValueError(f"{who}: got no paths, expected the name of a file, or a list of names")
    return found


def _expand(path, who):
    if not is_remote(path):
        path = local_path(path)
        if os.path.exists(path):
            return [path]
    names = []
    for name in expand_braces(path):
        if not WILD.search(name) or name.startswith(("http://", "https://")):  # what follows "?" there is a question
            names.append(name)
            continue
        there = _glob_remote(name) if is_remote(name) else sorted(glob.glob(name, recursive=True))
        if not there:
            raise FileNotFoundError(f"{who}: got {name!r}, which no file is named like, expected files that are there")
        names += there
    return names


def _glob_remote(name):
    fsspec = ask_fsspec(name)
    system, _, _ = fsspec.get_fs_token_paths(name)
    return [system.unstrip_protocol(each) for each in sorted(system.glob(name))]
