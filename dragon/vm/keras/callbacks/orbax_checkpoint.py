"""Checkpoints of the package Orbax, written while a model is trained."""
import os

from dragon.core import warnings
from dragon.vm.keras.callbacks.batch_counter import BatchCounter
from dragon.vm.keras.callbacks.monitor_callback import MonitorCallback
from dragon.vm.keras.core.lazy_modules import ocp
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.saving import orbax


class OrbaxCheckpoint(MonitorCallback):
    """Write the state of training into a folder, a step at a time; needs the package `orbax-checkpoint`.

    `keras.saving.load_model` and `load_weights` read what it writes, those of genuine Keras too.

    Parameters
    ----------
    directory : Union[str, os.PathLike]
        The folder.
    monitor : str, optional, default="val_loss"
        The metric that says which model is the best.
    save_best_only : bool, optional, default=False
        Whether only a better model is saved.
    save_freq : Union[str, int], optional, default="epoch"
        "epoch", or after how many batches.
    initial_value_threshold : float, optional
        A value that must be beaten.
    max_to_keep : Optional[int], optional, default=1
        How many of the latest steps stay; all for None.
    save_on_background : bool, optional, default=True
        Whether training goes on meanwhile.
    save_weights_only : bool, optional, default=False
        Whether it is weights alone, which need a model to be read into.

    """

    def __init__(self, directory, monitor="val_loss", verbose=0, save_best_only=False, mode="auto", save_freq="epoch",
                 initial_value_threshold=None, max_to_keep=1, save_on_background=True, save_weights_only=False):
        ocp.initialize()
        super().__init__(monitor, mode, initial_value_threshold)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values")
        self.directory, self.verbose, self.save_freq = os.fspath(directory), verbose, save_freq
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.max_to_keep, self.save_on_background = max_to_keep, save_on_background
        self._counter = BatchCounter(save_freq)
        self._total_batches_seen, self._writing = 0, []
        policies = ocp.training
        self.checkpointer = policies.Checkpointer(
            directory=self.directory, save_decision_policy=policies.save_decision_policies.FixedIntervalPolicy(1),
            preservation_policy=None if max_to_keep is None else
            policies.preservation_policies.LatestN(max_to_keep))

    def set_model(self, model):
        super().set_model(model)
        if getattr(model, "optimizer", None) is not None:
            self._total_batches_seen = int(model.optimizer.iterations)  # a model that was read goes on counting

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq == "epoch":
            return
        last = self._counter.last
        self._total_batches_seen += batch + 1 if last is None or batch <= last else batch - last
        if self._counter.is_full(batch) and self._is_worth(logs, f"batch {batch}"):
            self._save_checkpoint(self._total_batches_seen)

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None and self.save_best_only:
            self._set_monitor_op()
        if self.save_freq == "epoch" and self._is_worth(logs, f"epoch {epoch}"):
            self._save_checkpoint(epoch)

    def _is_worth(self, logs, when):
        """Return whether a model is to be saved; note the best value."""
        if not self.save_best_only:
            return True
        if self.monitor_op is None:
            self._set_monitor_op()
        current = (logs or {}).get(self.monitor)
        if current is None:
            warnings.warn(f"Can save best model only with {self.monitor} available, skipping save at {when}.")
            return False
        if not self._is_improvement(current, self.best):
            return False
        self.best = current
        return True

    def _save_checkpoint(self, step, logs=None):
        told = orbax.describe(self.model, self.save_weights_only)
        if self.verbose > 0:
            print_msg(f"\nOrbaxCheckpoint: saving step {step} to {self.directory}")
        if self.save_on_background:
            self._writing.append(self.checkpointer.save_checkpointables_async(step, told))
        else:
            self.checkpointer.save_checkpointables(step, told)

    def on_train_end(self, logs=None):
        self.wait_until_finished()
        self.checkpointer.close()

    def wait_until_finished(self):
        """Wait for what is being written."""
        for future in self._writing:
            future.result()
        self._writing.clear()

    def is_multihost_enabled(self):
        """Return False: there is one process."""
        return False

    def is_primary_host(self):
        """Return True: there is one process."""
        return True
