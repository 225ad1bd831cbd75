"""How many threads a pipeline has."""
import os

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
