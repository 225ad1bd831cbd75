"""The metrics of a model with one or many outputs, from what `compile` was told."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.trainers.compile_utils import make_metric


class MetricsList:
    """The metrics of one output."""

    def __init__(self, metrics, output_name=None):
        self.metrics, self.output_name = metrics, output_name

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account."""
        for metric in self.metrics:
            metric.update_state(y_true, y_pred, sample_weight=sample_weight)


def _metrics_of(said, y_true, y_pred, output_name=None):
    if said is None:
        return None
    said = said if isinstance(said, (list, tuple)) else [said]
    return MetricsList([make_metric(one, y_true, y_pred) for one in said], output_name)


def _check(label, value):
    if value and not isinstance(value, (list, tuple, dict)):
        raise ValueError(f"Expected `{label}` argument to be a list, tuple, or dict. "
                         f"Received: {label}={value} of type {type(value)}")


class CompileMetrics:
    """Keep the metrics of a model's outputs; made when targets and predictions are seen first.

    Parameters
    ----------
    metrics : Union[list, tuple, dict], optional
        Those that do not look at sample weights.
    weighted_metrics : Union[list, tuple, dict], optional
        Those that do.
    output_names : List[str], optional
        The outputs' names, where the model knows them.

    """

    def __init__(self, metrics, weighted_metrics, output_names=None):
        _check("metrics", metrics)
        _check("weighted_metrics", weighted_metrics)
        self.name = "compile_metrics"
        self.output_names = output_names
        self._user_metrics, self._user_weighted_metrics = metrics, weighted_metrics
        self.built = False
        self._flat_metrics, self._flat_weighted_metrics, self._order = [], [], None

    @property
    def metrics(self):
        """List[Metric]: all of them, once they are made."""
        return [metric for group in self._flat_metrics + self._flat_weighted_metrics if group is not None
                for metric in group.metrics]

    variables = property(lambda self: [variable for metric in self.metrics for variable in metric.variables],
                         doc="List[Variable]: the metrics' state.")

    # --- which metric belongs to which output

    def build(self, y_true, y_pred):
        """Make the metrics."""
        count = len(tree.flatten(y_pred))
        is_flat = isinstance(y_pred, (list, tuple, dict)) and len(y_pred) == count
        names = self.output_names
        if is_flat and isinstance(y_pred, dict) and not (names and set(names) == set(y_pred)):
            names = sorted(y_pred)
        self._order = names if count > 1 and is_flat else None
        for label in ("metrics", "weighted_metrics"):
            said = getattr(self, f"_user_{label}")
            made = self._make(said, count, names, y_true, y_pred, is_flat, label)
            setattr(self, f"_flat_{label}", made)
        self.built = True

    def _make(self, said, count, names, y_true, y_pred, is_flat, label):
        if not said:
            return [None] * count
        if count == 1:
            return [_metrics_of(tree.flatten(said), tree.flatten(y_true)[0], tree.flatten(y_pred)[0])]
        flat = None
        if is_flat and isinstance(said, (list, tuple)) and len(said) == count:
            flat = said
        elif is_flat and isinstance(said, dict) and names and set(said) <= set(names):
            flat = [said.get(name) for name in names]
        try:
            if flat is None:
                return self._make_nested(said, y_true, y_pred, names or [None] * count)
            return [_metrics_of(*row) for row in zip(flat, self._flatten(y_true), self._flatten(y_pred),
                                                     names or [None] * count)]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{error}\nInvalid `{label}`: expected metrics as a dict or list that matches the "
                             f"output names {self.output_names} or the structure of the model's output, "
                             f"{tree.map_structure(lambda _: 'X', y_pred)}. Received: {label}={said}") from error

    @staticmethod
    def _make_nested(said, y_true, y_pred, names):
        """Return metrics from a structure that goes as deep as the outputs do."""
        names = iter(names)
        made = []

        def walk(said, true, pred):
            if not isinstance(pred, (list, tuple, dict)):
                made.append(_metrics_of(said, true, pred, next(names)))
                return
            if isinstance(pred, dict):
                keys = sorted(pred)
            else:
                keys = range(len(pred))
            if not isinstance(said, type(pred)) and not (isinstance(said, (list, tuple))
                                                         and isinstance(pred, (list, tuple))):
                raise ValueError(f"expected {type(pred).__name__} of metrics, got {said!r}")
            if len(said) != len(pred):
                raise ValueError(f"expected metrics for {len(pred)} outputs, got {len(said)}")
            for key in keys:
                walk(said[key], true[key], pred[key])

        walk(said, y_true, y_pred)
        return made

    def _flatten(self, structure):
        if isinstance(structure, dict) and self._order is not None:
            return [structure[name] for name in self._order]
        return tree.flatten(structure)

    # --- batches

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Take a batch into account."""
        if not self.built:
            self.build(y_true, y_pred)
        y_true, y_pred = self._flatten(y_true), self._flatten(y_pred)
        for group, true, pred in zip(self._flat_metrics, y_true, y_pred):
            if group is not None:
                group.update_state(true, pred)
        weights = [None] * len(y_pred) if sample_weight is None else self._flatten(sample_weight)
        if len(weights) < len(y_pred):
            weights = [weights[0]] * len(y_pred)
        for group, true, pred, weight in zip(self._flat_weighted_metrics, y_true, y_pred, weights):
            if group is not None:
                group.update_state(true, pred, weight)

    def reset_state(self):
        """Begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    def result(self):
        """Return the metrics' values by their names.

        Returns
        -------
        Dict[str, Tensor]
            A name that is there already gets "weighted_" before it, or a number behind it.

        """
        if not self.built:
            raise ValueError("Cannot get result() since the metric has not yet been built. Received: no batch")
        results, counts = {}, {}
        for groups, is_weighted in ((self._flat_metrics, False), (self._flat_weighted_metrics, True)):
            for group in groups:
                for metric in group.metrics if group is not None else ():
                    results[_free_name(metric.name, group.output_name, counts, is_weighted)] = metric.result()
        return results


def _free_name(name, output_name, counts, is_weighted):
    prefix = f"{output_name}_" if output_name else ""
    full = prefix + name
    if full in counts and is_weighted:
        full = f"{prefix}weighted_{name}"
    number = counts.get(full, 0)
    counts[full] = number + 1
    return f"{full}_{number}" if number else full
