"""What can be told of the training's events."""
from dragon.vm.keras.core.operation import default


class Callback:
    """What is called at the beginning and end of trainings, epochs and batches; override what you need.

    Attributes
    ----------
    params : dict
        "verbose", "epochs" and "steps".
    model : Model
        What is trained.

    Examples
    --------
    >>> class Tell(keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch, sorted(logs))
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile(loss="mse")
    >>> _ = model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[Tell()])
    epoch 0 ['loss']
    epoch 1 ['loss']

    """

    def __init__(self):
        self.params = None
        self._model = None

    def set_params(self, params):
        """Take the training's parameters."""
        self.params = params

    def set_model(self, model):
        """Take the model."""
        self._model = model

    model = property(lambda self: self._model, doc="Model: what is trained.")

    @default
    def on_batch_begin(self, batch, logs=None):
        """Know that a batch of training begins; an older name of `on_train_batch_begin`."""

    @default
    def on_batch_end(self, batch, logs=None):
        """Know that a batch of training has ended; an older name of `on_train_batch_end`."""

    @default
    def on_epoch_begin(self, epoch, logs=None):
        """Know that an epoch begins."""

    @default
    def on_epoch_end(self, epoch, logs=None):
        """Know that an epoch, with its validation, has ended; `logs` are its metrics."""

    @default
    def on_train_batch_begin(self, batch, logs=None):
        """Know that a batch of training begins."""
        self.on_batch_begin(batch, logs=logs)

    @default
    def on_train_batch_end(self, batch, logs=None):
        """Know that a batch of training has ended; `logs` are the metrics so far."""
        self.on_batch_end(batch, logs=logs)

    @default
    def on_test_batch_begin(self, batch, logs=None):
        """Know that a batch of evaluation begins."""

    @default
    def on_test_batch_end(self, batch, logs=None):
        """Know that a batch of evaluation has ended."""

    @default
    def on_predict_batch_begin(self, batch, logs=None):
        """Know that a batch of prediction begins."""

    @default
    def on_predict_batch_end(self, batch, logs=None):
        """Know that a batch of prediction has ended; `logs["outputs"]` is what it gave."""

    @default
    def on_train_begin(self, logs=None):
        """Know that training begins."""

    @default
    def on_train_end(self, logs=None):
        """Know that training has ended; `logs` are the last epoch's."""

    @default
    def on_test_begin(self, logs=None):
        """Know that evaluation begins."""

    @default
    def on_test_end(self, logs=None):
        """Know that evaluation has ended; `logs` are its metrics."""

    @default
    def on_predict_begin(self, logs=None):
        """Know that prediction begins."""

    @default
    def on_predict_end(self, logs=None):
        """Know that prediction has ended."""
