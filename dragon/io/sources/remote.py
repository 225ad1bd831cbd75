"""Files by their names, wherever they are: on this machine, or behind a protocol that fsspec knows."""
import contextlib
import importlib
import os

from dragon.core import files
from dragon.core.distribution import install_words

FILE = "file://"


def is_remote(path):
    """Return whether a name is one of another machine or of no file at all: "s3://bucket/a.tar"."""
    return "://" in os.fsdecode(path) and not os.fsdecode(path).startswith(FILE)


def local_path(path):
    """Return the name of a file of this machine without a protocol."""
    return os.fsdecode(path).removeprefix(FILE)


def ask_fsspec(path):
    """Return the package fsspec, or raise a letter that names it."""
    try:
        return importlib.import_module("fsspec")
    except ImportError:
        raise ModuleNotFoundError(f"open_file: got {path}, expected a file of this machine, or the package fsspec: "
                                  f"{install_words('data')}", name="fsspec") from None


def open_file(path, mode="rb"):
    """Open a file, of this machine or any other.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        Its name; with a protocol ("https://", "s3://", "memory://") the package fsspec opens it.
    mode : str, optional, default="rb"
        "rb" or "wb".

    Returns
    -------
    file
        The open file.

    """
    if mode not in ("rb", "wb"):
        raise ValueError(f"open_file: got mode {mode!r}, expected 'rb' or 'wb'")
    if not is_remote(path):
        file = open(local_path(path), mode)
        if mode == "rb":
            files.check_end(file)
        return file
    return _open_by(path, lambda fsspec, name: fsspec.open(name, mode).open())


@contextlib.contextmanager
def open_whole(path):
    """Open a file to write bytes: on this machine it has them all at the end of the `with` block, or stays as it was.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        Its name, as for `open_file`.

    """
    with (open_file(path, "wb") if is_remote(path) else files.rewriting(local_path(path))) as file:
        yield file


def open_parts(path):
    """Open a file of another machine for reading by place: what is read is asked for, and nothing besides.

    Parameters
    ----------
    path : Union[str, os.PathLike]
        Its name, with a protocol.

    Returns
    -------
    tuple
        What must stay while it is open: an archive closes its files when it goes; and the open file.

    """
    def open_bare(fsspec, name):
        system, inner = fsspec.core.url_to_fs(name)
        return system, system.open(inner, "rb", cache_type="none")
    return _open_by(path, open_bare)


def _open_by(path, function):
    path = os.fsdecode(path)
    try:
        return function(ask_fsspec(path), path)
    except ImportError as error:
        if error.name == "fsspec":
            raise
        # fsspec tells which package the protocol needs: "install aiohttp", ...
        raise ModuleNotFoundError(f"open_file: got {path}, expected what its protocol needs: {error}",
                                  name=error.name) from None


def size_of(path):
    """Return how many bytes a file has."""
    if not is_remote(path):
        return os.stat(local_path(path)).st_size
    with open_file(path) as file:
        return file.seek(0, os.SEEK_END)
