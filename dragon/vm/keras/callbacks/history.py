"""The metrics of all epochs, as `fit` returns them."""
from dragon.vm.keras.callbacks.callback import Callback


class History(Callback):
    """Keep each epoch's metrics; every `fit` has one and returns it.

    Attributes
    ----------
    epoch : List[int]
        The epochs' numbers.
    history : Dict[str, List[float]]
        A metric's values by its name.

    """

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self
