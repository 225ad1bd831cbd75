"""The loops of `fit`, `evaluate` and `predict`."""

from dragon.core import warnings
from dragon.core.module import Module
from dragon.vm.keras.callbacks.callback_list import CallbackList, pythonify_logs
from dragon.vm.keras.core import config, tree
from dragon.vm.keras.core.traceback import filter_traceback
from dragon.vm.keras.trainers.data_adapters.arrays import split_arrays
from dragon.vm.keras.trainers.data_adapters.data import class_weight_to_sample_weights, unpack_x_y_sample_weight
from dragon.vm.keras.trainers.data_adapters.iterables import to_batch
from dragon.vm.keras.trainers.epochs import EpochIterator
from dragon.vm.keras.trainers.outputs import join_batches, to_numpy
from dragon.vm.keras.trainers.serving import DatasetCreator, data_of, evaluated
from dragon.vm.keras.trainers.steps import Step


class Fitting:
    """The loops; a part of `Trainer`."""

    # --- functions of steps

    def make_train_function(self, force=False):
        """Make what runs `train_step` on batches; override it for something else that does."""
        if self.train_function is None or force:
            self._put(train_function=Step(self, self.train_step, "train_step", self._is_ready_to_train))

    def make_test_function(self, force=False):
        """Make what runs `test_step` on batches."""
        if self.test_function is None or force:
            self._put(test_function=Step(self, self.test_step, "test_step", self._is_ready_to_test))

    def make_predict_function(self, force=False):
        """Make what runs `predict_step` on batches."""
        if self.predict_function is None or force:
            self._put(predict_function=Step(self, self.predict_step, "predict_step", self._is_built))

    def _is_built(self):
        return all(layer.built for layer in self._flatten_layers())

    def _is_ready_to_test(self):
        parts = (self._compile_loss, self._compile_metrics)
        return self._is_built() and all(part is None or part.built for part in parts)

    def _is_ready_to_train(self):
        return self._is_ready_to_test() and (self.optimizer is None or self.optimizer.built)

    def _set_modules_mode(self, training):
        """Have modules of other faces be in the mode of the steps to come, so that these need not change it."""
        for layer in self._flatten_layers():
            module = getattr(layer, "module", None)
            if isinstance(module, Module) and module.training is not training:
                module.train(training)

    def _needs_compile(self, name):
        if not self.compiled:
            raise ValueError(f"You must call `compile()` before calling `{name}()`. Received: a model that is not "
                             "compiled")

    # --- fit

    @filter_traceback
    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
            steps_per_epoch=None, validation_steps=None, validation_batch_size=None, validation_freq=1):
        """Train the model for some epochs.

        Parameters
        ----------
        x : Any
            Inputs: arrays, a list or dictionary of some, a dataset, a generator, a loader or a `PyDataset`.
        y : Any, optional
            Targets, unless `x` yields them.
        batch_size : int, optional
            Samples in a batch, 32 by default.
        epochs : int, optional, default=1
            The number of the last epoch.
        verbose : Union[str, int], optional, default="auto"
            0: nothing; 1: a progress bar; 2: a line for each epoch.
        callbacks : List[Callback], optional
            Who is told of the training's events.
        validation_split : float, optional, default=0.0
            How much of the samples, the last ones, is kept for validation.
        validation_data : Any, optional
            `(x, y)`, `(x, y, sample_weight)` or a dataset.
        shuffle : Union[bool, str], optional, default=True
            Whether samples come in random order; "batch": only within a batch.
        sample_weight : Any, optional
            Weights of the samples.
        initial_epoch : int, optional, default=0
            The first epoch.
        steps_per_epoch, validation_steps : int, optional
            Batches in an epoch, and in a validation.
        validation_batch_size : int, optional
            Samples in a batch of validation.
        validation_freq : Union[int, List[int]], optional, default=1
            Every how many epochs, or after which, there is a validation.

        Returns
        -------
        History
            The metrics of all epochs.

        Examples
        --------
        >>> x, y = np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(optimizer=keras.optimizers.SGD(0.5), loss="mse")
        >>> history = model.fit(x, y, epochs=200, verbose=0)
        >>> round(float(model.predict(np.array([[2.0]]), verbose=0)[0, 0]), 2)
        5.0

        """
        self._needs_compile("fit")
        epochs = _limited_epochs(epochs)
        self._put(_validation=None, stop_training=False)
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_arrays((x, y, sample_weight), validation_split)
        batches = EpochIterator(x=data_of(self._strategy_number, x, steps_per_epoch), y=y, shuffle=shuffle,
                                sample_weight=sample_weight, steps_per_epoch=_limited_steps(steps_per_epoch),
                                batch_size=batch_size, class_weight=class_weight,
                                steps_per_execution=self.steps_per_execution)
        callbacks = self._callbacks(callbacks, verbose, epochs, batches, add_history=True)
        self.make_train_function()
        callbacks.on_train_begin()
        logs = training_logs = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            logs = self._train_epoch(batches, callbacks)
            training_logs = dict(self._get_metrics_result_or_logs(logs))
            if validation_data is not None and self._should_eval(epoch, validation_freq):
                training_logs.update(self._validate(validation_data, validation_batch_size or batch_size,
                                                    validation_steps, callbacks))
            callbacks.on_epoch_end(epoch, training_logs)
            if self.stop_training:
                break
        if hasattr(self.optimizer, "finalize_variable_values") and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._put(_validation=None)
        callbacks.on_train_end(logs=training_logs)
        return self.history

    def _train_epoch(self, batches, callbacks):
        """Return what the last step of an epoch returned."""
        self._set_modules_mode(True)
        logs, run = {}, self.train_function
        begin, end = callbacks.on_train_batch_begin, callbacks.on_train_batch_end
        for first, last, together in batches:
            begin(first)
            logs = run(together)
            end(last, logs)
            if self.stop_training:
                break
        return run.settle(logs) if isinstance(run, Step) else logs

    def _validate(self, data, batch_size, steps, callbacks):
        """Return the metrics of an evaluation within `fit`."""
        if self._validation is None and not isinstance(data, DatasetCreator):  # which begins anew each time
            x, y, sample_weight = unpack_x_y_sample_weight(data)
            self._put(_validation=EpochIterator(
                x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, steps_per_epoch=_limited_steps(steps),
                steps_per_execution=self.steps_per_execution, shuffle=False))
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        logs = self.evaluate(x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, steps=steps,
                             callbacks=callbacks, return_dict=True, _use_cached_eval_dataset=True)
        return {f"val_{name}": value for name, value in logs.items()}

    @staticmethod
    def _should_eval(epoch, frequency):
        if isinstance(frequency, int):
            return (epoch + 1) % frequency == 0
        if isinstance(frequency, (list, tuple, set)):
            return epoch + 1 in frequency
        raise ValueError("Expected `validation_freq` to be a list or int. "
                         f"Received: validation_freq={frequency} of the type {type(frequency)}.")

    def _callbacks(self, callbacks, verbose, epochs, batches, add_history=False):
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(callbacks, add_history=add_history, add_progbar=verbose != 0, verbose=verbose,
                            epochs=epochs, steps=batches.num_batches, model=self)

    def _get_metrics_result_or_logs(self, logs):
        """Return all metrics, or what a step of the user's own has returned, where it returned others."""
        results = self.get_metrics_result()
        return results if isinstance(logs, dict) and set(logs) == set(results) else logs

    def _flatten_metrics_in_order(self, logs):
        """Return logs as a list in the order of the metrics; one alone as it is."""
        names = []
        for metric in self.metrics:
            names += [inner.name for inner in metric.metrics] if hasattr(metric, "metrics") else [metric.name]
        results = [logs[name] for name in names if name in logs]
        results += [logs[name] for name in sorted(logs) if name not in names]
        return results[0] if len(results) == 1 else results

    # --- evaluate

    @filter_traceback
    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None,
                 callbacks=None, return_dict=False, **kwargs):
        """Return the loss and the metrics for data.

        Parameters
        ----------
        x, y, batch_size, sample_weight : Any, optional
            As `fit` takes them.
        **kwargs : Any
            Of old.

        Examples
        --------
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])
        >>> model.compile(loss="mse")
        >>> float(model.evaluate(np.ones((4, 2)), np.full((4, 1), 3.0), verbose=0))
        9.0

        """
        is_validation = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized. Received: {kwargs}")
        self._needs_compile("evaluate")
        if is_validation and self._validation is not None:
            batches = self._validation
        else:
            word = "validation_steps" if is_validation else "steps"
            batches = EpochIterator(x=evaluated(self._strategy_number, x, steps, word), y=y, shuffle=False,
                                    sample_weight=sample_weight, batch_size=batch_size,
                                    steps_per_epoch=_limited_steps(steps),
                                    steps_per_execution=self.steps_per_execution)
        batches.reset()
        callbacks = self._callbacks(callbacks, verbose, 1, batches)
        self.make_test_function()
        self._put(stop_evaluating=False)
        callbacks.on_test_begin()
        self._set_modules_mode(False)
        logs, run = {}, self.test_function
        self.reset_metrics()
        for first, last, together in batches:
            callbacks.on_test_batch_begin(first)
            logs = run(together)
            callbacks.on_test_batch_end(last, logs)
            if self.stop_evaluating:
                break
        if isinstance(run, Step):
            logs = run.settle(logs)
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    # --- predict

    @filter_traceback
    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """Return the predictions for data.

        Parameters
        ----------
        x, batch_size : Any
            As `fit` takes them.

        Returns
        -------
        Any
            Arrays, in the structure of the model's output.

        Examples
        --------
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.predict(np.array([[1.0, 2.0]]), verbose=0)
        array([[3.]], dtype=float32)

        """
        batches = EpochIterator(x=x, batch_size=batch_size, steps_per_epoch=_limited_steps(steps), shuffle=False,
                                steps_per_execution=self.steps_per_execution)
        callbacks = self._callbacks(callbacks, verbose, 1, batches)
        self.make_predict_function()
        self._put(stop_predicting=False)
        callbacks.on_predict_begin()
        self._set_modules_mode(False)
        outputs, run = [], self.predict_function
        for first, last, together in batches:
            callbacks.on_predict_batch_begin(first)
            now = [run((batch,)) for batch in together]
            outputs += now
            callbacks.on_predict_batch_end(last, {"outputs": now[0] if len(now) == 1 else now})
            if self.stop_predicting:
                break
        callbacks.on_predict_end()
        if not outputs:
            raise ValueError("predict: expected at least one batch. Received: no data")
        return join_batches(outputs)

    # --- single batches

    @filter_traceback
    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """Train with one batch, and return the loss and the metrics. ..."""
        self._needs_compile("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                                 f"Received: sample_weight={sample_weight}, class_weight={class_weight}")
            sample_weight = class_weight_to_sample_weights(y, class_weight)
        self.make_train_function()
        return self._on_batch(self.train_function, (x, y, sample_weight), return_dict)

    @filter_traceback
    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Return the loss and the metrics for one batch. ..."""
        self._needs_compile("test_on_batch")
        self.make_test_function()
        return self._on_batch(self.test_function, (x, y, sample_weight), return_dict)

    def _on_batch(self, run, batch, return_dict):
        self.reset_metrics()
        logs = pythonify_logs(run((to_batch(batch),)))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @filter_traceback
    def predict_on_batch(self, x):
        """Return the predictions for one batch.

        Parameters
        ----------
        x : Any
            Inputs.

        Returns
        -------
        Any
            Arrays, in the structure of the model's output.

        """
        self.make_predict_function()
        return tree.map_structure(to_numpy, self.predict_function((to_batch((x,)),)))


def _limited_epochs(epochs):
    limit = config.max_epochs() if hasattr(config, "max_epochs") else None
    if limit and limit < epochs:
        warnings.warn(f"Limiting epochs to {limit}")
        return limit
    return epochs


def _limited_steps(steps):
    limit = config.max_steps_per_epoch() if hasattr(config, "max_steps_per_epoch") else None
    if limit and (not steps or limit < steps):
        warnings.warn(f"Limiting steps_per_epoch to {limit}")
        return limit
    return steps
