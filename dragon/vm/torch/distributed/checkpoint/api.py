"""What goes wrong while a checkpoint is saved or loaded, told by all processes."""
import traceback


def _wrap_exception(error):
    """Return an exception with the places it came through, as another process can be told."""
    places = traceback.extract_tb(error.__traceback__)
    for place in places:
        if hasattr(place, "_code"):  # newer versions of Python keep code there, which has no pickle
            object.__setattr__(place, "_code", None)
    return error, places


def _is_wrapped_exception(value):
    """Return whether a value is what `_wrap_exception` returns."""
    return (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], BaseException)
            and isinstance(value[1], traceback.StackSummary))


class CheckpointException(BaseException):
    """Some processes could not do their part of a checkpoint.

    Parameters
    ----------
    msg : str
        What they were doing.
    failures : Dict[int, Tuple[BaseException, traceback.StackSummary]]
        The error of each rank that failed.

    """

    def __init__(self, msg, failures):
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self):
        """The error of each rank that failed: {rank: (error, places)}."""
        return self._failures

    def __str__(self):
        parts = [f"CheckpointException ranks:{self._failures.keys()}\n"]
        for rank, (error, places) in self._failures.items():
            parts.append(f"Traceback (most recent call last): (RANK {rank})\n")
            parts += traceback.format_list(places or [])
            parts += traceback.format_exception_only(type(error), error)
        return "".join(parts)
