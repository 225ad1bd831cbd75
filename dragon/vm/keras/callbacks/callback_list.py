"""Several callbacks called as one; numbers are read from the device only for those who look at them."""
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.callbacks.history import History
from dragon.vm.keras.callbacks.progbar_logger import ProgbarLogger
from dragon.vm.keras.core.operation import is_default
from dragon.vm.shared.letters import expect

_OLDER = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


def pythonify_logs(logs):
    """Return metrics as Python numbers, sorted by name; those of nested dictionaries stand beside the others.

    Parameters
    ----------
    logs : Optional[dict]
        Values by name.

    Returns
    -------
    dict
        Floats where values are numbers.

    """
    result = {}
    for name, value in sorted(expect(logs or {}, dict, "callbacks", "logs").items()):
        if isinstance(value, dict):
            result.update(pythonify_logs(value))
            continue
        try:
            result[name] = float(value)
        except (TypeError, ValueError, RuntimeError):  # several numbers, or no number at all
            result[name] = value.numpy() if hasattr(value, "numpy") else value
    return result


class CallbackList(Callback):
    """Call several callbacks in their order.

    Parameters
    ----------
    callbacks : Union[Callback, Iterable[Callback]], optional
        Who is called.
    add_history : bool, optional, default=False
        Whether a `History` is added, unless there is one.
    add_progbar : bool, optional, default=False
        Whether a `ProgbarLogger` is added, unless there is one.
    model : Model, optional
        What is trained.
    **params
        "verbose", "epochs", "steps".

    """

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = [callback if hasattr(callback, "set_model") else expect(
            callback, Callback, "CallbackList", "a callback") for callback in _flatten(callbacks)] if callbacks else []
        self._listening, self._depth = {}, 0
        self._add_default_callbacks(add_history, add_progbar)
        self._model = None
        self.set_model(model)
        self.set_params(params)

    def _add_default_callbacks(self, add_history, add_progbar):
        self._progbar = self._history = None
        for callback in self.callbacks:
            if isinstance(callback, ProgbarLogger):
                self._progbar = callback
            elif isinstance(callback, History):
                self._history = callback
        if self._history is None and add_history:
            self._history = History()
            self.callbacks.append(self._history)
        if self._progbar is None and add_progbar:
            self._progbar = ProgbarLogger()
            self.callbacks.append(self._progbar)

    def append(self, callback):
        """Add a callback at the end."""
        self.callbacks.append(callback)
        self._listening = {}

    def set_params(self, params):
        self.params = params
        if params:
            for callback in self.callbacks:
                callback.set_params(params)

    def set_model(self, model):
        if model is None:
            return
        super().set_model(model)
        if self._history:
            model.history = self._history
        for callback in self.callbacks:
            callback.set_model(model)

    # --- who is called

    def _listeners(self, event):
        """Return the methods that do something at an event, and whether only the progress bar does."""
        found = self._listening.get(event)
        if found is None:
            wanted = [callback for callback in self.callbacks if self._listens(callback, event)]
            found = [getattr(callback, event) for callback in wanted], wanted == [self._progbar]
            self._listening[event] = found
        return found

    @staticmethod
    def _listens(callback, event):
        names = (event, _OLDER[event]) if event in _OLDER else (event,)
        return not all(is_default(getattr(callback, name)) for name in names)

    def _tell(self, event, number, logs):
        methods, _ = self._listeners(event)
        if methods:
            logs = pythonify_logs(logs)
            for method in methods:
                method(number, logs=logs)

    def _tell_epoch(self, event, epoch, logs):
        logs = pythonify_logs(logs)
        for callback in self.callbacks:
            getattr(callback, event)(epoch, logs)  # by position: users name it as they like

    def _tell_batch_end(self, event, batch, logs):
        methods, only_bar = self._listeners(event)
        if not methods:
            return
        if only_bar and not self._progbar.is_due(batch):
            self._progbar.seen = batch + 1
            return
        self._tell(event, batch, logs)

    def _begin(self, event, logs):
        self._depth += 1
        self._listening = {}  # callbacks may have got methods since
        logs = pythonify_logs(logs)
        for callback in self.callbacks:
            getattr(callback, event)(logs)

    def _end(self, event, logs):
        logs = pythonify_logs(logs)
        for callback in self.callbacks:
            getattr(callback, event)(logs)
        self._depth -= 1
        if self._depth < 0:
            raise ValueError(f"CallbackList.{event}: called without its beginning")

    # --- events

    def on_batch_begin(self, batch, logs=None):
        self._tell("on_batch_begin", batch, logs)

    def on_batch_end(self, batch, logs=None):
        self._tell("on_batch_end", batch, logs)

    def on_epoch_begin(self, epoch, logs=None):
        self._tell_epoch("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self._tell_epoch("on_epoch_end", epoch, logs)

    def on_train_batch_begin(self, batch, logs=None):
        self._tell("on_train_batch_begin", batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self._tell_batch_end("on_train_batch_end", batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        self._tell("on_test_batch_begin", batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        self._tell_batch_end("on_test_batch_end", batch, logs)

    def on_predict_batch_begin(self, batch, logs=None):
        self._tell("on_predict_batch_begin", batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._tell_batch_end("on_predict_batch_end", batch, logs)

    def on_train_begin(self, logs=None):
        self._begin("on_train_begin", logs)

    def on_train_end(self, logs=None):
        self._end("on_train_end", logs)

    def on_test_begin(self, logs=None):
        self._begin("on_test_begin", logs)

    def on_test_end(self, logs=None):
        self._end("on_test_end", logs)

    def on_predict_begin(self, logs=None):
        self._begin("on_predict_begin", logs)

    def on_predict_end(self, logs=None):
        self._end("on_predict_end", logs)


def _flatten(callbacks):
    if isinstance(callbacks, (list, tuple)):
        for callback in callbacks:
            yield from _flatten(callback)
    else:
        yield callbacks
