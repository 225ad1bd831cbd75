"""Warnings that name the user's line: Python's own module, but for `warn`, which looks for whoever is to be warned.

A count of frames is right for one way through the code; here the first line that is neither Dragon's nor Python's own
is named, however deep the warning arises. It is what filters by module and "once for each line" go by, too.
"""
import os
import sys
import warnings

_DRAGON = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_PACKAGES = (_PYTHON + "site-packages" + os.sep, _PYTHON + "dist-packages" + os.sep)


def __getattr__(name):
    return getattr(warnings, name)


def is_users(path):
    """Return whether a file is neither part of Dragon nor of Python: the user's, or a package's that uses Dragon.

    Parameters
    ----------
    path : str
        As code objects tell it.

    """
    if is_own(path) or path.startswith("<frozen "):
        return False
    return not path.startswith(_PYTHON) or path.startswith(_PACKAGES)


def is_own(path):
    """Return whether a file is part of Dragon.

    Parameters
    ----------
    path : str
        As code objects tell it.

    """
    return path.startswith(_DRAGON)


def warn(message, category=None):
    """Warn at the innermost line of the user's.

    Parameters
    ----------
    message : Union[str, Warning]
        What is said.
    category : type, optional
        The class of the warning; UserWarning, or the message's own, by default.

    """
    frame, level = sys._getframe(1), 2
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    # In a thread of Dragon's own there is no user: then whoever called is named.
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
