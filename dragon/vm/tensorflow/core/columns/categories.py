"""Columns of categories: numbers from 0, by hash, by vocabulary, as they are, of several columns crossed."""
import collections

from dragon.vm.shared import hashing
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32, int64, string
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.columns.column import (Column, IdWeightPair, as_sparse, check_key, check_kind,
                                                      with_values)
from dragon.vm.tensorflow.core.examples.parsing import VarLenFeature
from dragon.vm.tensorflow.core.tables import (KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable,
                                              TextFileIndex, TextFileInitializer)
from dragon.vm.tensorflow.core.text.crossing import cross_sparse_hashed


class CategoricalColumn(Column):
    """A column of categories."""

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """Return the numbers of the categories as an `IdWeightPair`."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


class _OfOneFeature(CategoricalColumn):
    """A column of categories of one feature."""

    name = property(lambda self: self.key, doc="str: the feature's key.")

    @property
    def parse_example_spec(self):
        """Dict[str, VarLenFeature]: how examples in files are read."""
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the categories as a sparse tensor."""
        feature = as_sparse(transformation_cache.get(self.key, state_manager))
        is_text = feature.values.dtype is string
        if is_text is not (self.dtype is string):
            raise ValueError(f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                             f"{self.dtype}, tensor dtype: {feature.values.dtype}")
        if not is_text and not feature.values.dtype.is_integer:
            raise ValueError(f"column_name: {self.key} input_tensor dtype must be string or integer. dtype: "
                             f"{feature.values.dtype}.")
        return with_values(feature, self._numbers(feature.values))


class HashedCategoricalColumn(_OfOneFeature, collections.namedtuple("HashedCategoricalColumn", (
        "key", "hash_bucket_size", "dtype"))):
    """Categories by the hash of a value."""

    num_buckets = property(lambda self: self.hash_bucket_size, doc="int: how many categories there are.")

    def _numbers(self, values):
        texts = values.numpy().tolist()
        texts = texts if self.dtype is string else [b"%d" % value for value in texts]
        return convert_to_tensor(hashing.buckets(texts, self.hash_bucket_size), int64)


class _OfVocabulary(_OfOneFeature):
    """Categories by a table, which is made once for each column."""

    def _numbers(self, values):
        if self not in _tables:
            _tables[self] = self._table()
        values = values if self.dtype is string else ops.cast(values, int64)
        return _tables[self].lookup(values)

    def _made(self, initializer):
        if self.num_oov_buckets:
            return StaticVocabularyTable(initializer, self.num_oov_buckets, initializer.key_dtype)
        return StaticHashTable(initializer, self.default_value)


_tables = {}


