"""Evaluate with the moving averages of the weights."""
from dragon.vm.keras.callbacks.callback import Callback


class SwapEMAWeights(Callback):
    """Exchange the weights and their moving averages for evaluation and prediction.

    Parameters
    ----------
    swap_on_epoch : bool, optional, default=False
        Whether they are exchanged at the end of epochs too, so that checkpoints hold the averages.

    """

    def __init__(self, swap_on_epoch=False):
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        self._ema_weights_in_model = False

    def _pairs(self):
        """Yield each weight with its moving average."""
        outer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        several = getattr(outer, "optimizers", None)
        chosen = [outer] if several is None else [one for one in several if getattr(one, "use_ema", False)]
        if not chosen:
            raise ValueError("SwapEMAWeights must be used when at least one inner optimizer has `use_ema=True`. "
                             "Received: a MultiOptimizer with `use_ema=False` everywhere")
        for optimizer in chosen:
            if not hasattr(optimizer, "_model_variables_moving_average"):
                raise ValueError("SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. "
                                 f"Received: use_ema={optimizer.use_ema}")
            yield from zip(optimizer._trainable_variables, optimizer._model_variables_moving_average)

    def _swap_variables(self, now_averages):
        for weight, average in self._pairs():
            kept = weight.numpy().copy()
            weight.assign(average)
            average.assign(kept)
        self._ema_weights_in_model = now_averages

    def on_epoch_begin(self, epoch, logs=None):
        if self.swap_on_epoch and self._ema_weights_in_model:
            self._swap_variables(False)

    def on_epoch_end(self, epoch, logs=None):
        if self.swap_on_epoch and not self._ema_weights_in_model:
            self._swap_variables(True)
            if epoch == self.params["epochs"] - 1:  # the end of `fit` assigns the averages to the weights
                for weight, average in self._pairs():
                    average.assign(weight)

    def on_test_begin(self, logs=None):
        if not self._ema_weights_in_model:
            self._swap_variables(True)

    def on_test_end(self, logs=None):
        if self._ema_weights_in_model:
            self._swap_variables(False)

    def on_predict_begin(self, logs=None):
        if not self._ema_weights_in_model:
            self._swap_variables(True)

    def on_predict_end(self, logs=None):
        if self._ema_weights_in_model:
            self._swap_variables(False)
