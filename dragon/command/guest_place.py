"""Where guests are installed, what lies there, and how it is put there and taken away: whole, or not at all."""
import contextlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import site
import sys
import sysconfig
from collections import namedtuple
from importlib.machinery import PathFinder

from dragon.command.guest_files import damaged, info_name, write
from dragon.command.parser import Mistake
from dragon.vm.alias import MARK

# What lies under a guest's name: its package and metadata, and where an install that was killed left what it had.
# `state` is "absent", "whole", "torn" (ours, not whole), or "genuine".
Finding = namedtuple("Finding", "guest paths staging state version")


def choose_folder(target=None, user=False):
    """Return the folder for packages, or raise a letter.

    Parameters
    ----------
    target : str, optional
        A folder that was named.
    user : bool, optional, default=False
        Whether the user's own folder is meant.

    Returns
    -------
    pathlib.Path
        The folder, which may not exist yet.

    """
    if target is not None:
        path = pathlib.Path(target).absolute()
        if path.exists() and not path.is_dir():
            raise Mistake(f"got --target {target}, expected a folder")
        return path
    if user:
        if not site.ENABLE_USER_SITE:
            raise Mistake(f"got --user, expected a Python that reads {site.getusersitepackages()}, which this one does "
                          "not; leave --user out")
        return pathlib.Path(site.getusersitepackages())
    if sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"),
                                                                     "EXTERNALLY-MANAGED")):
        raise Mistake(f"got {sys.prefix}, which the system's own packages are in and which says that it is managed by "
                      "them; expected a virtual environment, or --target FOLDER")
    return pathlib.Path(sysconfig.get_path("purelib"))


def staging_of(folder, guest):
    """Return the folder in which a guest is written before it is moved to its place."""
    return folder / f".dragon-guest-{guest}"


def is_marked(path):
    """Return whether a folder is ours."""
    return (path / MARK).is_file()


def list_infos(folder, guest):
    """Return the folders and files of metadata that stand for a distribution of a name."""
    names = os.listdir(folder) if folder.is_dir() else ()
    pattern = re.compile(rf"{guest}(-[^-]*(-py[\d.]+)?)?\.(dist-info|egg-info|egg-link)", re.IGNORECASE)
    return sorted(folder / name for name in names if pattern.fullmatch(name))


def list_leftovers(folder, guest):
    """Return the package's folder if nothing is in it but bytecode, as some uninstallers leave it."""
    package = folder / guest
    if package.is_dir() and all(path.is_dir() or path.suffix == ".pyc" for path in package.rglob("*")):
        return [package]
    return []


def survey(folder, guest):
    """Return what lies under a guest's name in a folder.

    Parameters
    ----------
    folder : pathlib.Path
        A folder for packages.
    guest : str
        Such as "torch".

    Returns
    -------
    Finding
        The finding.

    """
    infos = list_infos(folder, guest)
    modules = [path for path in folder.glob(f"{guest}.*") if path.suffix in (".py", ".so", ".pyc")]
    paths = [path for path in (folder / guest, *infos, *modules)
             if os.path.lexists(path) and path not in list_leftovers(folder, guest)]
    staging = staging_of(folder, guest)
    version = infos[0].name.partition("-")[2].removesuffix(".dist-info") if infos else None
    if not all(map(is_marked, paths)):
        state = "genuine"
    elif not paths and not staging.exists():
        state = "absent"
    elif len(paths) == 2 and len(infos) == 1 and not staging.exists() and not damaged(infos[0]):
        state = "whole"
    else:
        state = "torn"
    return Finding(guest, paths, staging, state, version)


def find_genuine(guest, folder, elsewhere):
    """Return where something lies that has a guest's name and is not ours, or None.

    Parameters
    ----------
    guest : str
        Such as "torch".
    folder : pathlib.Path
        Where the guest is to go.
    elsewhere : bool
        Whether the environment's other folders matter, too.

    Returns
    -------
    str or None
        The place.

    """
    finding = survey(folder, guest)
    if finding.state == "genuine":
        return str(next(path for path in finding.paths if not is_marked(path)))
    if not elsewhere:
        return None
    places = list(dict.fromkeys([*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE
                                                            else [])]))
    spec = PathFinder.find_spec(guest, places)
    for place in (*(spec.submodule_search_locations or [spec.origin]),) if spec is not None else ():
        if not is_marked(pathlib.Path(place)):
            return place
    for distribution in importlib.metadata.Distribution.discover(name=guest, path=places):
        if distribution.read_text(MARK) is None:
            return str(distribution.locate_file(""))
    return None


def remove(finding):
    """Take away all of a guest that is ours; return whether there was anything."""
    found = [path for path in finding.paths if is_marked(path)]
    if not found and not finding.staging.exists():
        return False
    with letters(finding.staging.parent):
        bin = finding.staging / "old"
        bin.mkdir(parents=True, exist_ok=True)
        for path in found:
            # At once, so that nothing half is ever in its place, whenever this is killed.
            shutil.rmtree(bin / path.name, ignore_errors=True)
            os.rename(path, bin / path.name)
        shutil.rmtree(finding.staging)
    return True


class Installation:
    """Several guests that come into a folder, all or none.

    Parameters
    ----------
    folder : pathlib.Path
        A folder for packages.
    guests : Sequence[str]
        Their names. What is there of them already is replaced.

    """

    def __init__(self, folder, guests):
        self.folder, self.guests, self.moved, self.stubs = folder, guests, [], {}

    def run(self):
        """Write all, then move all to their places; whatever fails is undone."""
        try:
            with letters(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                for guest in self.guests:
                    self.write(guest)
                for guest in self.guests:
                    self.place(guest)
        except BaseException:
            self.undo()
            raise
        for guest in self.guests:
            shutil.rmtree(staging_of(self.folder, guest))

    def write(self, guest):
        """Write a guest beside its place."""
        staging = staging_of(self.folder, guest)
        if staging.exists():  # what an install that was killed left
            shutil.rmtree(staging)
        (staging / "new").mkdir(parents=True)
        (staging / "old").mkdir()
        self.stubs[guest] = write(guest, staging / "new")

    def place(self, guest):
        """Move what was there out of the way, and what was written to its place."""
        finding = survey(self.folder, guest)
        staging = finding.staging
        for path in (*finding.paths, *list_leftovers(self.folder, guest)):
            self.move(path, staging / "old" / path.name)
        # The package first: without metadata pip does not know it, and the next install or remove mends it.
        for name in (guest, info_name(guest)):
            self.move(staging / "new" / name, self.folder / name)

    def move(self, source, target):
        """Move something, and remember it: before it is done, since an interrupt may come between."""
        self.moved.append((source, target))
        os.rename(source, target)

    def undo(self):
        """Bring back what was there."""
        while self.moved:
            source, target = self.moved[-1]
            if os.path.lexists(target):  # else it was not moved yet
                os.rename(target, source)
            self.moved.pop()
        for guest in self.guests:
            shutil.rmtree(staging_of(self.folder, guest), ignore_errors=True)


@contextlib.contextmanager
def letters(folder):
    """Turn what the system refuses into a letter."""
    try:
        yield
    except OSError as error:
        raise Mistake(f"got {folder}, expected a folder that can be written to ({error.strerror or error}): a virtual "
                      "environment, --user, or --target FOLDER") from None
