"""Training, evaluation and prediction of models."""
import inspect

from dragon.core import warnings
from dragon.vm.keras.core import capturing, tree
from dragon.vm.keras.core.batch_size import count_samples
from dragon.vm.keras.core.traceback import filter_traceback
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.trainers.compile_loss import CompileLoss
from dragon.vm.keras.trainers.compile_metrics import CompileMetrics
from dragon.vm.keras.trainers.data_adapters.data import unpack_x_y_sample_weight
from dragon.vm.keras.trainers.fitting import Fitting
from dragon.vm.keras.trainers.older import OlderNames
from dragon.vm.keras.trainers.state import TrainingState
from dragon.vm.shared import strategies


class Trainer(OlderNames, TrainingState, Fitting):
    """What makes a layer a model that can be trained; a part of `Model`."""

    def __init__(self):
        self._put(_run_eagerly=False, _jit_compile=None, compiled=False, loss=None, optimizer=None,
                  steps_per_execution=1, _initial_epoch=None, stop_training=False, stop_evaluating=False,
                  stop_predicting=False, _compile_loss=None, _compile_metrics=None, _loss_tracker=None,
                  _compile_arguments=None, train_function=None, test_function=None,
                  predict_function=None, _validation=None, _strategy_number=strategies.number_in_use())
        self._put(_compute_loss_has_training_arg="training" in inspect.signature(self.compute_loss).parameters)

    def _put(self, **values):
        """Set attributes that are no parts of the model."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # --- compile

    @filter_traceback
    def compile(self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None, weighted_metrics=None,
                run_eagerly=False, steps_per_execution=1, jit_compile="auto", auto_scale_loss=True):
        """Say how the model is trained.

        Parameters
        ----------
        optimizer : Union[str, Optimizer], optional, default="rmsprop"
            What changes the weights.
        loss : Any, optional
            A loss, or a list or dictionary of some for several outputs.
        loss_weights : Union[float, list, dict], optional
            What each loss is multiplied with.
        metrics : Union[list, dict], optional
            What is shown besides the loss.
        weighted_metrics : Union[list, dict], optional
            Metrics that look at sample weights.
        run_eagerly : bool, optional, default=False
            Whether steps run as plain Python rather than as a graph.
        steps_per_execution : int, optional, default=1
            Batches between two calls of callbacks.
        jit_compile : Union[str, bool], optional, default="auto"
            Accepted; steps are compiled unless they run eagerly.
        auto_scale_loss : bool, optional, default=True
            Whether an optimizer of a model in float16 scales its loss.

        Examples
        --------
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
        >>> model.optimizer.name
        'sgd'

        """
        from dragon.vm.keras import metrics as metric_classes, optimizers
        optimizer = optimizers.get(optimizer)
        wrapped = optimizer
        if auto_scale_loss and optimizer and self.dtype_policy.name == "mixed_float16":
            if not isinstance(optimizer, optimizers.LossScaleOptimizer):
                wrapped = optimizers.LossScaleOptimizer(optimizer, name="loss_scale_optimizer")
        if jit_compile is True and run_eagerly:
            warnings.warn("If `run_eagerly` is True, then `jit_compile` cannot also be True. Disabling `jit_compile`.")
            jit_compile = False
        names = getattr(self, "output_names", None)
        self._put(optimizer=wrapped, _run_eagerly=run_eagerly, _jit_compile=jit_compile, stop_training=False,
                  steps_per_execution=steps_per_execution, compiled=True,
                  _loss_tracker=metric_classes.Mean(name="loss"),
                  train_function=None, test_function=None, predict_function=None,
                  _compile_arguments={
                      "optimizer": optimizer, "loss": loss, "loss_weights": loss_weights, "metrics": metrics,
                      "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly,
                      "steps_per_execution": steps_per_execution, "jit_compile": bool(jit_compile is True)})
        if loss is not None:
            self._put(_compile_loss=CompileLoss(loss, loss_weights, names, run_eagerly), loss=loss)
        if metrics is not None or weighted_metrics is not None:
            self._put(_compile_metrics=CompileMetrics(metrics, weighted_metrics, names))

    @property
    def distribute_strategy(self):
        """Strategy: the one of TensorFlow's in whose scope the model was made, or the one in use."""
        if self._strategy_number is not None:
            return strategies.by_number(self._strategy_number)
        if not strategies.current:
            raise AttributeError("Model.distribute_strategy: TensorFlow, which has the strategies, is not imported; "
                                 "expected `import tensorflow` before")
        return strategies.current[0]()

    @property
    def jit_compile(self):
        """bool: whether `compile` was told to compile steps, which they are anyway."""
        return self._jit_compile is True

    @jit_compile.setter
    def jit_compile(self, value):
        self._put(_jit_compile=value)

    @property
    def run_eagerly(self):
        """bool: whether steps run as plain Python."""
        return self._run_eagerly

    @run_eagerly.setter
    def run_eagerly(self, value):
        self._put(_run_eagerly=value, train_function=None, test_function=None, predict_function=None)

    def get_compile_config(self):
        """Return what `compile` was told, as a dictionary of plain values.

        Returns
        -------
        dict
            Empty before `compile`.

        """
        from dragon.vm.keras.saving.serialization import serialize_keras_object
        return serialize_keras_object(self._compile_arguments) if self.compiled and self._compile_arguments else {}

    def compile_from_config(self, config):
        """Compile as `get_compile_config` has said.

        Parameters
        ----------
        config : dict
            What it returned.

        """
        from dragon.vm.keras.saving.serialization import deserialize_keras_object
        if type(self).compile is not Trainer.compile:
            warnings.warn("`compile()` was not called as part of model loading because the model's `compile()` method "
                          "is custom. Override `get_compile_config()` and `compile_from_config(config)` too, or call "
                          "`compile()` after loading.")
            return
        self.compile(**deserialize_keras_object(config))
        if self.optimizer is not None and self.built:
            self.optimizer.build(self.trainable_variables)

    # --- metrics

    @property
    def metrics(self):
        """List[Metric]: the loss, what `compile` was told, those of the model and of its layers."""
        found = self._get_own_metrics()
        for layer in self._flatten_layers(include_self=False):
            if not isinstance(layer, Trainer):  # a model inside of this one is trained as a part of it
                found.extend(layer.metrics)
        return found

    def _get_own_metrics(self):
        found = []
        if self._loss_tracker is not None:
            found.append(self._loss_tracker)
        if self._compile_metrics is not None:
            found.append(self._compile_metrics)
        if self._compile_loss is not None:
            found.extend(self._compile_loss.metrics)
        return found + list(self._metrics)

    metrics_names = property(lambda self: [metric.name for metric in self.metrics],
                             doc="List[str]: the metrics' names.")

    def reset_metrics(self):
        """Have all metrics begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self):
        """Return the metrics' values by their names.

        Returns
        -------
        Dict[str, Tensor]
            One for each.

        """
        results = {}
        for metric in self.metrics:
            value = metric.result()
            results.update(value if isinstance(value, dict) else {metric.name: value})
        return results

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Take a batch into account, and return the metrics' values. ...

        Returns
        -------
        Dict[str, Tensor]
            The values so far.

        """
        if self._compile_metrics is not None:
            self._compile_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    # --- the loss

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """Return the loss of a batch, with the losses of layers. ...

        Returns
        -------
        Tensor
            One number.

        """
        from dragon.vm.keras import ops
        terms = []
        if self._compile_loss is not None:
            loss = self._compile_loss(y, y_pred, sample_weight)
            if loss is not None:
                terms.append(loss)
        terms += [strategies.scaled(_total(loss)) for loss in self.losses]
        if not terms:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`. "
                             f"Received: loss={self.loss}")
        return terms[0] if len(terms) == 1 else ops.sum(ops.stack(terms))

    def _compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        if self._compute_loss_has_training_arg:
            return self.compute_loss(x, y, y_pred, sample_weight, training=training)
        return self.compute_loss(x, y, y_pred, sample_weight)

    # --- steps

    def _call_for(self, x, training):
        return self(x, training=training) if self._call_has_training_arg else self(x)

    def _track_loss(self, x, loss):
        size = count_samples(next(leaf for leaf in tree.flatten(x) if leaf is not None))
        self._loss_tracker.update_state(strategies.unscaled(loss), sample_weight=size)

    def train_step(self, data):
        """Train with a batch; override it for training of another kind. ...

        Returns
        -------
        Dict[str, Tensor]
            What is shown and kept in the history.

        """
        from dragon.vm.shared.recording.tape import GradientTape
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with GradientTape() as tape:
            y_pred = self._call_for(x, training=True)
            loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=True)
            self._track_loss(x, loss)
            if self.optimizer is not None:
                loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        else:
            warnings.warn("The model does not have any trainable weights.")
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data):
        """Evaluate a batch; override it for evaluation of another kind. ...

        Returns
        -------
        Dict[str, Tensor]
            What is shown.

        """
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self._call_for(x, training=False)
        loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False)
        self._track_loss(x, loss)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        """Return the predictions for a batch; override it for predictions of another kind. ...

        Returns
        -------
        Any
            The model's output.

        """
        return self._call_for(unpack_x_y_sample_weight(data)[0], training=False)


def _total(loss):
    """Return the sum of a layer's loss."""
    from dragon.vm.keras import ops
    from dragon.vm.keras.core import config
    if not loss.dtype.is_floating:
        loss = ops.cast(loss, config.floatx())
    return loss if loss.ndim == 0 else ops.sum(loss)


capturing.register(Layer, Trainer)
