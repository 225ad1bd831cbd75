"""Files that are replaced whole: whoever looks, and whenever a process dies, finds the old content or the new.

Content is written beside its place, given to the disk, and renamed. Permissions, links and special files are treated
as `open(path, "wb")` would: a symbolic link is followed, a file that exists keeps its mode, a new one gets the
umask's, and what is no ordinary file (a terminal, a pipe) is written straight. Where the system forbids making a file
beside it or renaming it (a folder that may not be written, a file that is a mount point), the file itself is written,
as ever.

Streams that grow while others read them (records, events, logs) are no business of this module: they are appended to.

Of files that are read, it tells how much they may claim to hold.
"""
import contextlib
import errno
import io
import itertools
import os
import re
import shutil
import stat
import time

# What a process leaves behind if it is killed: ".<name>.<system>-<process>-<its start>-<number>.part".
LEFTOVER = re.compile(r"\..+\.([0-9a-f]{8})-(\d+)-(\d+)-\d+\.part", re.DOTALL)
LONGEST_NAME = 150  # bytes of a file's own name in the name beside it: systems allow 255 in all
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)
STRANGERS_AGE = 86400.0  # seconds without a change after which what another system left is nobody's
MOST_SWEPT, MOST_LINKS = 1000, 40
SMALL_CLAIM, MOST_PACKED = 1 << 26, 100
AT_FDCWD, RENAME_EXCHANGE = -100, 2

_numbers, _swept = itertools.count(), set()


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _system():
    """Return eight digits for this run of this machine and its numbering of processes."""
    if not hasattr(_system, "known"):
        import hashlib
        try:
            numbering = str(os.stat("/proc/self/ns/pid").st_ino).encode()
        except OSError:
            numbering = os.uname().nodename.encode()
        _system.known = hashlib.sha256(_read("/proc/sys/kernel/random/boot_id") + numbering).hexdigest()[:8]
    return _system.known


def _start_of(process):
    """Return when a process started, in the system's ticks; None if there is none."""
    words = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
    if len(words) > 19:
        return int(words[19])
    try:
        os.kill(process, 0)
    except PermissionError:
        return 0
    except OSError:
        return None
    return 0


def _is_left(entry):
    """Return whether a folder's entry was left by a process that is no more."""
    found = LEFTOVER.fullmatch(entry.name)
    if not found:
        return False
    system, process, start = found[1], int(found[2]), int(found[3])
    if system == _system():
        return _start_of(process) != start
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > STRANGERS_AGE


def _remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def sweep(folder):
    """Remove what processes that are no more left in a folder.

    Parameters
    ----------
    folder : str
        The folder.

    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            with contextlib.suppress(OSError):
                if _is_left(entry):
                    _remove(entry.path)


def _sweep_once(folder):
    """Sweep a folder when this process first writes there: looking each time would cost more than writing."""
    key = os.getpid(), folder
    if key not in _swept:
        if len(_swept) >= MOST_SWEPT:
            _swept.clear()
        _swept.add(key)
        sweep(folder)


def _beside(target):
    """Return a name beside a place that tells whose it is."""
    folder, name = os.path.split(target)
    process = os.getpid()
    short = os.fsdecode(os.fsencode(name)[:LONGEST_NAME])
    return os.path.join(folder, f".{short}.{_system()}-{process}-{_start_of(process) or 0}-{next(_numbers)}.part")


def _sync(path):
    """Have what was written reach the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _sync_folder(folder):
    # Some systems cannot do this for folders; the file's content is safe anyway.
    with contextlib.suppress(OSError):
        _sync(folder)


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


def _make(target, found, path):
    """Make an empty file beside a place, with the mode that the place has or would get."""
    if found is not None:
        os.close(os.open(target, os.O_WRONLY))  # whoever may not write the file may not replace it
    place = _beside(target)
    try:
        number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if found is not None and error.errno in FORBIDDEN:
            return None
        raise OSError(error.errno, error.strerror, path) from None
    try:
        if found is not None:
            if os.fstat(number).st_uid != found.st_uid or os.fstat(number).st_gid != found.st_gid:
                with contextlib.suppress(OSError):
                    os.fchown(number, found.st_uid, found.st_gid)
            os.fchmod(number, stat.S_IMODE(found.st_mode))
    finally:
        os.close(number)
    return place


def _put(place, target):
    """Rename a whole file to its place; copy it where that is forbidden."""
    _sync(place)
    try:
        os.replace(place, target)
    except OSError as error:
        if error.errno not in FORBIDDEN or not os.path.exists(target):
            raise
        shutil.copyfile(place, target)
        _remove(place)
    _sync_folder(os.path.dirname(target))


