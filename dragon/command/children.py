"""The processes that a program starts, by whatever means: they have the program's guests."""
import functools
import os
import site
import sys

from dragon.vm import alias

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
START = os.path.join(HERE, "start")  # what such a process reads first
PARENT = "DRAGON_PARENT"  # which Python, of which environment, has set PYTHONPATH


def lead():
    """Tell children, through the environment, what is installed here."""
    os.environ[alias.VARIABLE] = alias.FINDER.write_words()
    if is_installed():
        return
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if START not in path:
        os.environ["PYTHONPATH"] = os.pathsep.join([START, *filter(None, path)])
    os.environ[PARENT] = f"{sys.implementation.cache_tag} {sys.prefix}"


def is_installed():
    """Return whether each process of this environment reads, at its start, the `.pth` file that came with Dragon."""
    folder = os.path.dirname(HERE)
    places = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return folder in map(os.path.abspath, places) and os.path.exists(os.path.join(folder, "dragon_guests.pth"))


def follow(words):
    """Install what the parent has told, and return the finder of it."""
    alias.FINDER.roots = read_own_roots
    alias.follow_words(words)
    return alias.FINDER


def read_own_roots():
    """Return the packages that the files of the program import which this process runs."""
    return read_roots(getattr(sys.modules.get("__main__"), "__file__", None) or "")


@functools.cache
def read_roots(path):
    """Return the packages that the files of a program import."""
    from dragon.command import program
    return frozenset(program.list_roots(program.list_files(path)) if os.path.isfile(path) else ())
