"""Paths and files as `keras.src.utils.file_utils` handles them; those of remote places are refused by name."""
import os
import re
import shutil

from dragon.core import files

_REMOTE = re.compile(r"(/cns|/cfs|/gcs|/hdfs|/readahead|/placer|/tfhub|.*://)")


def path_to_string(path):
    """Return a path as a string; what is no path, as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def resolve_path(path):
    """Return where a path leads to, links followed."""
    return os.path.realpath(path)  # not of `abspath`, to which "link/.." is nothing: it is what the link's target is in


def resolve_sub_path(base_dir, relative_path):
    """Return where a path below a folder leads to, or None where it leads out of the folder."""
    base_dir = resolve_path(base_dir)
    place = resolve_path(os.path.join(base_dir, relative_path))
    straight = os.path.normpath(os.path.join(base_dir, relative_path))  # what unpacking makes of ".."
    inside = all(os.path.commonpath([one, base_dir]) == base_dir for one in (place, straight))
    return place if inside else None


def is_remote_path(filepath):
    """Return whether a path names a place on another machine."""
    return _REMOTE.match(str(filepath)) is not None


def _local(path):
    if is_remote_path(path):
        _raise_if_no_gfile(path)
    return path


def _raise_if_no_gfile(path):
    raise ValueError("Handling remote paths requires installing TensorFlow (in order to use gfile), whose remote "
                     f"files Dragon does not have: copy the file to this machine. Received path: {path}")


def exists(path):
    """Return whether there is a file or a folder."""
    return os.path.exists(_local(path))


def File(path, mode="r"):  # noqa: N802, Keras's name
    """Open a file."""
    return open(_local(path), mode)


def join(path, *paths):
    """Return parts of a path as one."""
    return os.path.join(path, *paths)


def isdir(path):
    """Return whether there is a folder."""
    return os.path.isdir(_local(path))


def remove(path):
    """Remove a file."""
    return os.remove(_local(path))


def rmtree(path):
    """Remove a folder with all that is in it."""
    return shutil.rmtree(_local(path))


def listdir(path):
    """Return the names of what is in a folder."""
    return os.listdir(_local(path))


def copy(src, dst):
    """Copy a file."""
    dst = _local(dst)
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    if os.path.exists(dst) and os.path.samefile(src, dst):
        raise shutil.SameFileError(f"{src!r} and {dst!r} are the same file")
    files.copy(_local(src), dst)
    shutil.copymode(src, dst)
    return dst


def makedirs(path):
    """Make a folder and those that it lies in."""
    return os.makedirs(_local(path))
