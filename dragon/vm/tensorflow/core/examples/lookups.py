"""Tables of datasets: keys and values that a dataset gives, and numbers for the keys that it gives."""
from dragon.vm.shared.data.dataset import Dataset
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int64, string
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core.tables import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable

FORM = ("Datasets used to initialize lookup tables must produce elements in the form (key, value), where the keys and "
        "values are scalar tensors. ")


class DatasetInitializer:
    """Keys and values of a table that a dataset gives; it is read when the table is made.

    Parameters
    ----------
    dataset : Dataset
        Of pairs (key, value).

    Examples
    --------
    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [10, 20]))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    >>> table.lookup(tf.constant(["b", "z"])).numpy().tolist()
    [20, -1]

    """

    def __init__(self, dataset):
        spec = expect(dataset, Dataset, "DatasetInitializer", "dataset").element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError(f"{FORM}However, the given dataset's elements are {spec}.")
        for word, part in zip(("key", "value"), spec):
            _check_part(part, word)
        self.dataset, (self.key_dtype, self.value_dtype) = dataset, (part.dtype for part in spec)

    def pairs(self):
        """Return (key, value) pairs of Python."""
        return [(_plain(key), _plain(value)) for key, value in self.dataset.as_numpy_iterator()]


def _check_part(spec, word):
    """Return the spec of keys or of values if each is one number or one text."""
    if not isinstance(spec, TensorSpec):
        raise ValueError(f"{FORM}However, the given dataset produces non-Tensor {word}s of type {spec}.")
    if spec.shape.rank not in (None, 0):
        raise ValueError(f"{FORM}However, the given dataset produces non-scalar {word} Tensors of rank "
                         f"{spec.shape.rank}.")
    return spec


def _plain(value):
    return value if isinstance(value, bytes) else value.item()


def _check(num_oov_buckets, vocab_size, hasher_spec, key_dtype):
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if hasher_spec is not None:
        raise NotImplementedError(f"tf.data.experimental: tables hash by fingerprints. Received: "
                                  f"hasher_spec={hasher_spec!r}")
    if not (as_dtype(key_dtype).is_integer or as_dtype(key_dtype) is string):
        raise TypeError(f"Dtype for `keys` should be either integer or string, received: {key_dtype!r}")


def _table(initializer, num_oov_buckets, key_dtype, default_value):
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, key_dtype)
    return StaticHashTable(initializer, default_value)


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=None,
                       key_dtype=string, name=None):
    """Return a table of the keys and values of a dataset.

    Parameters
    ----------
    dataset : Dataset
        Of pairs (key, value).
    num_oov_buckets : int, optional, default=0
        How many numbers beyond the table's unknown keys are spread over by their hash; values are int64 then.
    vocab_size : int, optional
        How many pairs are read; all by default.
    default_value : Any, optional, default=-1
        The value of unknown keys.
    hasher_spec : Any, optional
        Must be None.
    key_dtype : DType, optional, default="string"
        Of the keys that are looked up.

    Returns
    -------
    Union[StaticHashTable, StaticVocabularyTable]
        The table.

    """
    _check(num_oov_buckets, vocab_size, hasher_spec, key_dtype)
    dataset = expect(dataset, Dataset, "table_from_dataset", "dataset")
    initializer = DatasetInitializer(dataset if vocab_size is None else dataset.take(vocab_size))
    if not num_oov_buckets and as_dtype(key_dtype) != initializer.key_dtype:
        raise TypeError(f"Expected keys of dtype {as_dtype(key_dtype).name}, got a dataset whose keys are "
                        f"{initializer.key_dtype.name}")
    return _table(initializer, num_oov_buckets, key_dtype, -1 if default_value is None else default_value)


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None,
                             key_dtype=string, name=None):
    """Return a table from the keys of a dataset to their numbers, from 0.

    Parameters
    ----------
    dataset : Dataset
        Of keys.
    num_oov_buckets : int, optional, default=0
        How many further numbers unknown keys are spread over by their hash.
    vocab_size : int, optional
        How many keys are read; all by default.
    default_value : int, optional, default=-1
        The number of unknown keys.
    hasher_spec : Any, optional
        Must be None.
    key_dtype : DType, optional, default="string"
        Of the keys that are looked up.

    Returns
    -------
    Union[StaticHashTable, StaticVocabularyTable]
        The table.

    """
    _check(num_oov_buckets, vocab_size, hasher_spec, key_dtype)
    dataset = expect(dataset, Dataset, "index_table_from_dataset", "dataset")
    spec = _check_part(dataset.element_spec, "key")
    keys = list((dataset if vocab_size is None else dataset.take(vocab_size)).as_numpy_iterator())
    if not keys:
        raise invalid_argument("index_table_from_dataset: got a dataset without keys, expected at least one")
    numbers = convert_to_tensor(list(range(len(keys))), int64)
    initializer = KeyValueTensorInitializer(convert_to_tensor(keys, spec.dtype), numbers)
    return _table(initializer, num_oov_buckets, key_dtype, default_value)
