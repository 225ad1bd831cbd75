"""Datasets of stacked elements, and of the slices of stacked ones."""
from itertools import cycle, starmap

from dragon import _C
from dragon.io.stages import batching, taking
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset, INFINITE, UNKNOWN
from dragon.vm.shared.data.padding import pad_elements, padded_plan
from dragon.vm.shared.data.rows import wrap_array
from dragon.vm.shared.data.specs import TensorSpec, batch_spec, unbatch_spec
from dragon.vm.shared.data.structure import flatten, is_component, map_structure
from dragon.vm.shared.data.threads import alone
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import Tensor, ops


def check_size(size, who):
    """Return a batch size, or raise unless it is positive."""
    size = int(size)
    if size < 1:
        raise errors.InvalidArgumentError(None, None, f"{who}: batch_size must be greater than zero. Received: {size}")
    return size


def stack_elements(elements):
    """Return elements as a batch."""
    first = elements[0]
    if type(first) is tuple:
        return tuple([stack_leaves(column) if type(column[0]) is Tensor else stack_elements(column)
                      for column in zip(*elements)])
    return map_structure(lambda *leaves: stack_leaves(leaves), *elements)


def stack_texts(items):
    """Return bytes as a tensor of strings."""
    import numpy as np
    stacked = np.empty(len(items), dtype=object)
    stacked[:] = items
    return wrap_array(stacked)


def stack_leaves(leaves):
    """Return one component of several elements, stacked."""
    first = leaves[0]
    if type(first) is Tensor:
        try:
            return ops.stack(leaves)
        except _C.InvalidValue:
            _check_shapes(leaves)
            raise
    if is_component(first):
        return _stack_components(leaves)
    _check_shapes(leaves)
    if isinstance(first, StringTensor):
        if not first.ndim:
            return stack_texts([leaf._array[()] for leaf in leaves])
        import numpy as np
        return wrap_array(np.stack([leaf._array for leaf in leaves]))
    return ops.stack(leaves)


def _check_shapes(leaves):
    """Raise unless all components have one shape."""
    shape = leaves[0].shape
    for number, leaf in enumerate(leaves):
        if leaf.shape != shape:
            raise errors.InvalidArgumentError(
                None, None, "Cannot batch tensors with different shapes. First element had shape "
                f"{list(shape)} and element {number} had shape {list(leaf.shape)}.")


def _stack_components(leaves):
    first = leaves[0]
    if first is None:
        return None
    stack = getattr(type(first), "_stack", None)
    if stack is None:
        raise TypeError(f"batch: components of this kind cannot be stacked. Received: {first!r}")
    return stack(leaves)


class Batch(Dataset):
    """Consecutive elements, stacked."""

    def __init__(self, source, size, drop_remainder=False):
        super().__init__(source)
        self._size, self._drop = check_size(size, "batch"), bool(drop_remainder)

    def _open_behind(self, count):
        return self._iterate(count * self._size)

    def _iterate(self, skipped=0):
        source = self._sources[0]
        rows = source._rows()
        if rows is not None:
            positions = taking.rest(source._positions(), skipped)
            if isinstance(positions, range) and positions.step == 1:
                return starmap(rows.span, batching.spans(positions, self._size, self._drop))
            return map(rows.gather, self._lists(positions))
        texts = source._texts()
        if texts is not None:
            return map(stack_texts, self._lists(taking.rest(texts, skipped)))
        elements = source._open_behind(skipped) if skipped else source._open()
        return map(alone(self._choose_stack(source)), self._lists(elements))  # copying keeps one core busy

    def _lists(self, items):
        return batching.lists(items, self._size, self._drop)

    @staticmethod
    def _choose_stack(source):
        """Return the function from a list of elements to a batch."""
        if not source._ragged_rows():
            return stack_elements
        from dragon.vm.shared.ragged.tensor import RaggedTensor
        spec = source.element_spec

        def stack(own, *leaves):
            ragged = hasattr(own, "ragged_rank") and not is_component(leaves[0])
            return RaggedTensor._stack_dense(leaves, own.row_splits_dtype) if ragged else stack_leaves(leaves)
        return lambda elements: map_structure(stack, spec, *elements)

    def _make_spec(self):
        return batch_spec(self._sources[0].element_spec, self._size if self._drop else None)

    def _count(self):
        count = self._sources[0]._count()
        if count < 0:
            return count
        return count // self._size if self._drop else -(-count // self._size)


