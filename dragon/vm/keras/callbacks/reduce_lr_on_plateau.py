"""Learn more slowly where nothing gets better."""

from dragon.core import warnings
from dragon.vm.keras.callbacks import learning_rate
from dragon.vm.keras.callbacks.monitor_callback import MonitorCallback
from dragon.vm.keras.core.messages import print_msg


class ReduceLROnPlateau(MonitorCallback):
    """Reduce the learning rate when a metric has stopped getting better.

    Parameters
    ----------
    factor : float, optional, default=0.1
        What the learning rate is multiplied with.
    cooldown : int, optional, default=0
        Epochs after a reduction that do not count.
    min_lr : float, optional, default=0.0
        The least learning rate.
    **kwargs
        Accepted for the sake of older programs.

    """

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=1e-4,
                 cooldown=0, min_lr=0.0, **kwargs):
        super().__init__(monitor, mode, min_delta=min_delta)
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0. Received factor=" f"{factor}")
        self.factor, self.min_lr, self.patience = factor, min_lr, patience
        self.verbose, self.cooldown = verbose, cooldown
        self._reset()

    def _reset(self):
        self.best = None
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor_op is None:
            self._set_monitor_op()
        logs = {} if logs is None else logs
        learning_rate.log(self.model, logs)
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. "
                          f"Available metrics are: {','.join(logs)}.")
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and self._reduce(epoch):
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _reduce(self, epoch):
        """Reduce what can be reduced; return whether there was something."""
        reduced = False
        for optimizer, suffix in learning_rate.list_optimizers(self.model):
            old = learning_rate.read(optimizer)
            if old <= _single(self.min_lr):
                continue
            reduced, new = True, max(old * self.factor, self.min_lr)
            optimizer.learning_rate = new
            if self.verbose > 0:
                name = f" {suffix[1:]}" if suffix else ""
                print_msg(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing{name} learning rate to {new}.")
        return reduced

    def in_cooldown(self):
        """Return whether epochs do not count, since the learning rate was just reduced."""
        return self.cooldown_counter > 0


def _single(value):
    """Return a number as the float32 nearest to it, as optimizers hold their learning rates."""
    import struct
    return struct.unpack("f", struct.pack("f", value))[0]
