"""`tf.data.experimental`: further ways to make and change datasets, many of them old names of methods."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared import data as _kinds, errors as _errors
from dragon.vm.shared.data import settings as _settings
from dragon.vm.shared.data.dataset import Dataset as _Dataset
from dragon.vm.shared.data.iterator import Iterator as _Iterator
from dragon.vm.shared.letters import expect as _expect

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
SHARD_HINT = -1

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.shared.data.options": "AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions "
                                     "ExternalStatePolicy OptimizationOptions ServiceOptions ThreadingOptions",
    "dragon.vm.shared.data.optional": "Optional",
    "dragon.vm.shared.data.csv": "CsvDataset make_csv_dataset",
    "dragon.vm.shared.data.grouping": "Reducer group_by_reducer",
    "core.examples.lookups": "DatasetInitializer index_table_from_dataset table_from_dataset",
    "core.examples.sources": "SqlDataset TFRecordWriter dense_to_sparse_batch pad_to_cardinality",
    "core.examples.variants": "distributed_save from_variant get_model_proto make_saveable_from_iterator to_variant",
    "core.examples.datasets": "make_batched_features_dataset parse_example_dataset",
})


def Counter(start=0, step=1, dtype="int64"):
    """Return an infinite dataset that counts."""
    return _Dataset.counter(start, step, dtype)


def RandomDataset(seed=None, rerandomize_each_iteration=None, name=None):
    """Return an infinite dataset of random numbers; see `tf.data.Dataset.random`."""
    return _Dataset.random(seed, rerandomize_each_iteration)


def cardinality(dataset):
    """Return the number of a dataset's elements; see `tf.data.Dataset.cardinality`."""
    return _expect(dataset, _Dataset, "cardinality", "dataset").cardinality()


class _AssertedCardinality(_Dataset):
    """A dataset whose number of elements the user vouches for."""

    def __init__(self, source, expected):
        super().__init__(source)
        self._expected = int(expected)

    def _iterate(self):
        given = 0
        for given, element in enumerate(self._sources[0]._open(), 1):
            if 0 <= self._expected < given:
                raise self._wrong(f"at least {given}")
            yield element
        if given != self._expected and self._expected != UNKNOWN_CARDINALITY:
            raise self._wrong(given)

    def _wrong(self, count):
        expected = "infinite" if self._expected == INFINITE_CARDINALITY else self._expected
        return _errors.FailedPreconditionError(
            None, None, f"Input dataset was expected to contain {expected} elements but contained {count} elements.")

    def _count(self):
        return self._expected


def assert_cardinality(expected_cardinality):
    """Return a function for `dataset.apply` that says how many elements there are, and raises if there are not."""
    return lambda dataset: _AssertedCardinality(dataset, expected_cardinality)


def at(dataset, index):
    """Return the element at an index."""
    rows, index = _expect(dataset, _Dataset, "at", "dataset")._rows(), int(index)
    positions = dataset._positions() if rows is not None else None
    if isinstance(positions, range) and 0 <= index < len(positions):
        return rows.item(positions[index])
    for element in dataset.skip(index)._open() if index >= 0 else ():
        return element
    raise _errors.OutOfRangeError(None, None, f"Index out of range [0, {dataset._count()}): {index}")


def from_list(elements, name=None):
    """Return a dataset of the elements of a list."""
    from dragon.vm.shared.data.specs import merge_specs, spec_of
    from dragon.vm.shared.data.structure import to_element
    if not isinstance(elements, list) or not elements:
        raise ValueError(f"from_list: elements must be a list that is not empty. Received: {elements!r}")
    elements = [to_element(element) for element in elements]
    spec = spec_of(elements[0])
    for element in elements[1:]:
        spec = merge_specs(spec, spec_of(element), "from_list")
    return _kinds.Listed(elements, spec)


def get_next_as_optional(iterator):
    """Return an iterator's next element as an optional."""
    return _expect(iterator, _Iterator, "get_next_as_optional", "iterator").get_next_as_optional()


def get_single_element(dataset):
    """Return the element of a dataset that has one."""
    return _expect(dataset, _Dataset, "get_single_element", "dataset").get_single_element()


def get_structure(dataset_or_iterator):
    """Return the structure of specs of the elements."""
    return _expect(dataset_or_iterator, (_Dataset, _Iterator), "get_structure", "dataset_or_iterator").element_spec


def load(path, element_spec=None, compression=None, reader_func=None):
    """Return a dataset that `save` wrote."""
    return _Dataset.load(path, element_spec, compression, reader_func)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Write all elements of a dataset into a folder."""
    _expect(dataset, _Dataset, "save", "dataset").save(path, compression, shard_func, checkpoint_args)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Return a dataset that takes each element from the dataset whose number a further dataset tells."""
    return _Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Return a dataset that takes each element from one of several datasets at random."""
    return _Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """Return a function for `dataset.apply` that reads several datasets in turns."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length, not sloppy)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """Return a function for `dataset.apply` that maps and then makes batches."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """Return a function for `dataset.apply` that shuffles and then repeats."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def copy_to_device(target_device, source_device="/cpu:0"):
    """Return a function for `dataset.apply` that moves elements to a device."""
    from dragon.vm.shared.data.structure import map_structure
    from dragon.vm.shared.tensors.devices import engine_device
    from dragon.vm.shared.tensors.placing import usual_device
    from dragon.vm.shared.tensors.tensor import Tensor, ops
    engine_device(source_device)  # which must be there, though elements are taken from wherever they are
    where = engine_device(target_device) or usual_device()

    def move(*element):
        element = element if len(element) > 1 else element[0]
        return map_structure(lambda leaf: ops.to_device(leaf, where) if type(leaf) is Tensor else leaf, element)
    return lambda dataset: dataset.map(move)


def prefetch_to_device(device, buffer_size=None):
    """Return a function for `dataset.apply` that moves elements to a device ahead of their use."""
    return lambda dataset: copy_to_device(device)(dataset).prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def _method(name):
    """Return the function whose result calls a method of the dataset it is applied to."""
    def make(*args, **kwargs):
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Return a function for `dataset.apply` that does what `tf.data.Dataset.{name}` does."
    return make


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype="int64"):
    """Return a function for `dataset.apply` that makes ragged batches."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """Return a function for `dataset.apply` that keeps elements in files; see `tf.data.Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def enable_debug_mode():
    """Have datasets run one element after another, and functions of elements as plain Python."""
    _settings.debugging[0] = True


bucket_by_sequence_length = _method("bucket_by_sequence_length")
group_by_window = _method("group_by_window")
ignore_errors = _method("ignore_errors")
rejection_resample = _method("rejection_resample")
scan = _method("scan")
take_while = _method("take_while")
unbatch = _method("unbatch")
unique = _method("unique")
enumerate_dataset = _method("enumerate")
