"""The loss of a model with one or many outputs, from what `compile` was told."""
from typing import Any, NamedTuple, Optional

from dragon.vm.keras.core import config, tree
from dragon.vm.keras.core.batch_size import count_samples
from dragon.vm.keras.trainers.compile_utils import make_loss


class _Weighted:
    """A loss as the user said it, with its weight; a leaf of structures."""

    def __init__(self, loss, weight=None):
        self.loss, self.weight = loss, weight


class Term(NamedTuple):
    """One summand of a model's loss."""

    path: tuple
    loss: Any
    weight: Optional[float]
    name: str


def _follow(path, structure):
    for key in path:
        structure = structure[key]
    return structure


class CompileLoss:
    """Sum the losses of a model's outputs.

    Parameters
    ----------
    loss : Any
        One for all outputs, or a list or dictionary of some.
    loss_weights : Union[float, list, tuple, dict], optional
        What each is multiplied with.
    output_names : List[str], optional
        The outputs' names, where the model knows them.
    weighs_batches : bool, optional, default=False
        Whether a batch counts as many times as it has samples in the mean of each loss, as it does in eager steps.

    """

    def __init__(self, loss, loss_weights=None, output_names=None, weighs_batches=False):
        if loss_weights and not isinstance(loss_weights, (list, tuple, dict, float)):
            raise ValueError("Expected `loss_weights` to be a float (one output) or a list, tuple, or dict (several). "
                             f"Received: loss_weights={loss_weights} of type {type(loss_weights)}")
        self.name = "compile_loss"
        self.output_names, self._weighs_batches = output_names, weighs_batches
        self._user_loss, self._user_weights = loss, loss_weights
        self.built = False
        self.metrics = []  # a mean for each of several losses
        self._terms, self._built_for = [], None

    variables = property(lambda self: [variable for metric in self.metrics for variable in metric.variables],
                         doc="List[Variable]: the state of the means.")

    # --- which loss belongs to which output

    def build(self, y_true, y_pred):
        """Find a loss for each output."""
        loss, weights = self._user_loss, self._user_weights
        names = self.output_names
        if names and isinstance(loss, dict) and not isinstance(y_pred, dict):
            if set(names) != set(loss):
                raise ValueError(f"Expected keys {names} in loss dict. Received: loss.keys()={list(loss)}")
            loss = [loss[name] for name in names]
            if isinstance(weights, dict):
                weights = [weights[name] for name in names]
        loss = self._with_weights(loss, weights)
        if isinstance(loss, list) and not tree.is_nested(y_pred) and len(loss) == 1:
            loss = loss[0]
        if isinstance(loss, _Weighted) and tree.is_nested(y_pred):  # one loss for all outputs
            one = loss
            loss = tree.map_structure(lambda leaf: one, y_pred)
        self._terms, self._built_for = [], tree.map_structure(lambda leaf: None, y_pred)
        self._assign(loss, y_true, y_pred, self._name_structure(y_pred), ())
        if len(self._terms) > 1:
            from dragon.vm.keras import metrics
            self.metrics = [metrics.Mean(name=f"{term.name}_loss") for term in self._terms]
        self.built = True

    @staticmethod
    def _with_weights(loss, weights):
        def pair(one, weight=None):
            return None if one is None else _Weighted(one, weight)

        if not tree.is_nested(loss):
            if tree.is_nested(weights):
                weights = tree.flatten(weights)
                if len(weights) != 1:
                    raise ValueError("`loss_weights` must match the number of losses. Received: 1 loss "
                                     f"and {len(weights)} weights")
                weights = weights[0]
            return pair(loss, weights)
        if weights is None:
            return tree.map_structure(pair, loss)
        if isinstance(loss, dict) and isinstance(weights, dict) and set(weights) < set(loss):
            return {key: pair(one, weights.get(key)) for key, one in loss.items()}
        flat = tree.flatten(weights)
        if len(flat) != len(tree.flatten(loss)):
            raise ValueError(f"`loss_weights` must match the number of losses. Received: {len(tree.flatten(loss))} "
                             f"losses and {len(flat)} weights")
        return tree.map_structure(pair, loss, tree.pack_sequence_as(loss, flat))

    def _name_structure(self, y_pred):
        names = self.output_names
        if isinstance(y_pred, dict) and not any(map(tree.is_nested, y_pred.values())):
            return {name: name for name in y_pred}
        if names and len(names) == len(tree.flatten(y_pred)):
            return tree.pack_sequence_as(y_pred, list(names))
        return tree.map_structure(lambda leaf: None, y_pred)

    def _assign(self, loss, y_true, y_pred, names, path):
        """Enter the terms below a path."""
        if loss is None:
            return
        if isinstance(loss, _Weighted):
            return self._enter(loss, y_true, y_pred, names, path)
        if isinstance(loss, (list, tuple)):
            flat = tree.flatten(y_pred)
            if all(not tree.is_nested(one) for one in loss) and len(loss) == len(flat) and tree.is_nested(y_pred):
                loss = tree.pack_sequence_as(y_pred, list(loss))
            elif not isinstance(y_pred, type(loss)):  # several losses of one output, or of all of them together
                for one in loss:
                    self._assign(one, y_true, y_pred, names, path)
                return
        for key, one in loss.items() if isinstance(loss, dict) else enumerate(loss):
            if one is None:
                continue
            if not (_has(y_pred, key) and _has(y_true, key)):
                where = "in either the model's output (`y_pred`) or in the labels (`y_true`)" if not path else (
                    "in the labels (`y_true`)" if _has(y_pred, key) else "in the model's output (`y_pred`)")
                raise KeyError(f"The path: {(*path, key)} in the `loss` argument, can't be found {where}. "
                               f"Received: loss={self._user_loss}")
            self._assign(one, y_true[key], y_pred[key], names[key] if _has(names, key) else None, (*path, key))

    def _enter(self, loss, y_true, y_pred, name, path):
        if tree.is_nested(y_true):
            y_true = tree.flatten(y_true)[0]
        made = make_loss(loss.loss, y_true, tree.flatten(y_pred)[0])
        parts = tree.flatten(name)  # of several outputs together, if the loss is one of a structure
        shown = "_".join(parts) if all(isinstance(part, str) for part in parts) else made.name
        parts = path or (shown,)
        if isinstance(parts[-1], int):
            parts = (*parts[:-1], shown)
        self._terms.append(Term(path, made, loss.weight, "/".join(map(str, parts))))

    # --- the loss of a batch

    def __call__(self, y_true, y_pred, sample_weight=None):
        if tree.is_nested(y_true) or tree.is_nested(y_pred):
            y_true = self._like_predictions(y_true, y_pred)
        if not self.built:
            self.build(y_true, y_pred)
        if tree.is_nested(y_pred) and not _same(self._built_for, y_pred):  # as dicts, of a loss built for lists
            y_true, y_pred, sample_weight = (
                tree.pack_sequence_as(self._built_for, tree.flatten(one)) if tree.is_nested(one) else one
                for one in (y_true, y_pred, sample_weight))
        total = None
        for number, term in enumerate(self._terms):
            value = self._value(term, y_true, y_pred, sample_weight, number)
            total = value if total is None else total + value
        return total

    def _value(self, term, y_true, y_pred, sample_weight, number):
        from dragon.vm.keras import ops
        pred = _follow(term.path, y_pred)
        weight = _follow(term.path, sample_weight) if tree.is_nested(sample_weight) else sample_weight
        value = ops.cast(term.loss(_follow(term.path, y_true), pred, weight), dtype=config.floatx())
        if self.metrics:
            size = count_samples(tree.flatten(pred)[0]) if self._weighs_batches else None
            self.metrics[number].update_state(value, sample_weight=size)
        return value if term.weight is None else ops.multiply(value, term.weight)

    def _like_predictions(self, y_true, y_pred):
        """Return targets in the structure of the predictions."""
        if _same(y_true, y_pred):
            return y_true
        if not tree.is_nested(y_true) and isinstance(y_pred, (list, tuple, dict)) and len(y_pred) == 1:
            return tree.pack_sequence_as(y_pred, [y_true])
        if isinstance(y_pred, (list, tuple)) and isinstance(y_true, dict) and self.output_names:
            if set(self.output_names) == set(y_true):
                return tree.pack_sequence_as(y_pred, [y_true[name] for name in self.output_names])
        flat = tree.flatten(y_true)
        if isinstance(y_pred, dict) and isinstance(y_true, dict):
            if set(y_true) <= set(y_pred) and isinstance(self._user_loss, dict):
                return y_true
        elif len(flat) == len(tree.flatten(y_pred)):
            return tree.pack_sequence_as(y_pred, flat)
        wanted = [one is not None for one in tree.flatten(self._user_loss)] if tree.is_nested(self._user_loss) else []
        if wanted and sum(wanted) == len(flat):
            rest = iter(flat)
            filled = [next(rest) if want else None for want in wanted]
            return tree.pack_sequence_as(y_pred, filled) if len(filled) == len(tree.flatten(y_pred)) else filled
        raise ValueError("y_true and y_pred have different structures. Received:\n"
                         f"y_true: {tree.map_structure(lambda _: '*', y_true)}\n"
                         f"y_pred: {tree.map_structure(lambda _: '*', y_pred)}\n")


def _has(structure, key):
    if isinstance(structure, dict):
        return key in structure
    return isinstance(structure, (list, tuple)) and isinstance(key, int) and key < len(structure)


def _same(a, b):
    """Return whether two structures differ in their leaves only; errors would print these, and so look at numbers."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    return not isinstance(b, (dict, list, tuple))
