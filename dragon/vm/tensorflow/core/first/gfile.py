"""`tf.compat.v1.gfile`: files under their old names."""
from dragon.vm.tensorflow.io import gfile as _gfile


class FastGFile(_gfile.GFile):
    """A file; see `tf.io.gfile.GFile`."""


def Copy(oldpath, newpath, overwrite=False):
    """Copy a file; one that is there is replaced only if `overwrite` says so."""
    _gfile.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname):
    """Delete a folder and all in it."""
    _gfile.rmtree(dirname)


def Exists(filename):
    """Return whether there is a file or a folder."""
    return _gfile.exists(filename)


def Glob(filename):
    """Return the sorted names that match a pattern, or one of several."""
    return _gfile.glob(filename)


def IsDirectory(dirname):
    """Return whether there is a folder."""
    return _gfile.isdir(dirname)


def ListDirectory(dirname):
    """Return the names in a folder."""
    return _gfile.listdir(dirname)


def MakeDirs(dirname):
    """Make a folder and those it is in, unless they are there."""
    _gfile.makedirs(dirname)


def MkDir(dirname):
    """Make a folder in one that is there."""
    _gfile.mkdir(dirname)


def Remove(filename):
    """Delete a file."""
    _gfile.remove(filename)


def Rename(oldname, newname, overwrite=False):
    """Move a file or a folder; what is there is replaced only if `overwrite` says so."""
    _gfile.rename(oldname, newname, overwrite)


def Stat(filename):
    """Return the length, the time of the last change and whether it is a folder."""
    return _gfile.stat(filename)


def Walk(top, in_order=True):
    """Yield (folder, folders in it, files in it) of a folder and all below."""
    return _gfile.walk(top, in_order)
