"""The overlap of predicted with true areas over their union."""

from dragon.core import warnings
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.metrics.metric import Metric
from dragon.vm.shared.tensors.tensor import ops


class IoU(Metric):
    """The mean, over given classes, of the overlap over the union.

    Parameters
    ----------
    num_classes : int
        How many classes there are.
    target_class_ids : Sequence[int]
        Which of them count.
    dtype : str, optional
        What it counts in; "int" by default.
    ignore_class : Optional[int], optional
        A class whose true areas do not count.
    sparse_y_true : bool, optional, default=True
        Targets are numbers of classes; else, the largest along `axis` is the class.
    sparse_y_pred : bool, optional, default=True
        Predictions are numbers of classes.
    axis : int, optional, default=-1
        Where the classes are.

    """

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_true=True,
                 sparse_y_pred=True, axis=-1):
        super().__init__(name=name, dtype=dtype or "int")
        self._direction = "up"
        self.ignore_class, self.axis = ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.total_cm = self.add_variable(name="total_confusion_matrix", shape=(num_classes, num_classes),
                                          initializer="zeros", dtype=self.dtype)
        # The matrix is made first: where it does not fit, nobody goes through its classes.
        if max(target_class_ids) >= num_classes:
            raise ValueError(f"Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes}).")
        self.num_classes, self.target_class_ids = num_classes, list(target_class_ids)

    def _classes(self, values, sparse):
        values = convert_to_tensor(values)
        values = values if sparse else ops.argmax(values, axis=self.axis)
        return ops.reshape(ops.cast(ops.cast(values, self.dtype), "int64"), (-1,))

    def _weights(self, sample_weight, like):
        weight = getattr(sample_weight, "dtype", None)
        if "float" in str(weight) and "int" in str(self.dtype):
            warnings.warn("You are passing weight as `float`, but dtype is `int`. This may result in an incorrect "
                          f"weight due to type casting. Consider using integer weights. Received: {weight}")
        weight = convert_to_tensor(1 if sample_weight is None else sample_weight, dtype=self.dtype)
        weight = ops.reshape(weight, (-1,)) if len(weight.shape) > 1 else weight
        return ops.broadcast_to(weight, tuple(like.shape))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count which class was predicted of which."""
        y_true, y_pred = self._classes(y_true, self.sparse_y_true), self._classes(y_pred, self.sparse_y_pred)
        weight = self._weights(sample_weight, y_true)
        valid = ops.logical_and(ops.logical_and(y_true >= 0, y_true < self.num_classes),
                                ops.logical_and(y_pred >= 0, y_pred < self.num_classes))
        if self.ignore_class is not None:
            valid = ops.logical_and(valid, y_true != self.ignore_class)
        place = ops.where(valid, y_true * self.num_classes + y_pred, 0)
        empty = ops.zeros((self.num_classes * self.num_classes,), dtype=weight.dtype)
        counts = ops.scatter_add(empty, 0, place, ops.where(valid, weight, 0))
        self.total_cm.assign_add(ops.reshape(counts, (self.num_classes, self.num_classes)))

    def result(self):
        """Return the mean of the classes that occurred."""
        counts = convert_to_tensor(self.total_cm)
        overlap = ops.diagonal(counts)
        union = ops.sum(counts, axis=0) + ops.sum(counts, axis=1) - overlap
        chosen = convert_to_tensor(self.target_class_ids, dtype="int64")
        overlap, union = (ops.cast(ops.index_select(x, 0, chosen), "float32") for x in (overlap, union))
        valid = union > 1e-9
        share = ops.where(valid, overlap / (union + epsilon()), 0.0)
        return ops.sum(share) / (ops.sum(ops.cast(valid, "float32")) + epsilon())

    def _config_without(self, *names):
        return {name: value for name, value in IoU.get_config(self).items() if name not in names}


class BinaryIoU(IoU):
    """The overlap over the union of yes and no.

    Parameters
    ----------
    target_class_ids : Sequence[int], optional, default=(0, 1)
        Which of no (0) and yes (1) count.
    threshold : float, optional, default=0.5
        What predictions of yes are at least.
    dtype : str, optional
        What it counts in.

    """

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(num_classes=2, target_class_ids=target_class_ids, name=name, dtype=dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count which of yes and no was predicted of which."""
        y_pred = ops.cast(convert_to_tensor(y_pred, dtype="float32") >= self.threshold, self.dtype)
        return super().update_state(y_true, y_pred, sample_weight)

    def get_config(self):
        return {"target_class_ids": self.target_class_ids, "threshold": self.threshold, "name": self.name,
                "dtype": self.dtype}


class MeanIoU(IoU):
    """The mean, over all classes, of the overlap over the union; arguments as `IoU` has them."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, sparse_y_pred=True,
                 axis=-1):
        super().__init__(num_classes, range(num_classes), name=name, dtype=dtype, ignore_class=ignore_class,
                         sparse_y_true=sparse_y_true, sparse_y_pred=sparse_y_pred, axis=axis)


class OneHotIoU(IoU):
    """`IoU` of targets that are one and zeros; the other arguments as `IoU` has them."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False,
                 axis=-1):
        super().__init__(num_classes, target_class_ids, name=name, dtype=dtype, ignore_class=ignore_class,
                         sparse_y_true=False, sparse_y_pred=sparse_y_pred, axis=axis)


class OneHotMeanIoU(MeanIoU):
    """`MeanIoU` of targets that are one and zeros; the other arguments as `IoU` has them."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name=name, dtype=dtype, ignore_class=ignore_class, sparse_y_true=False,
                         sparse_y_pred=sparse_y_pred, axis=axis)
