"""How many threads a pipeline has, and what they leave to each other."""
import os

from dragon.core import config
from dragon.vm.shared import errors

AUTOTUNE = -1


def thread_count(wanted, who):
    """Return how many threads `num_parallel_calls` asks for: 0 for None, a choice for AUTOTUNE."""
    if wanted is None:
        return 0
    wanted = int(wanted)
    if wanted == AUTOTUNE:
        return max(2, min(os.cpu_count() or 1, 16))
    if wanted < 1:
        raise errors.InvalidArgumentError(
            None, None, f"{who}: num_parallel_calls must be > 0 or tf.data.AUTOTUNE. Received: {wanted}")
    return min(wanted, 64)


def alone(function):
    """Return a function that does the same on one core: one of several calls that run at a time, a core for each."""
    def apply(element):
        before = config.work_alone(True)
        try:
            return function(element)
        finally:
            config.work_alone(before)
    return apply
