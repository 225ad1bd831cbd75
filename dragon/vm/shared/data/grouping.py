"""Datasets of windows: consecutive elements, or elements with the same key."""
from itertools import chain

from dragon.io.stages import grouping
from dragon.vm.shared import errors
from dragon.vm.shared.data.dataset import Dataset, INFINITE, UNKNOWN
from dragon.vm.shared.data.mapping import Given, as_dataset
from dragon.vm.shared.data.probing import merge_results
from dragon.vm.shared.data.specs import DatasetSpec
from dragon.vm.shared.data.structure import call, is_nested, map_structure, to_element
from dragon.vm.shared.tensors.convert import convert_to_tensor


KEYS = (0, 1)  # for which a function is asked what it gives


class Window(Dataset):
    """Datasets of consecutive elements."""

    def __init__(self, source, size, shift=None, stride=1, drop_remainder=False):
        super().__init__(source)
        self._size, self._stride, self._drop = int(size), int(stride), bool(drop_remainder)
        self._shift = self._size if shift is None else int(shift)
        for name, value in (("size", self._size), ("shift", self._shift), ("stride", self._stride)):
            if value < 1:
                raise errors.InvalidArgumentError(None, None,
                                                  f"window: {name} must be greater than zero. Received: {value}")

    def _wrap(self, elements):
        """Return a window: a structure of datasets, one for each component of the elements."""
        from dragon.vm.shared.data.sources import Listed
        spec = self._sources[0].element_spec
        if not is_nested(spec):
            return Listed(elements, spec)
        columns = map_structure(lambda own, *leaves: (own, list(leaves)), spec, *elements)
        return _map_pairs(lambda pair: Listed(pair[1], pair[0]), spec, columns)

    def _iterate(self):
        windows = grouping.windows(self._sources[0]._open(), self._size, self._shift, self._stride, self._drop)
        return map(self._wrap, windows)

    def _make_spec(self):
        return map_structure(DatasetSpec, self._sources[0].element_spec)

    def _count(self):
        count = self._sources[0]._count()
        if count < 0:
            return count
        if not self._drop:
            return -(-count // self._shift)
        reach = (self._size - 1) * self._stride + 1
        return 0 if count < reach else (count - reach) // self._shift + 1


def _map_pairs(function, spec, columns):
    """Return a structure like `spec` of what a function gives for the pairs in its places."""
    if not is_nested(spec):
        return function(columns)
    if isinstance(spec, dict):
        return {key: _map_pairs(function, part, columns[key]) for key, part in spec.items()}
    parts = [_map_pairs(function, *both) for both in zip(spec, columns)]
    return type(spec)(*parts) if hasattr(spec, "_fields") else tuple(parts)


class GroupByWindow(Given):
    """The results of a function of windows of elements with the same key."""

    def __init__(self, source, key_function, reduce_function, size=None, size_function=None):
        super().__init__(source)
        if (size is None) == (size_function is None):
            raise ValueError("group_by_window: exactly one of window_size and window_size_func is needed. Received: "
                             f"window_size={size!r}, window_size_func={size_function!r}")
        self._key, self._reduce = key_function, reduce_function
        self._size = size_function if size is None else lambda key: size

    def _window(self, key, elements):
        from dragon.vm.shared.data.sources import Listed
        made = self._reduce(convert_to_tensor(key, dtype="int64"), Listed(elements, self._sources[0].element_spec))
        return as_dataset(made, "group_by_window")

    def _iterate(self):
        groups = grouping.windows_of_keys(self._sources[0]._open(), lambda element: int(call(self._key, element)),
                                          self._size_of)
        return chain.from_iterable(self._window(*group)._open() for group in groups)

    def _size_of(self, key):
        size = int(self._size(convert_to_tensor(key, dtype="int64")))
        if size < 1:
            raise errors.InvalidArgumentError(
                None, None, f"group_by_window: window size must be greater than zero. Received: {size}")
        return size

    def _make_spec(self):
        # What depends on the key is not known.
        specs = [self._window(key, []).element_spec for key in KEYS]
        return map_structure(merge_results, *specs)

    def _count(self):
        count = self._sources[0]._count()
        return INFINITE if count == INFINITE else 0 if count == 0 else UNKNOWN


def bucket_by_sequence_length(dataset, length_function, boundaries, sizes, padded_shapes=None, padding_values=None,
                              to_boundary=False, no_padding=False, drop_remainder=False):
    """Return a dataset of padded batches of elements of similar length."""
    boundaries, sizes = [int(number) for number in boundaries], [int(number) for number in sizes]
    if len(sizes) != len(boundaries) + 1:
        raise ValueError("bucket_by_sequence_length: one more batch size than boundaries is needed. Received: "
                         f"{len(sizes)} batch sizes for {len(boundaries)} boundaries")

    def bucket_of(*element):
        from bisect import bisect_right
        return bisect_right(boundaries, int(length_function(*element)))

    def pad(bucket, window):
        number = int(bucket)
        size = sizes[number]
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder)
        shapes = padded_shapes
        if to_boundary:
            if number == len(boundaries):
                raise errors.InvalidArgumentError(
                    None, None, "bucket_by_sequence_length: with pad_to_bucket_boundary=True, elements must be shorter "
                    f"than the last boundary. Received: bucket_boundaries={boundaries}")
            shapes = _fill_unknown(window.element_spec, padded_shapes, boundaries[number] - 1)
        return window.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)
    return GroupByWindow(dataset, bucket_of, pad, size_function=lambda bucket: sizes[int(bucket)])


def _fill_unknown(spec, shapes, size):
    """Return shapes whose unknown sizes are one size."""
    from dragon.vm.shared.data.padding import _as_shape, _flatten_shapes
    from dragon.vm.shared.data.structure import flatten, pack
    known = [list(part.shape) for part in flatten(spec)] if shapes is None else [
        _as_shape(shape) for shape in _flatten_shapes(spec, shapes)]
    from dragon.vm.shared.tensors.shape import TensorShape
    return pack(spec, [TensorShape([size if own is None else own for own in shape]) for shape in known])


class Reducer:
    """Three functions that make one value of the elements of a group.

    Parameters
    ----------
    init_func : Callable
        Gives the first state for a key.
    reduce_func : Callable
        Gives the next state for a state and an element.
    finalize_func : Callable
        Gives the value for the last state.

    """

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


class GroupByReducer(Given):
    """One value for each key."""

    def __init__(self, source, key_function, reducer):
        super().__init__(source)
        self._key, self._reducer = key_function, reducer

    def _iterate(self):
        reducer = self._reducer
        states = grouping.reduce_by_key(
            self._sources[0]._open(), lambda element: int(call(self._key, element)),
            lambda key: to_element(reducer.init_func(convert_to_tensor(key, dtype="int64"))),
            lambda state, element: to_element(reducer.reduce_func(state, element)))
        return (to_element(reducer.finalize_func(state)) for state in states)

    def _make_spec(self):
        from dragon.vm.shared.data.specs import spec_of
        for element in self._iterate():
            return spec_of(element)
        raise ValueError("group_by_reducer: the element_spec of a reduction of no element is not known")


def group_by_reducer(key_func, reducer):
    """Return a function for `dataset.apply` that reduces the elements of each key to one value."""
    return lambda dataset: GroupByReducer(dataset, key_func, reducer)
