"""Errors of the system as TensorFlow calls them."""
import contextlib
import os

from dragon.vm.shared import errors

KINDS = ((FileNotFoundError, errors.NotFoundError), (FileExistsError, errors.AlreadyExistsError),
         (PermissionError, errors.PermissionDeniedError), (IsADirectoryError, errors.FailedPreconditionError),
         (NotADirectoryError, errors.FailedPreconditionError))


def translate(error, path):
    """Return a system's error as TensorFlow calls it."""
    kind = next((ours for theirs, ours in KINDS if isinstance(error, theirs)), errors.UnknownError)
    return kind(None, None, f"{os.fsdecode(path)}; {error.strerror}")


@contextlib.contextmanager
def translated(path):
    """Raise what the system says of a file, within a `with` block, as TensorFlow calls it."""
    try:
        yield
    except OSError as error:
        raise translate(error, path) from None
