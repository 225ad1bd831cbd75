"""Training that goes on where it was interrupted."""
import json
import os
import shutil

from dragon.core import files
from dragon.vm.keras.callbacks.batch_counter import BatchCounter
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.core import global_state
from dragon.vm.keras.core.workers import Workers
from dragon.vm.keras.saving.once import WORKERS
from dragon.vm.shared import strategies
from dragon.vm.shared.tensors.convert import convert_to_tensor


class BackupAndRestore(Callback):
    """Back up the training's state, and restore it when the same program is started again.

    A program may be killed at any moment, also while it writes: it goes on from the last whole backup. Of several
    workers the first one writes and reads, and the others get what it has.

    Parameters
    ----------
    backup_dir : Union[str, os.PathLike]
        A folder for this only.
    save_freq : Union[str, int], optional, default="epoch"
        Every how many batches the state is written, or "epoch": at the end of each. Training goes on from the
        beginning of the epoch in which it was interrupted, with the weights that it had come to.
    double_checkpoint : bool, optional, default=False
        Whether the last backup but one is kept too.
    delete_checkpoint : bool, optional, default=True
        Whether the folder is removed when training is done.

    """

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True):
        super().__init__()
        if not backup_dir:
            raise ValueError(f"Empty `backup_dir` argument passed. Received: backup_dir={backup_dir!r}")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError("Invalid value for argument `save_freq`. Expected either 'epoch' or an integer value. "
                             f"Received: save_freq={save_freq}")
        self.backup_dir, self.save_freq = os.fspath(backup_dir), save_freq
        self.double_checkpoint, self.delete_checkpoint = double_checkpoint, delete_checkpoint
        self._counter = BatchCounter(save_freq)
        self._current_epoch = 0
        self._weights_path = os.path.join(self.backup_dir, "latest.weights.h5")
        self._training_metadata_path = os.path.join(self.backup_dir, "training_metadata.json")
        self._next_weights_path = os.path.join(self.backup_dir, "next.weights.h5")
        self._next_metadata_path = os.path.join(self.backup_dir, "next_metadata.json")

    def _files(self):
        """Yield (file, its older copy)."""
        for path in (self._weights_path, self._training_metadata_path):
            yield path, f"{path}.bkp"

    def on_train_begin(self, logs=None):
        workers = self._workers()
        if workers.index == 0:
            self._restore()
        if workers.size > 1:
            self._spread(workers)

    def _workers(self):
        """Return the processes that train this model together: by Keras's rules, or a strategy's."""
        strategy = strategies.by_number(self.model._strategy_number)
        return global_state.get_global_attribute(WORKERS) or getattr(strategy, "workers", None) or Workers()

    def _spread(self, workers):
        """Have all workers begin with the state that the first one has."""
        model = self.model
        self._build_optimizer()
        for variable in [*model.variables, *(model.optimizer.variables if model.optimizer is not None else ())]:
            workers.make_equal(variable)
        epoch = int(workers.sum(convert_to_tensor((model._initial_epoch or 0) if workers.index == 0 else 0)))
        model._initial_epoch = epoch or None

    def _build_optimizer(self):
        optimizer = self.model.optimizer
        if optimizer is not None and not optimizer.built:
            optimizer.build(self.model.trainable_variables)

    def _restore(self):
        self._take_over()
        try:
            self._load_model()
        except OSError:  # the last file may have been cut off
            if not os.path.exists(f"{self._weights_path}.bkp"):
                raise
            for path, older in self._files():
                if os.path.exists(older):
                    files.copy(older, path)
                elif os.path.exists(path):
                    os.remove(path)
            self._load_model()

    def _load_model(self):
        model = self.model
        if not model.built:
            raise ValueError("BackupAndRestore: the model must be built before `fit()`: call it on a batch of data "
                             f"beforehand. Received: {model}, which is not built")
        if not os.path.exists(self._weights_path):  # without them an epoch means nothing
            return
        self._build_optimizer()
        model.load_weights(self._weights_path)
        if os.path.exists(self._training_metadata_path):
            with open(self._training_metadata_path) as file:
                model._initial_epoch = json.load(file)["epoch"]

    def on_epoch_begin(self, epoch, logs=None):
        self._current_epoch = epoch  # it need not be 0: a program that goes on may be killed before it ends an epoch

    def on_epoch_end(self, epoch, logs=None):
        self._current_epoch = epoch + 1
        self._counter.last = None
        if self.save_freq == "epoch":
            self._save_model()

    def on_train_batch_end(self, batch, logs=None):
        if self._counter.is_full(batch):
            self._save_model()

    def _save_model(self):
        is_first = self._workers().index == 0
        if is_first:
            os.makedirs(self.backup_dir, exist_ok=True)
        if is_first and self.double_checkpoint:
            for path, older in self._files():
                if os.path.exists(path):
                    files.copy(path, older)
        if is_first or global_state.get_global_attribute(WORKERS) is not None:  # there all have to call it
            self.model.save_weights(self._next_weights_path, overwrite=True)
        if is_first:
            files.write(self._next_metadata_path,
                        json.dumps({"epoch": self._current_epoch, "batch": self._counter.last or 0}))
            self._take_over()

    def _take_over(self):
        """Put the next backup into the last one's place, if it is whole: its second file is there."""
        if os.path.exists(self._next_metadata_path):
            if os.path.exists(self._next_weights_path):  # it may have been put there by a process that was killed
                os.replace(self._next_weights_path, self._weights_path)
            os.replace(self._next_metadata_path, self._training_metadata_path)
        elif os.path.exists(self._next_weights_path):
            os.remove(self._next_weights_path)

    def on_train_end(self, logs=None):
        if self.delete_checkpoint and os.path.exists(self.backup_dir) and self._workers().index == 0:
            if os.path.exists(self._weights_path):  # first: what is left by then is no backup
                os.remove(self._weights_path)
            shutil.rmtree(self.backup_dir)
