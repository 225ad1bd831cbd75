"""Models and weights saved while they are trained."""
import os
import re

from dragon.core import warnings
from dragon.vm.keras.callbacks.batch_counter import BatchCounter
from dragon.vm.keras.callbacks.monitor_callback import MonitorCallback
from dragon.vm.keras.core.messages import print_msg


class ModelCheckpoint(MonitorCallback):
    """Save the model, or its weights, at some frequency.

    Parameters
    ----------
    filepath : Union[str, os.PathLike]
        Where to; may name "{epoch}", "{batch}" and metrics, as "{val_loss:.2f}".
    monitor : str, optional, default="val_loss"
        The metric that says which model is the best.
    save_best_only : bool, optional, default=False
        Whether only a better model is saved.
    save_weights_only : bool, optional, default=False
        Whether only weights are saved, in a file that ends in ".weights.h5".
    initial_value_threshold : float, optional
        A value that must be beaten.

    Examples
    --------
    >>> import os, tempfile
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile(loss="mse")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "epoch-{epoch}.keras")
    ...     _ = model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, verbose=0,
    ...                   callbacks=[keras.callbacks.ModelCheckpoint(path)])
    ...     print(sorted(os.listdir(folder)))
    ['epoch-1.keras', 'epoch-2.keras']

    """

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False,
                 mode="auto", save_freq="epoch", initial_value_threshold=None):
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath, self.verbose, self.save_freq = os.fspath(filepath), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: expected 'epoch' or a number of batches. Received: {save_freq}")
        endings = (".weights.h5",) if save_weights_only else (".keras", ".h5")
        if not self.filepath.endswith(endings):
            kind = " with `save_weights_only=True`" if save_weights_only else ""
            raise ValueError(f"ModelCheckpoint{kind}: the filepath provided must end in `{endings[0]}`. "
                             f"Received: filepath={self.filepath}")
        self._counter = BatchCounter(save_freq)
        self._current_epoch = 0

    def on_train_batch_end(self, batch, logs=None):
        if self._counter.is_full(batch):
            self._save_model(self._current_epoch, batch, logs)

    def on_epoch_begin(self, epoch, logs=None):
        self._current_epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None:
            self._set_monitor_op()
        if self.save_freq == "epoch":
            self._save_model(epoch, None, logs)

    def _set_monitor_op(self):
        try:
            super()._set_monitor_op()
        except ValueError:
            if self.save_best_only:  # otherwise nobody asks which direction is better
                raise

    def _should_save(self, epoch, logs, path):
        """Return whether a model is worth being saved; say so."""
        if not self.save_best_only:
            self._say(epoch, f"saving model to {path}")
            return True
        current = (logs or {}).get(self.monitor)
        if current is None or getattr(current, "ndim", 0):
            reason = "available" if current is None else f"a scalar. Received: {current}"
            warnings.warn(f"Can save best model only with {self.monitor} {reason}.")
            return True
        best = "None" if self.best is None else f"{self.best:.5f}"
        if not self._is_improvement(current, self.best):
            self._say(epoch, f"{self.monitor} did not improve from {best}")
            return False
        self._say(epoch, f"{self.monitor} improved from {best} to {current:.5f}, saving model to {path}")
        self.best = current
        return True

    def _say(self, epoch, text):
        if self.verbose > 0:
            print_msg(f"\nEpoch {epoch + 1}: {text}")

    def _save_model(self, epoch, batch, logs):
        path = self._path(epoch, batch, logs or {})
        if not self._should_save(epoch, logs, path):
            return
        if os.path.isdir(path):
            raise IOError("ModelCheckpoint: expected a filepath that is no directory. "
                          f"Received an existing directory: {path}")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        self._say(epoch, f"finished saving model to {path}")

    def _path(self, epoch, batch, logs):
        numbers = {"epoch": epoch + 1, **logs}
        if batch is not None and "batch" not in logs:
            numbers["batch"] = batch + 1
        try:
            return self.filepath.format(**numbers)
        except KeyError as error:
            raise KeyError(f"ModelCheckpoint: the filepath names a metric that is not there: {error}. "
                           f'Received: "{self.filepath}"') from None

    def _get_most_recently_modified_file_matching_pattern(self, pattern):
        """Return the youngest file that a pattern with "{...}" could have named; of several, the last by name."""
        folder = os.path.dirname(pattern)
        names = re.compile(f"^{re.sub(r'{.*}', r'.*', os.path.basename(pattern))}$")
        paths = [os.path.join(folder, name) for name in (os.listdir(folder) if os.path.isdir(folder) else ())
                 if names.match(name)]
        if not paths:
            return None
        latest = max(map(os.path.getmtime, paths))
        youngest = [path for path in paths if os.path.getmtime(path) == latest]
        return youngest[0] if len(youngest) == 1 else max(paths)