@contextlib.contextmanager
def replacing(path):
    """Give the path of an empty file; what has been written into it takes a place at the end of the `with` block.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The place. If the block raises, what is there stays.

    """
    path = os.fsdecode(path)
    target, found = _target_of(path)
    place = None
    if target is not None:
        _sweep_once(os.path.dirname(target))
        place = _make(target, found, path)
    if place is None:
        yield path
        return
    try:
        yield place
        _put(place, target)
    except BaseException:
        _remove(place)
        raise


@contextlib.contextmanager
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


class _Named(io.BytesIO):
    """Memory under the name of a file: Pillow tells formats by names."""

    def __init__(self, name):
        super().__init__()
        self.name = name


def save_picture(picture, place, kind=None, **options):
    """Write one of Pillow's pictures into a file.

    Parameters
    ----------
    picture : PIL.Image.Image
        The picture.
    place : Union[str, os.PathLike, BinaryIO]
        The file.
    kind : str, optional
        Its format; told by its name by default.
    **options : Any
        As for the picture's `save`.

    """
    if not isinstance(place, (str, bytes, os.PathLike)):
        picture.save(place, format=kind, **options)
        return
    memory = _Named(os.fsdecode(place))
    picture.save(memory, format=kind, **options)
    write(place, memory.getbuffer())


# --- how much a file may claim to hold

def may_hold(claimed, stored):
    """Return whether so many bytes may be packed in so few: beyond a small size, a hundred times as many at most.

    Parameters
    ----------
    claimed, stored : int
        How many bytes there are said to be unpacked, and how many there are.

    """
    return claimed <= SMALL_CLAIM + stored * MOST_PACKED


def check_sizes(archive, size, error, who):
    """Raise an error for a zip archive whose members claim more than a file of its size can honestly hold.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The archive.
    size : int
        How many bytes its file has.
    error : type
        The class of the error.
    who : str
        Who speaks.

    """
    members = archive.infolist()
    if sum(member.compress_size for member in members) > size:
        raise error(f"{who}: got an archive whose members overlap, or have more bytes than its file: it is damaged")
    claimed = sum(member.file_size for member in members)
    if not may_hold(claimed, size):
        raise error(f"{who}: got an archive of {size} bytes that claims to hold {claimed}: it is damaged or hostile")


# --- folders

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


def _put_folder(place, target, names):
    for folder, _, files in os.walk(place):
        for name in files:
            _sync(os.path.join(folder, name))
        _sync_folder(folder)
    try:
        if not os.path.isdir(target):
            os.rename(place, target)
            return
        shutil.copymode(target, place)
        _keep_others(target, place, names)
        if _exchange(place, target):
            return
        # Where names cannot be exchanged, one file after the other is: each is whole, though not all of one time.
        for name in sorted(names):
            source, goal = os.path.join(place, name), os.path.join(target, name)
            if os.path.isdir(goal) or not os.path.lexists(source):
                _remove(goal)
            if os.path.lexists(source):
                os.replace(source, goal)
    finally:
        _remove(place)
        _sync_folder(os.path.dirname(target))


@contextlib.contextmanager
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
    _sweep_once(os.path.dirname(target))
    place = _beside(target)
    os.mkdir(place)
    try:
        yield place
        _put_folder(place, target, names)
    except BaseException:
        _remove(place)
        raise


# --- files that name each other

def replace_pair(head, data, spare, names_spare, write_head, write_data):
    """Replace two files of which one names the other, so that at every moment both are the old or both the new.

    The new data goes where the head that is there does not look; a head that names it takes the old one's place; then
    the same is done once more for the usual name.

    Parameters
    ----------
    head, data, spare : str
        The places of the file that names, of the one that is named, and of what stands in for it meanwhile.
    names_spare : Callable[[str], bool]
        Whether the head at a path names the spare.
    write_head : Callable[[file, str], None]
        Writes the head that names the data at a path.
    write_data : Callable[[file], None]
        Writes the data.

    """
    def put_head(named):
        with rewriting(head) as file:
            write_head(file, named)

    in_use = data if os.path.exists(head) and not names_spare(head) else spare
    first = spare if in_use == data and os.path.exists(data) else data
    with rewriting(first) as file:
        write_data(file)
    put_head(first)
    if first == spare:
        copy(spare, data)  # no second name for it: readers of ONNX refuse files that have two
        put_head(data)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(spare)
