"""How processes end: each writes its error to a file that whoever has started it reads."""
import datetime
import functools
import json
import os
import signal
import socket
import time
from dataclasses import dataclass, field

from dragon.vm.torch.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler

_NOT_AVAILABLE = "<N/A>"
_WIDEST = 60  # of the lines around a message


def get_error_handler():
    """Return what writes errors to files."""
    return ErrorHandler()


@dataclass
class ProcessFailure:
    """How a process has failed.

    Parameters
    ----------
    local_rank : int
        Its rank on its machine.
    pid : int
        Its number.
    exitcode : int
        Its exit code; minus a signal's number.
    error_file : str
        The file of its error.

    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict = field(init=False)
    message: str | dict = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self):
        self.error_file_data, self.message, self.timestamp = {"message": "<NONE>"}, "", int(time.time())
        if os.path.isfile(self.error_file):
            with open(self.error_file, encoding="utf-8") as file:
                self.error_file_data = json.load(file)
            self.message = self.error_file_data["message"]
            more = self.error_file_data if isinstance(self.message, str) else self.message["extraInfo"]
            self.timestamp = int(more.get("timestamp", 0))
        else:
            self.error_file = _NOT_AVAILABLE
        if not self.message and self.exitcode < 0:
            self.message = f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        elif not self.message:
            self.error_file_data["errorTraits"] = {"category": "system_terminated_error", "retryability": "False"}
            self.message = ("To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html (functions "
                            "under @record write theirs)")

    def signal_name(self):
        """Return the name of the signal that ended it."""
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return _NOT_AVAILABLE

    def timestamp_isoformat(self):
        """Return when it failed, as text."""
        return datetime.datetime.fromtimestamp(self.timestamp).isoformat(sep="_")

    def _describe(self, number, rank):
        """Return lines about it."""
        text = self.message
        if isinstance(text, dict):
            text = text.get("extraInfo", {}).get("py_callstack", text.get("message", _NOT_AVAILABLE))
            text = text.replace("\n", "\n  ")
        name = "" if self.signal_name() == _NOT_AVAILABLE else f" ({self.signal_name()})"
        return (f"[{number}]:\n"
                f"  time      : {self.timestamp_isoformat()}\n"
                f"  host      : {socket.getfqdn()}\n"
                f"  rank      : {rank} (local_rank: {self.local_rank})\n"
                f"  exitcode  : {self.exitcode} (pid: {self.pid}){name}\n"
                f"  error_file: {self.error_file}\n"
                f"  traceback : {text}")


class ChildFailedError(Exception):
    """Processes have failed; the error of the first one is the reason.

    Parameters
    ----------
    name : str
        What they ran.
    failures : Dict[int, ProcessFailure]
        How each rank has failed.

    """

    def __init__(self, name, failures):
        if not failures:
            raise AssertionError("ChildFailedError: got no failures, expected one or more")
        self.name, self.failures = name, failures
        super().__init__(self.format_msg())

    def get_first_failure(self):
        """Return (rank, failure) of the one that failed first."""
        rank = min(self.failures, key=lambda rank: self.failures[rank].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boarder_delim="=", section_delim="-"):
        """Return the message, within lines of some letters."""
        title, (first, _) = f"{self.name} FAILED", self.get_first_failure()
        texts = {rank: failure._describe(number, rank) for number, (rank, failure) in enumerate(self.failures.items())}
        width = min(max(len(line) for text in (title, *texts.values()) for line in text.split("\n")), _WIDEST)
        others = [text for rank, text in texts.items() if rank != first] or ["  <NO_OTHER_FAILURES>"]
        border, section = boarder_delim * width, section_delim * width
        return "\n".join(["", border, title, section, "Failures:", *others, section,
                          "Root Cause (first observed failure):", texts[first], border])


def record(fn, error_handler=None):
    """Have a function write its error to the file that the environment names, before it raises.

    Parameters
    ----------
    fn : Callable
        The function: a program's `main`.
    error_handler : ErrorHandler, optional
        What writes.

    Returns
    -------
    Callable
        The function that does so.

    """
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def call(*args, **kwargs):
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code == 0:
                return None
            raise
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            if failure.error_file != _NOT_AVAILABLE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise
    return call
