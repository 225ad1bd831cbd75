"""Training that goes on where it was interrupted."""
import json
import os
import shutil

from dragon.core import files
from dragon.vm.keras.callbacks.batch_counter import BatchCounter
from dragon.vm.keras.callbacks.callback import Callback


class BackupAndRestore(Callback):
    """Back up the training's state, and restore it when the same program is started again.

    Parameters
    ----------
    backup_dir : Union[str, os.PathLike]
        A folder for this only.
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

    def _files(self):
        """Yield (file, its older copy)."""
        for path in (self._weights_path, self._training_metadata_path):
            yield path, f"{path}.bkp"

    def on_train_begin(self, logs=None):
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
        if os.path.exists(self._weights_path):
            if model.optimizer is not None and not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
            model.load_weights(self._weights_path)
        if os.path.exists(self._training_metadata_path):
            with open(self._training_metadata_path) as file:
                model._initial_epoch = json.load(file)["epoch"]

    def on_epoch_end(self, epoch, logs=None):
        self._current_epoch = epoch + 1
        self._counter.last = None
        if self.save_freq == "epoch":
            self._save_model()

    def on_train_batch_end(self, batch, logs=None):
        if self._counter.is_full(batch):
            self._save_model()

    def _save_model(self):
        os.makedirs(self.backup_dir, exist_ok=True)
        if self.double_checkpoint:
            for path, older in self._files():
                if os.path.exists(path):
                    files.copy(path, older)
        self.model.save_weights(self._weights_path, overwrite=True)
        files.write(self._training_metadata_path,
                    json.dumps({"epoch": self._current_epoch, "batch": self._counter.last or 0}))

    def on_train_end(self, logs=None):
        if self.delete_checkpoint and os.path.exists(self.backup_dir):
            shutil.rmtree(self.backup_dir)