class PaddedBatch(Dataset):
    """Consecutive elements, padded and stacked."""

    def __init__(self, source, size, shapes=None, values=None, drop_remainder=False):
        super().__init__(source)
        self._size, self._drop = check_size(size, "padded_batch"), bool(drop_remainder)
        self._plan, self._natural = padded_plan(source, shapes, values), shapes is None

    def _iterate(self):
        return (pad_elements(chosen, self._plan) for chosen in self._lists(self._sources[0]._open()))

    _lists, _count = Batch._lists, Batch._count

    def _make_spec(self):
        specs = flatten(self._sources[0].element_spec)
        padded = [TensorSpec(spec.shape if self._natural else list(shape), spec.dtype)
                  for spec, (shape, _) in zip(specs, self._plan)]
        leaves = iter(padded)
        structure = map_structure(lambda _: next(leaves), self._sources[0].element_spec)
        return batch_spec(structure, self._size if self._drop else None)


class RaggedBatch(Dataset):
    """Consecutive elements as ragged tensors."""

    def __init__(self, source, size, drop_remainder=False, row_splits_dtype="int64"):
        super().__init__(source)
        self._size, self._drop = check_size(size, "ragged_batch"), bool(drop_remainder)
        self._dtype = row_splits_dtype

    def _stack(self, leaves, spec):
        from dragon.vm.shared.ragged.tensor import RaggedTensor
        if is_component(leaves[0]) or TensorShape(spec.shape).is_fully_defined():
            return stack_leaves(leaves)
        return RaggedTensor._stack_dense(leaves, self._dtype)

    def _iterate(self):
        spec = self._sources[0].element_spec
        return (map_structure(lambda own, *leaves: self._stack(leaves, own), spec, *chosen)
                for chosen in self._lists(self._sources[0]._open()))

    _lists, _count = Batch._lists, Batch._count

    def _make_spec(self):
        from dragon.vm.shared.ragged.tensor import RaggedTensorSpec
        size = self._size if self._drop else None

        def make(spec):
            if not isinstance(spec, TensorSpec) or TensorShape(spec.shape).is_fully_defined():
                return batch_spec(spec, size)
            return RaggedTensorSpec([size, *spec.shape], spec.dtype, len(spec.shape), self._dtype)
        return map_structure(make, self._sources[0].element_spec)


def _slices(element):
    """Return an iterator over the slices of an element's components."""
    from dragon.vm.shared.data.sources import TensorSlices
    sizes = {int(leaf.shape[0]) for leaf in flatten(element) if leaf is not None and len(leaf.shape)}
    if len(sizes) != 1:
        raise errors.InvalidArgumentError(
            None, None, "unbatch: all components must have the same first dimension. Received: "
            f"components of shapes {[tuple(leaf.shape) for leaf in flatten(element)]}")
    return TensorSlices(element)._open()


class Unbatch(Dataset):
    """The slices of each element."""

    def _iterate(self):
        return batching.apart(self._sources[0]._open(), _slices)

    def _make_spec(self):
        return unbatch_spec(self._sources[0].element_spec)

    def _count(self):
        count = self._sources[0]._count()
        if count <= 0 and count != UNKNOWN:
            return INFINITE if count == INFINITE else 0
        sizes = {spec.shape[0] for spec in flatten(self._sources[0].element_spec)
                 if isinstance(spec, TensorSpec) and spec.shape.rank}
        if count == UNKNOWN or len(sizes) != 1 or None in sizes:
            return UNKNOWN
        return count * sizes.pop()


class Rebatch(Dataset):
    """The same rows in batches of other sizes."""

    def __init__(self, source, size, drop_remainder=False):
        super().__init__(source)
        sizes = convert_to_tensor(size).numpy()
        self._sizes = [check_size(one, "rebatch") for one in sizes.ravel().tolist()]
        self._drop = bool(drop_remainder)

    def _iterate(self):
        rows = Unbatch(self._sources[0])._open()
        return map(stack_elements, batching.lists_of(rows, cycle(self._sizes), self._drop))

    def _make_spec(self):
        size = self._sizes[0] if self._drop and len(set(self._sizes)) == 1 else None
        return batch_spec(unbatch_spec(self._sources[0].element_spec), size)
