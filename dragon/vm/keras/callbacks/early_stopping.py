"""Stop where nothing gets better."""

from dragon.core import warnings
from dragon.vm.keras.callbacks.monitor_callback import MonitorCallback
from dragon.vm.keras.core.messages import print_msg


class EarlyStopping(MonitorCallback):
    """Stop training when a metric has stopped getting better.

    Parameters
    ----------
    baseline : float, optional
        A value that must be beaten.
    restore_best_weights : bool, optional, default=False
        Whether the model ends with the weights of its best epoch.
    start_from_epoch : int, optional, default=0
        Epochs before this one do not count.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    >>> stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    >>> history = model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=50, verbose=0, callbacks=[stop])
    >>> len(history.epoch)
    3

    """

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None,
                 restore_best_weights=False, start_from_epoch=0):
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None:
            self._set_monitor_op()
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self._keep(epoch)
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self._keep(epoch)
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def _keep(self, epoch):
        self.best_weights, self.best_epoch = self.model.get_weights(), epoch

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print_msg(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print_msg(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs):
        """Return the metric's value, None with a warning where there is no such metric."""
        logs = logs or {}
        if logs.get(self.monitor) is None:
            warnings.warn(f"Early stopping conditioned on metric `{self.monitor}` which is not available. "
                          f"Available metrics are: {','.join(logs)}")
        return logs.get(self.monitor)
