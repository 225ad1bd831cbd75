"""A training's step as one captured graph: forward pass, loss, gradients, optimizer and metrics."""
import itertools
import threading

from dragon.core.capture import settings
from dragon.core.scopes import ExitStack
from dragon.vm.keras.core import global_state, tree
from dragon.vm.keras.trainers import spreading
from dragon.vm.keras.trainers.data_adapters.convert import is_host_tensor
from dragon.vm.keras.trainers.serving import ServedStep
from dragon.vm.keras.trainers.step_function import StepFunction
from dragon.vm.shared import strategies
from dragon.vm.shared.recording.function import eagerly
from dragon.vm.shared.tensors.convert import placed
from dragon.vm.shared.tensors.placing import is_plain


class Step:
    """Run a model's step on batches; what it builds at first is built by a call of plain Python.

    Parameters
    ----------
    model : Model
        Whose step it is.
    method : Callable
        `model.train_step`, `test_step` or `predict_step`.
    name : str
        How reports call it.
    is_ready : Callable[[], bool]
        Whether everything that the step needs exists already.

    """

    def __init__(self, model, method, name, is_ready):
        self._method, self._is_ready, self._together = method, is_ready, model.steps_per_execution
        self._strategy = strategy = strategies.by_number(model._strategy_number)
        is_plain = model.run_eagerly or strategy is not None and strategy.is_spread and strategy.local_count > 1
        self.function = method if is_plain else StepFunction(method, name=name)
        self._is_first, self._name = self.function is not method, name
        self._lock = threading.RLock()  # held by the first call, which builds
        is_served = getattr(strategy, "is_served", False) and name != "predict_step"
        self._served, self._last = ServedStep(method, model.run_eagerly, name) if is_served else None, None

    def __reduce__(self):
        return type(None), ()  # a copy of the model makes its own

    def _run_spread(self, batch):
        """Return what the step returns on average of all replicas, each of which takes a part of the batch."""
        strategy = self._strategy
        parts = spreading.parts_of(batch, strategy)
        with strategy.scope():
            found = strategy.run(self._run_alone, (parts,))
        return spreading.together(found, strategy, "concat" if self._name == "predict_step" else "mean")

    def run(self, batch):
        """Return what the step returns."""
        if self._strategy is None:
            return self._run_alone(batch)
        if self._served is not None:
            self._last = self._strategy.coordinator.schedule(self._served, (batch,))
            return {}  # what it returns is known when it has run: see `settle`
        if self._strategy.is_spread:
            return self._run_spread(batch)
        with self._strategy.scope():
            return self._run_alone(batch)

    def settle(self, logs):
        """Return what the last step of an epoch has returned, once all have run that were sent to workers."""
        if self._last is None:
            return logs
        last, self._last = self._last, None
        self._strategy.coordinator.join()
        return last.get()

    def _run_alone(self, batch):
        """Return what the step returns for one replica's batch."""
        if not is_plain[0]:  # once, and not for each of the calls that read it
            batch = tree.map_structure(placed, batch)
        if self._is_first:
            with self._lock:
                if self._is_first:
                    self._is_first = False
                    if any(map(is_host_tensor, tree.flatten(batch))):  # strings are no part of graphs
                        self.function = self._method
                    if not self._is_ready():
                        return self._build(batch)
        return self._method(batch) if eagerly[0] else self.function(batch)

    def _build(self, batch):
        """Return what the step returns; what it needs is built by this call of plain Python."""
        # As genuine Keras: predictions build a model for their first batch, trainings for all batches.
        vary = self._name != "predict_step" and global_state.get_global_attribute("batches_vary")
        with ExitStack() as exits:
            global_state.set_within(exits, "open_batch", vary)
            exits.enter(settings.eager())
            return self._method(batch)

    def __call__(self, batches):
        """Return what the step returns for the last of several batches; of an iterator, for the next ones."""
        outputs = None
        if hasattr(batches, "__next__") and self._served is None:
            batches = [next(batches), *itertools.islice(batches, self._together - 1)]
        for batch in batches:
            outputs = self.run(batch)
        return outputs
