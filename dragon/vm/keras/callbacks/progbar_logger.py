"""The progress bar of `fit`, `evaluate` and `predict`."""
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.utils.progbar import Progbar


class ProgbarLogger(Callback):
    """Show the progress in the terminal; added by `fit`, `evaluate` and `predict` unless `verbose=0`."""

    def __init__(self):
        super().__init__()
        self.seen, self.progbar, self.target = 0, None, None
        self.verbose, self.epochs = 1, 1
        self._called_in_fit = False

    def set_params(self, params):
        verbose = params["verbose"]
        self.verbose = 1 if verbose == "auto" else verbose
        self.epochs, self.target = params["epochs"], params["steps"]

    def is_due(self, batch):
        """Return whether a batch's numbers would be shown; where they would not, nobody need read them."""
        bar = self.progbar
        return bar is None or self.verbose == 1 and (bar._time_after_first_step is None or bar.is_due())

    def on_train_begin(self, logs=None):
        self._called_in_fit = True  # validation is silent

    def on_test_begin(self, logs=None):
        if not self._called_in_fit:
            self._start()

    def on_predict_begin(self, logs=None):
        self._start()

    def on_epoch_begin(self, epoch, logs=None):
        self._start()
        if self.verbose and self.epochs > 1:
            print_msg(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch, logs=None):
        self._update(batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        if not self._called_in_fit:
            self._update(batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._update(batch, None)

    def on_epoch_end(self, epoch, logs=None):
        self._finish(logs)

    def on_test_end(self, logs=None):
        if not self._called_in_fit:
            self._finish(logs)

    def on_predict_end(self, logs=None):
        self._finish(logs)

    def _start(self):
        self.seen = 0
        self.progbar = Progbar(target=self.target, verbose=self.verbose, unit_name="step", stateless_metrics=set())

    def _update(self, batch, logs):
        if self.progbar is None:
            self._start()
        self.seen = batch + 1
        if self.verbose == 1:
            self.progbar.update(self.seen, (logs or {}).items(), finalize=False)

    def _finish(self, logs):
        if self.target is None:
            self.target = self.progbar.target = self.seen
        self.progbar.update(self.target, (logs or {}).items(), finalize=True)
