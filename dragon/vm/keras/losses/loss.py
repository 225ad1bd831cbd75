"""The parts that all losses share: values per sample, weighted, masked and reduced to what training minimises."""
from dragon import _C
from dragon.vm.keras.core import dtype_policies
from dragon.vm.keras.core.config import floatx
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.masking import get_keras_mask
from dragon.vm.keras.core.naming import own_name
from dragon.vm.shared.strategies import as_one, scaled
from dragon.vm.shared.tensors.tensor import ops

REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)
MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")


class Loss(Configured):
    """Base of losses: subclasses write `call(y_true, y_pred)`, which returns one value per sample.

    Parameters
    ----------
    name : str, optional
        What it is called in logs; made from the class's name by default.
    reduction : Optional[str], optional, default="sum_over_batch_size"
        How the samples' values become one: "sum_over_batch_size" or "mean", "sum", "mean_with_sample_weight"
        (divided by the sum of the weights), "none" or None.
    dtype : Union[str, DTypePolicy], optional
        What it computes in; `keras.config.floatx()` by default.

    """

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        self.name = own_name(name, self)
        self.reduction = standardize_reduction(reduction)
        self._dtype_policy = dtype_policies.get(dtype or floatx())
        self._dtype = self._dtype_policy.compute_dtype

    dtype = property(lambda self: self._dtype, doc="The name of the dtype it computes in.")

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Return the reduced loss of predictions.

        Parameters
        ----------
        y_true : Any
            The targets: a tensor, or a structure of them.
        y_pred : Any
            The predictions, in the same structure.
        sample_weight : Any, optional
            The weight of each sample, or of each of its values.

        Returns
        -------
        Tensor
            One number, unless the reduction is "none".

        """
        masks = [get_keras_mask(y_pred)]
        y_pred, y_true = self._convert(y_pred), self._convert(y_true)
        values = self.call(y_true, y_pred)
        masks = [mask for mask in (*masks, get_keras_mask(values)) if mask is not None]
        mask = masks[0] if len(masks) == 1 else ops.logical_and(*masks) if masks else None
        return reduce_weighted_values(values, sample_weight, mask, self.reduction, self.dtype)

    def _convert(self, values):
        if isinstance(values, _C.Tensor) or not isinstance(values, (list, tuple, dict)):
            return convert_to_tensor(values, dtype=self.dtype)
        from dragon.vm.keras.core import tree

        return tree.map_structure(lambda x: convert_to_tensor(x, dtype=self.dtype), values)

    def call(self, y_true, y_pred):
        """Return the values of samples; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__}: a loss needs a method call(y_true, y_pred)")

    def get_config(self):
        """Return the arguments that make the same loss again."""
        return {"name": self.name, "reduction": self.reduction}

    def _obj_type(self):
        return "Loss"


def standardize_reduction(reduction):
    """Return a reduction's name, or refuse it."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"Invalid value for argument `reduction`. Expected one of {set(REDUCTIONS)}. "
                         f"Received: reduction={reduction}")
    return reduction


def squeeze_or_expand_to_same_rank(x1, x2, expand_rank_1=True):
    """Return two tensors of one rank, where a last axis of size one can be added or taken away."""
    rank1, rank2 = len(x1.shape), len(x2.shape)
    if rank1 == rank2 + 1 and x1.shape[-1] == 1:
        if rank2 == 1 and expand_rank_1:
            x2 = ops.unsqueeze(x2, -1)
        else:
            x1 = ops.squeeze(x1, -1)
    elif rank2 == rank1 + 1 and x2.shape[-1] == 1:
        if rank1 == 1 and expand_rank_1:
            x1 = ops.unsqueeze(x1, -1)
        else:
            x2 = ops.squeeze(x2, -1)
    return x1, x2


def divide_no_nan(x, y):
    """Return x / y, and zero where y is zero."""
    safe = ops.where(y == 0, 1, y)
    return ops.where(y == 0, 0, x / safe)


def reduce_weighted_values(values, sample_weight=None, mask=None, reduction="sum_over_batch_size", dtype=None):
    """Return values times weights, reduced; what is masked does not count.

    Parameters
    ----------
    values : Any
        One value per sample, or several.
    sample_weight : Any, optional
        Weights, of the same rank or of one less.
    mask : Any, optional
        What counts.
    dtype : str, optional
        What to compute in.

    """
    standardize_reduction(reduction)
    values = convert_to_tensor(values, dtype=dtype)
    if sample_weight is not None:
        sample_weight = convert_to_tensor(sample_weight, dtype=dtype)
    if mask is not None:
        mask = convert_to_tensor(mask, dtype=dtype)
    sample_weight = apply_mask(sample_weight, mask, values.dtype, reduction)
    if sample_weight is not None:
        sample_weight = ops.cast(sample_weight, values.dtype)
        values, sample_weight = squeeze_or_expand_to_same_rank(values, sample_weight)
        values = values * sample_weight
    return reduce_values(values, sample_weight, reduction)


def reduce_values(values, sample_weight=None, reduction="sum_over_batch_size"):
    """Return values reduced to one, as `Loss` describes."""
    shape = tuple(values.shape)
    if reduction in (None, "none") or shape == () or shape == (0,) and not as_one():
        return values
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        return scaled(divide_no_nan(ops.sum(values), ops.cast(ops.sum(sample_weight), values.dtype)))
    # A mean is the sum over the count whatever the batch; only emptiness would make it NaN.
    return scaled(ops.mean(values)) if reduction in MEANS and 0 not in shape else ops.sum(values)


def apply_mask(sample_weight, mask, dtype, reduction):
    """Return weights that leave out what is masked; for means, the others weigh more, so that all count as much."""
    if mask is None:
        return sample_weight
    weight = ops.cast(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        share = ops.mean(weight)  # the count of what is valid over the count of all
        kept = mask if mask.dtype == _C.dtype("bool") else mask != 0
        weight = ops.where(kept, divide_no_nan(ops.ones_like(share), share), 0)
    if sample_weight is None:
        return weight
    weight, sample_weight = squeeze_or_expand_to_same_rank(weight, ops.cast(sample_weight, dtype))
    return sample_weight * weight
