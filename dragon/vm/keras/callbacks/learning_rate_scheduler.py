"""A learning rate for each epoch."""
from dragon.vm.keras.callbacks import learning_rate
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.core.messages import print_msg


class LearningRateScheduler(Callback):
    """Set the learning rate at the beginning of each epoch.

    Parameters
    ----------
    schedule : Callable[[int, float], float]
        Called with the epoch and the learning rate so far.

    Examples
    --------
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile(optimizer=keras.optimizers.SGD(0.5), loss="mse")
    >>> halve = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    >>> _ = model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[halve])
    >>> float(model.optimizer.learning_rate.value)
    0.125

    """

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def _next_rate(self, optimizer, epoch):
        if not hasattr(optimizer, "learning_rate"):
            raise ValueError(f'Optimizer must have a "learning_rate" attribute. Received: {optimizer}')
        try:
            rate = self.schedule(epoch, learning_rate.read(optimizer))
        except TypeError:  # schedules of an older kind know the epoch only
            rate = self.schedule(epoch)
        if not isinstance(rate, float) and type(rate).__name__ not in ("float32", "float64"):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        return rate

    def on_epoch_begin(self, epoch, logs=None):
        for optimizer, suffix in learning_rate.list_optimizers(self.model):
            optimizer.learning_rate = rate = self._next_rate(optimizer, epoch)
            if self.verbose > 0:
                name = f"{suffix[1:]} " if suffix else ""
                print_msg(f"\nEpoch {epoch + 1}: LearningRateScheduler setting {name}learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        learning_rate.log(self.model, {} if logs is None else logs)
