"""Callbacks from functions."""
from dragon.vm.keras.callbacks.callback import Callback


class LambdaCallback(Callback):
    """Call functions at events.

    Parameters
    ----------
    on_epoch_begin, on_epoch_end : Callable[[int, dict], None], optional
        Called with the epoch and its metrics.
    on_train_begin, on_train_end : Callable[[dict], None], optional
        Called with the metrics.
    on_train_batch_begin, on_train_batch_end : Callable[[int, dict], None], optional
        Called with the batch and the metrics so far.
    **kwargs
        Functions for other events, and attributes.

    """

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None, on_train_end=None,
                 on_train_batch_begin=None, on_train_batch_end=None, **kwargs):
        super().__init__()
        self.__dict__.update(kwargs)
        given = {"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end, "on_train_begin": on_train_begin,
                 "on_train_end": on_train_end, "on_train_batch_begin": on_train_batch_begin,
                 "on_train_batch_end": on_train_batch_end}
        self.__dict__.update((name, function) for name, function in given.items() if function is not None)
