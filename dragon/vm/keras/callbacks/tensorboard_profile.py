"""The times of some batches' operators, as TensorBoard's profiler shows them."""
import gzip
import json
import os
import time

from dragon.core import files


class BatchProfile:
    """Note operators from one batch to another.

    Parameters
    ----------
    batches : Union[int, Tuple[int, int], str]
        A batch, or the first and the last; 0 for none.

    """

    def __init__(self, batches):
        given = batches
        if isinstance(batches, str):
            batches = [int(part) for part in batches.split(",")]
            batches = batches[0] if len(batches) == 1 else batches
        if isinstance(batches, int):
            batches = (batches, batches)
        if not isinstance(batches, (tuple, list)) or len(batches) != 2 or batches[0] < 0 or batches[1] < batches[0]:
            raise ValueError("profile_batch must be a non-negative integer or a pair of positive integers, the first "
                             f"and the last batch. Received: {given}")
        self.first, self.last = batches
        self._running = None

    def begin(self, batch):
        """Start before the first batch."""
        if batch == self.first and self._running is None:
            from dragon.core.profile import profile
            self._running = profile()
            self._profile = self._running.__enter__()

    def end(self, batch, folder):
        """Stop after the last batch."""
        if self._running is not None and batch >= self.last:
            self.stop(folder)

    def stop(self, folder):
        """Write what was noted, if anything was."""
        if self._running is None:
            return
        self._running.__exit__(None, None, None)
        self._running = None
        place = os.path.join(folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        os.makedirs(place, exist_ok=True)
        files.write(os.path.join(place, "dragon.trace.json.gz"),
                    gzip.compress(json.dumps(self._profile.chrome_trace()).encode()))
