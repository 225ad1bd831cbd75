"""Older names of what steps use, as programs for TensorFlow 2 still say them."""
from dragon.core import warnings


class OlderNames:
    """`compiled_loss` and `compiled_metrics`; a part of `Trainer`."""

    def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
        """Return the loss of a batch; an older name of `compute_loss`.

        Parameters
        ----------
        y, y_pred, sample_weight : Any
            Targets, predictions and weights.
        regularization_losses : Any, optional
            Not looked at: `compute_loss` adds the losses of layers by itself.

        Returns
        -------
        Tensor
            One number.

        """
        warnings.warn("`model.compiled_loss()` is deprecated. Instead, use `model.compute_loss(x, y, y_pred, "
                      "sample_weight, training)`.")
        return self.compute_loss(x=None, y=y, y_pred=y_pred, sample_weight=sample_weight)

    compiled_metrics = property(lambda self: _AllMetrics(self),
                                doc="What updates all metrics at once; today one does it for each.")


class _AllMetrics:
    def __init__(self, model):
        self._model = model

    def update_state(self, y, y_pred, sample_weight=None):
        """Take a batch into account; means take the predictions."""
        from dragon.vm.keras.metrics import Mean
        warnings.warn("`model.compiled_metrics()` is deprecated. Instead, use e.g. `for metric in self.metrics: "
                      "metric.update_state(y, y_pred)`.")
        for metric in self._model.metrics:
            if isinstance(metric, Mean) and type(metric).update_state is Mean.update_state:
                metric.update_state(y_pred, sample_weight=sample_weight)
            else:
                metric.update_state(y, y_pred, sample_weight=sample_weight)
