"""The parts that callbacks that follow one metric have in common."""
from dragon.core import warnings
from dragon.vm.keras import ops
from dragon.vm.keras.callbacks.callback import Callback


class MonitorCallback(Callback):
    """Know whether a metric has become better.

    Parameters
    ----------
    mode : str, optional, default="auto"
        "min" or "max" is better; "auto" asks the metric.
    baseline : float, optional
        The best value so far.

    """

    def __init__(self, monitor="val_loss", mode="auto", baseline=None, min_delta=0):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.")
            mode = "auto"
        self.monitor, self.mode, self.best = monitor, mode, baseline
        self.min_delta = abs(min_delta)
        self.monitor_op = None

    def _set_monitor_op(self):
        """Find out which direction is better; once the model's metrics are built."""
        if self.mode == "auto":
            self.monitor_op = self._ask_metrics()
        else:
            self.monitor_op = ops.less if self.mode == "min" else ops.greater
        if self.monitor_op is ops.less:
            self.min_delta *= -1

    def _ask_metrics(self):
        name = self.monitor.removeprefix("val_")
        found = ops.less if name == "loss" else None
        for holder in getattr(self.model, "metrics", ()):
            for metric in getattr(holder, "metrics", ()):  # only containers have some
                if metric.name == name and hasattr(metric, "_direction"):
                    found = ops.greater if metric._direction == "up" else ops.less
        if found is None:
            raise ValueError(f"{type(self).__name__}: cannot tell whether more or less of a metric is better; pass "
                             f"mode='max' or mode='min'. Received: monitor={self.monitor}")
        return found

    def _is_improvement(self, value, reference):
        return reference is None or self.monitor_op(value - self.min_delta, reference)
