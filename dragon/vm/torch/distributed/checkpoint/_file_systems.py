"""What checkpoints need of a file system, and that of this machine."""
import io
import os
import pathlib
from abc import ABC, abstractmethod

from dragon.core import files
from dragon.core.scopes import contextmanager


class FileSystemBase(ABC):
    """What a file system does for checkpoints."""

    @abstractmethod
    def create_stream(self, path, mode):
        """Return a context of an open file."""

    @abstractmethod
    def concat_path(self, path, suffix):
        """Return the path of a file in a folder."""

    @abstractmethod
    def rename(self, path, new_path):
        """Give a file another name; a file of that name is replaced at once."""

    @abstractmethod
    def init_path(self, path):
        """Return a path as this file system has it."""

    @abstractmethod
    def mkdir(self, path):
        """Make a folder, and those above it."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether a checkpoint can have that path."""

    @abstractmethod
    def exists(self, path):
        """Return whether there is a file."""

    @abstractmethod
    def rm_file(self, path):
        """Remove a file."""


class FileSystem(FileSystemBase):
    """The file system of this machine."""

    @contextmanager
    def create_stream(self, path, mode):
        """Return a context of an open file; one that is written is there once the context has ended well."""
        with (files.rewriting(path, mode) if "w" in mode else open(path, mode)) as stream:
            yield stream

    def concat_path(self, path, suffix):
        """Return the path of a file in a folder."""
        return pathlib.Path(path) / suffix

    def init_path(self, path):
        """Return a path as a `pathlib.Path`."""
        return pathlib.Path(path)

    def rename(self, path, new_path):
        """Give a file another name; a file of that name is replaced at once."""
        os.replace(path, new_path)

    def mkdir(self, path):
        """Make a folder, and those above it."""
        os.makedirs(path, exist_ok=True)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        """Return whether a checkpoint can have that path: some folder above it can be written to."""
        if isinstance(checkpoint_id, pathlib.Path):
            return True
        if "://" in str(checkpoint_id):
            return False
        return any(os.access(folder, os.W_OK) for folder in pathlib.Path(checkpoint_id).absolute().parents)

    def exists(self, path):
        """Return whether there is a file."""
        return os.path.exists(path)

    def rm_file(self, path):
        """Remove a file."""
        os.unlink(path)

    def ls(self, path):
        """Return the paths of what is in a folder."""
        return [os.path.join(path, name) for name in os.listdir(path)]

    def sync_folder(self, path):
        """Wait until the names in a folder are on the disk."""
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _sync(stream):
    """Wait until a file is on the disk; of one that is none of this machine's, until all is."""
    stream.flush()
    try:
        os.fsync(stream.fileno())
    except (AttributeError, io.UnsupportedOperation):
        os.sync()
