"""Messages to the person at the terminal: printed, or sent to a log where nobody sits there."""
import logging
import sys

_LEVELS = ("FATAL", "ERROR", "WARNING", "INFO", "DEBUG")
_BAR, _PLAIN_BAR = "━", "="


class _State:
    interactive = True


def enable_interactive_logging():
    """Print messages and progress bars, as is the default."""
    _State.interactive = True


def disable_interactive_logging():
    """Send messages and progress bars to the logger `absl` instead of printing them."""
    _State.interactive = False


def is_interactive_logging_enabled():
    """Return whether messages are printed.

    Returns
    -------
    bool
        Whether they are.

    """
    return _State.interactive


def set_logging_verbosity(level):
    """Set from which level on the logger `absl` reports.

    Parameters
    ----------
    level : str
        "FATAL", "ERROR", "WARNING", "INFO" or "DEBUG".

    """
    if level not in _LEVELS:
        raise ValueError(f"set_logging_verbosity: expected one of {_LEVELS}. Received: {level}")
    logging.getLogger("absl").setLevel(getattr(logging, level))


def print_msg(message, line_break=True):
    """Print a message, or log it."""
    message = str(message)
    if not _State.interactive:
        logging.getLogger("absl").info(message)
        return
    message += "\n" if line_break else ""
    try:
        sys.stdout.write(message)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(message.replace(_BAR, _PLAIN_BAR).encode(encoding, errors="ignore").decode(encoding))
    sys.stdout.flush()


def ask_to_proceed_with_overwrite(path):
    """Ask whether a file may be overwritten, until the answer is "y" or "n".

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    bool
        Whether it may.

    """
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "y":
        print_msg("[TIP] Next time specify overwrite=True!")
    return answer == "y"
