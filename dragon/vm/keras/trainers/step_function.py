"""The graphs of a training's step."""
import threading

from dragon.core.capture.function import Function


class StepFunction(Function):
    """A step's graphs."""

    @property
    def watches_draws(self):
        """Whether draws from NumPy are the step's own; where other threads make batches, nobody can tell."""
        return threading.active_count() == 1
