"""One file, replaced whole."""
import contextlib
import errno
import os
import shutil
import stat

from dragon.core.files.leftovers import name_beside, remove, sweep_at_save
from dragon.core.scopes import contextmanager

FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)
MOST_LINKS = 40


def sync(path):
    """Have what was written reach the disk.

    Parameters
    ----------
    path : str
        The file or folder.

    """
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(folder):
    """Have a folder's names reach the disk, where the system can.

    Parameters
    ----------
    folder : str
        The folder.

    """
    # Some systems cannot do this for folders; the file's content is safe anyway.
    with contextlib.suppress(OSError):
        sync(folder)


def _is_number(path):
    """Return whether a path, as /dev/stdout does, leads to the number of an open file: its place is the owner's."""
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(path))
        if folder.startswith("/proc/"):
            return True
        if not os.path.islink(path):
            return False
        path = os.path.join(folder, os.readlink(path))
    return False


def _target_of(path):
    """Return (the place that a path leads to, its status or None); no place if it is to be written straight."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        # A path that ends in a slash, or is empty, names no file: opening it says so.
        return (os.path.realpath(path) if os.path.basename(path) else None), None
    if not stat.S_ISREG(found.st_mode) or _is_number(path):
        return None, found
    return os.path.realpath(path), found


def _take_over(number, found):
    """Give an open file the owner and the mode of the one that it will replace."""
    made = os.fstat(number)
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(number, found.st_uid, found.st_gid)
    os.fchmod(number, stat.S_IMODE(found.st_mode))


def _make(place, target, found, path):
    """Make an empty file beside a place, with the mode that the place has or would get; return if that is allowed."""
    if found is not None:
        os.close(os.open(target, os.O_WRONLY))  # whoever may not write the file may not replace it
    try:
        number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if found is not None and error.errno in FORBIDDEN:
            return False
        raise OSError(error.errno, error.strerror, path) from None
    try:
        if found is not None:
            _take_over(number, found)
    finally:
        os.close(number)
    return True


def _put(place, target):
    """Rename a whole file to its place; copy it where that is forbidden."""
    sync(place)
    try:
        os.replace(place, target)
    except OSError as error:
        if error.errno not in FORBIDDEN or not os.path.exists(target):
            raise
        shutil.copyfile(place, target)
        remove(place)
    sync_folder(os.path.dirname(target))


@contextmanager
def replacing(path):
    """Give the path of an empty file; what has been written into it takes a place at the end of the `with` block.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The place. If the block raises, what is there stays.

    """
    path = os.fsdecode(path)
    target, found = _target_of(path)
    if target is None:
        yield path
        return
    sweep_at_save(os.path.dirname(target))
    place = name_beside(target)
    try:
        is_made = _make(place, target, found, path)
        yield place if is_made else path
        if is_made:
            _put(place, target)
    except BaseException:
        remove(place)
        raise


@contextmanager
def rewriting(path, mode="wb", **options):
    """Give a file to write; its content takes a place at the end of the `with` block.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The place. If the block raises, what is there stays.
    mode : str, optional, default="wb"
        As for `open`, "w" in one of its forms.
    **options : Any
        As for `open`.

    """
    with replacing(path) as place, open(place, mode, **options) as file:
        yield file


def write(path, data):
    """Write bytes, or text as UTF-8, into a file that has them all or stays as it was.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The file.
    data : Union[str, bytes, bytearray, memoryview]
        What it is to hold.

    """
    with rewriting(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def copy(source, path):
    """Copy a file's content into another, which has it all or stays as it was.

    Parameters
    ----------
    source, path : Union[str, bytes, os.PathLike]
        The file to read, and the one to write.

    """
    with open(source, "rb") as original, rewriting(path) as file:
        shutil.copyfileobj(original, file)


def second_name(source, path):
    """Give a file a second name beside it, or a copy there where files cannot have two.

    Parameters
    ----------
    source, path : str
        The file, and the place.

    """
    with replacing(path) as place:
        if place != path:
            os.unlink(place)
            with contextlib.suppress(OSError):
                os.link(source, place)
                return
        shutil.copyfile(source, place)


def move(source, path):
    """Move a file to a place as if it were written there: with the place's mode, through links.

    Parameters
    ----------
    source, path : Union[str, bytes, os.PathLike]
        The file, which is gone afterwards, and the place.

    """
    with replacing(path) as place:
        if place == os.fsdecode(path):  # it is written straight
            shutil.copyfile(source, place)
            remove(source)
            return
        number = os.open(source, os.O_RDONLY)
        try:
            _take_over(number, os.stat(place))
        finally:
            os.close(number)
        try:
            os.replace(source, place)
        except OSError as error:
            if error.errno != errno.EXDEV:  # a link leads to another disk
                raise
            shutil.copyfile(source, place)
            remove(source)
