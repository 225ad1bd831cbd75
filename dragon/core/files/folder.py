"""A folder, replaced whole: its files belong together."""
import errno
import os
import shutil

from dragon.core.files.leftovers import LEFTOVER, name_beside, remove, sweep_at_save
from dragon.core.files.whole import sync, sync_folder
from dragon.core.scopes import contextmanager

AT_FDCWD, RENAME_EXCHANGE = -100, 2


def _exchange(one, other):
    """Exchange two folders' names in one step; return whether the system can."""
    import ctypes
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    return library.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0


def _link(source, path):
    try:
        os.link(source, path, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, path, follow_symlinks=False)


def _keep_others(folder, place, names):
    """Give a new folder what the old one holds besides files of given names, without moving it."""
    for entry in os.scandir(folder):
        path = os.path.join(place, entry.name)
        if entry.name in names or os.path.lexists(path) or LEFTOVER.fullmatch(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.copytree(entry.path, path, symlinks=True, copy_function=_link)
        elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
            _link(entry.path, path)


def put_folder(place, target, names):
    """Give a whole folder another's place.

    Parameters
    ----------
    place, target : str
        The new folder and where it belongs, on one disk.
    names : Optional[Set[str]]
        What a folder of this kind holds: other things in the old one are kept. None if nothing is.

    """
    for folder, _, files in os.walk(place):
        for name in files:
            sync(os.path.join(folder, name))
        sync_folder(folder)
    try:
        if not os.path.isdir(target):
            os.rename(place, target)
            return
        shutil.copymode(target, place)
        if names is None:
            names = {*os.listdir(target), *os.listdir(place)}
        _keep_others(target, place, names)
        if _exchange(place, target):
            return
        # Where names cannot be exchanged, one file after the other is: each is whole, though not all of one time.
        for name in sorted(names):
            source, goal = os.path.join(place, name), os.path.join(target, name)
            if os.path.isdir(goal) or not os.path.lexists(source):
                remove(goal)
            if os.path.lexists(source):
                os.replace(source, goal)
    finally:
        remove(place)
        sync_folder(os.path.dirname(target))


@contextmanager
def replacing_folder(path, names):
    """Give an empty folder to fill; it takes a place, in one step, at the end of the `with` block.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The place; folders above it are made. If the block raises, what is there stays.
    names : Set[str]
        What a folder of this kind holds. Other things in the old one are kept.

    """
    target = os.path.realpath(os.fsdecode(path))
    if os.path.lexists(target) and not os.path.isdir(target):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    sweep_at_save(os.path.dirname(target))
    place = name_beside(target)
    os.mkdir(place)
    try:
        yield place
        put_folder(place, target, names)
    except BaseException:
        remove(place)
        raise
