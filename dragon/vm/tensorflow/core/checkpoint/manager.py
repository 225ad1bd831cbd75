"""`tf.train.CheckpointManager`: the latest checkpoints of a folder, older ones removed."""
import os
import time

from dragon.vm.tensorflow.core.checkpoint.checkpoint import get_checkpoint_state, remove_checkpoint, update_state


class CheckpointManager:
    """Keep some checkpoints of a folder.

    Parameters
    ----------
    checkpoint : Checkpoint
        What is saved.
    directory : str
        The folder.
    max_to_keep : Optional[int]
        How many checkpoints stay; None: all.
    keep_checkpoint_every_n_hours : float, optional
        Beside those, one in so many hours stays.
    checkpoint_name : str, optional, default="ckpt"
        What the files' names begin with.
    step_counter : Variable, optional
        Numbers the checkpoints.
    checkpoint_interval : int, optional
        How many steps apart checkpoints are at least.
    init_fn : Callable, optional
        Called by `restore_or_initialize` where there is no checkpoint.
    last_checkpoint_step : int, optional
        The step of the last checkpoint, from which the interval is counted.

    """

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None, last_checkpoint_step=None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None. Received: "
                             f"checkpoint_interval={checkpoint_interval}")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._limit, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._counter, self._interval, self._init = step_counter, checkpoint_interval, init_fn
        self._last_step = last_checkpoint_step
        state = get_checkpoint_state(self._directory)
        self._kept_since = state.last_preserved_timestamp if state and state.last_preserved_timestamp else time.time()
        self._paths = {}
        if state:
            times = state.all_model_checkpoint_timestamps or [time.time()] * len(state.all_model_checkpoint_paths)
            self._paths = dict(zip(state.all_model_checkpoint_paths, times))
        self._latest = state.model_checkpoint_path if state and state.model_checkpoint_path else None

    directory = property(lambda self: self._directory, doc="str: the folder.")
    checkpoint = property(lambda self: self._checkpoint, doc="Checkpoint: what is saved.")
    checkpoint_interval = property(lambda self: self._interval, doc="Optional[int]: how many steps apart.")
    latest_checkpoint = property(lambda self: self._latest, doc="Optional[str]: the prefix of the latest checkpoint.")
    checkpoints = property(lambda self: list(self._paths), doc="List[str]: the prefixes that stay, latest last.")

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Write a checkpoint and remove those that are too many; returns its prefix.

        Parameters
        ----------
        checkpoint_number : int, optional
            Its number; by default the next one, or the step's.
        check_interval : bool, optional, default=True
            Whether nothing is written, and None returned, too soon after the last one.

        Returns
        -------
        Optional[str]
            The prefix.

        """
        step = None if self._counter is None else int(self._counter)
        if check_interval and self._interval is not None and self._last_step is not None and (
                step - self._last_step < self._interval):
            return None
        counter = self._checkpoint._counter()
        counter.assign_add(1)
        number = int(checkpoint_number) if checkpoint_number is not None else step if step is not None else int(counter)
        path = self._checkpoint.write(f"{self._prefix}-{number}")
        self._last_step, self._latest = step, path
        self._paths.pop(path, None)
        self._paths[path] = time.time()
        removed = self._sweep()
        update_state(self._directory, path, list(self._paths), list(self._paths.values()), self._kept_since)
        for old in removed:
            remove_checkpoint(old)
        return path

    def _sweep(self):
        """Return the checkpoints that are too many."""
        removed = []
        while self._limit is not None and len(self._paths) > self._limit:
            path, stamp = next(iter(self._paths.items()))
            del self._paths[path]
            if self._hours is not None and stamp > self._kept_since + self._hours * 3600:
                self._kept_since = stamp
            else:
                removed.append(path)
        return removed

    def restore_or_initialize(self):
        """Restore the latest checkpoint, or call the function for a first start; returns the prefix or None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._counter is not None:
                self._last_step = int(self._counter)
            return self._latest
        if self._init is not None:
            self._init()
        return None

    def sync(self):
        """Do nothing: checkpoints are written at once."""