class VocabularyListCategoricalColumn(_OfVocabulary, collections.namedtuple("VocabularyListCategoricalColumn", (
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"))):
    """Categories by the place in a list."""

    num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets,
                           doc="int: how many categories there are.")

    def _table(self):
        keys = convert_to_tensor(list(self.vocabulary_list), string if self.dtype is string else int64)
        return self._made(KeyValueTensorInitializer(keys, ops.arange(0, len(self.vocabulary_list), dtype="int64")))


class VocabularyFileCategoricalColumn(_OfVocabulary, collections.namedtuple("VocabularyFileCategoricalColumn", (
        "key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value", "file_format"))):
    """Categories by the line of a file."""

    num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets,
                           doc="int: how many categories there are.")

    def _table(self):
        return self._made(TextFileInitializer(self.vocabulary_file, string if self.dtype is string else int64,
                                              TextFileIndex.WHOLE_LINE, int64, TextFileIndex.LINE_NUMBER,
                                              self.vocabulary_size))


class IdentityCategoricalColumn(_OfOneFeature, collections.namedtuple("IdentityCategoricalColumn", (
        "key", "number_buckets", "default_value"))):
    """Categories that are numbers already."""

    dtype = int64
    num_buckets = property(lambda self: self.number_buckets, doc="int: how many categories there are.")

    def _numbers(self, values):
        values = ops.cast(values, int64)
        outside = ops.logical_or(ops.lt(values, 0), ops.ge(values, self.number_buckets))
        if self.default_value is not None:
            return ops.where(outside, ops.full_like(values, self.default_value), values)
        if bool(ops.any(outside)):
            raise invalid_argument(f"Bucket index for categorical column {self.name} exceeds number of buckets "
                                   f"{self.number_buckets}, or is negative: {values.numpy()}")
        return values


class WeightedCategoricalColumn(CategoricalColumn, collections.namedtuple("WeightedCategoricalColumn", (
        "categorical_column", "weight_feature_key", "dtype"))):
    """Categories of which each counts as much as another feature says."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}",
                    doc="str: made of both names.")
    num_buckets = property(lambda self: self.categorical_column.num_buckets, doc="int: how many categories there are.")

    @property
    def parse_example_spec(self):
        """Dict[str, VarLenFeature]: how examples in files are read."""
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for "
                             f"{self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the categories, and what each counts."""
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        kind = weights.values.dtype if isinstance(weights, SparseTensor) else weights.dtype
        if self.dtype != kind:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {kind}.")
        weights = as_sparse(weights, 0.0)
        if not kind.is_floating:
            weights = with_values(weights, ops.cast(weights.values, float32))
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """Return the numbers of the categories, and what each counts."""
        return IdWeightPair(*transformation_cache.get(self, state_manager))


class CrossedColumn(CategoricalColumn, collections.namedtuple("CrossedColumn", (
        "keys", "hash_bucket_size", "hash_key"))):
    """Categories by the hash of every choice of one value of each of several columns."""

    name = property(lambda self: "_X_".join(sorted(str(getattr(leaf, "name", leaf)) for leaf in self._leaves())),
                    doc="str: made of all names.")
    num_buckets = property(lambda self: self.hash_bucket_size, doc="int: how many categories there are.")

    def _leaves(self):
        found = []
        for key in self.keys:
            found += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    @property
    def parse_example_spec(self):
        """Dict[str, Any]: how examples in files are read."""
        spec = {}
        for key in self.keys:
            spec.update(key.parse_example_spec if isinstance(key, Column) else {key: VarLenFeature(string)})
        return spec

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the categories as a sparse tensor."""
        columns = []
        for key in self._leaves():
            if isinstance(key, str):
                columns.append(transformation_cache.get(key, state_manager))
                continue
            pair = key.get_sparse_tensors(transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError(f"crossed_column does not support weight_tensor, but the given column populates "
                                 f"weight_tensor. Given column: {key.name}")
            columns.append(pair.id_tensor)
        return cross_sparse_hashed(columns, self.hash_bucket_size, self.hash_key)


class SequenceCategoricalColumn(CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", (
        "categorical_column",))):
    """Categories of the steps of sequences."""

    name = property(lambda self: self.categorical_column.name, doc="str: the column's.")
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec,
                                  doc="Dict[str, Any]: how examples in files are read.")
    num_buckets = property(lambda self: self.categorical_column.num_buckets, doc="int: how many categories there are.")

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the categories as a sparse tensor."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """Return the numbers of the categories with an axis for those of one step."""
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return IdWeightPair(*(part if part is None else _with_step(part) for part in pair))


def _with_step(sparse):
    """Return rows of steps with an axis for the values of a step, of which there is one."""
    if sparse.indices.shape[-1] == 3:
        return sparse
    places = ops.pad(sparse.indices, [0, 1], "constant", 0)
    return SparseTensor(places, sparse.values, ops.cat([sparse.dense_shape, ops.ones((1,), dtype="int64")], 0))


# --- what users call

def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=string):
    """Return a column of categories by the hash of a value.

    Parameters
    ----------
    key : str
        The feature's key.
    hash_bucket_size : int
        How many categories there are.
    dtype : DType, optional, default="string"
        Text or whole numbers.

    Returns
    -------
    HashedCategoricalColumn
        The column.

    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    return HashedCategoricalColumn(check_key(key), hash_bucket_size, check_kind(dtype, key))


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """Return a column of categories that are numbers already.

    Parameters
    ----------
    key : str
        The feature's key.
    num_buckets : int
        How many categories there are.
    default_value : int, optional
        The category of other numbers; without it they are an error.

    Returns
    -------
    IdentityCategoricalColumn
        The column.

    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(check_key(key), num_buckets, default_value)


def _check_unknown(default_value, num_oov_buckets, none, key):
    if num_oov_buckets:
        if default_value != none:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """Return a column of categories by the place in a list.

    Parameters
    ----------
    key : str
        The feature's key.
    vocabulary_list : Sequence
        The values, from category 0.
    dtype : DType, optional
        Text or whole numbers; that of the list by default.
    default_value : int, optional, default=-1
        The category of other values.
    num_oov_buckets : int, optional, default=0
        How many further categories other values are spread over by their hash.

    Returns
    -------
    VocabularyListCategoricalColumn
        The column.

    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    _check_unknown(default_value, num_oov_buckets, -1, key)
    import numpy as np
    own = np.asarray(vocabulary_list)
    own = check_kind(string if own.dtype.kind in "OSUT" else as_dtype(own.dtype), key)
    dtype = own if dtype is None else as_dtype(dtype)
    if dtype.is_integer != own.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {own} do not match, column_name: {key}")
    return VocabularyListCategoricalColumn(check_key(key), tuple(vocabulary_list), check_kind(dtype, key),
                                           default_value, num_oov_buckets)


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, dtype=string,
                                            default_value=None, num_oov_buckets=0, file_format=None):
    """Return a column of categories by the line of a file.

    Parameters
    ----------
    key : str
        The feature's key.
    vocabulary_file : str
        The file, with a value on each line.
    vocabulary_size : int, optional
        How many lines count; all by default.
    dtype : DType, optional, default="string"
        Text or whole numbers.
    default_value : int, optional, default=-1
        The category of other values.
    num_oov_buckets : int, optional, default=0
        How many further categories other values are spread over by their hash.
    file_format : str, optional
        Of lines of text; files of records are not read.

    Returns
    -------
    VocabularyFileCategoricalColumn
        The column.

    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is not None:
        raise NotImplementedError(f"categorical_column_with_vocabulary_file: lines of text are read. Received: "
                                  f"file_format={file_format!r}")
    if vocabulary_size is None:
        with open(vocabulary_file, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
    elif vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_unknown(default_value, num_oov_buckets, None, key)
    return VocabularyFileCategoricalColumn(check_key(key), vocabulary_file, vocabulary_size, num_oov_buckets,
                                           check_kind(dtype, key), -1 if default_value is None else default_value, None)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=float32):
    """Return a column of categories of which each counts as much as another feature says.

    Parameters
    ----------
    categorical_column : CategoricalColumn
        The categories.
    weight_feature_key : str
        The other feature's key.
    dtype : DType, optional, default="float32"
        Of the other feature.

    Returns
    -------
    WeightedCategoricalColumn
        The column.

    """
    dtype = None if dtype is None else as_dtype(dtype)
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Return a column of categories by the hash of every choice of one value of each of several columns.

    Parameters
    ----------
    keys : Sequence[Union[str, CategoricalColumn]]
        Keys of features, or columns.
    hash_bucket_size : int
        How many categories there are.
    hash_key : int, optional
        Where the chain of hashes begins.

    Returns
    -------
    CrossedColumn
        The column.

    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             f"HashedCategoricalColumn. Given: {key}")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                             "crossing will increase probability of collision. Instead, use the feature name as a "
                             f"string. Given: {key}")
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=string):
    """Return a column of the categories of steps; see `categorical_column_with_hash_bucket`."""
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    """Return a column of the categories of steps; see `categorical_column_with_identity`."""
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                                     default_value=None, dtype=string):
    """Return a column of the categories of steps; see `categorical_column_with_vocabulary_file`."""
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets))


def sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1,
                                                     num_oov_buckets=0):
    """Return a column of the categories of steps; see `categorical_column_with_vocabulary_list`."""
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets))
