"""Columns of numbers: as they are, in buckets, and what is made of categories: ones among zeros, rows of tables."""
import collections
import math

from dragon.vm.shared.sparse.math import to_dense
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import float32, int64
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import Variable
from dragon.vm.tensorflow.core.checkpoint.checkpoint import load_variable
from dragon.vm.tensorflow.core.columns.categories import CategoricalColumn, SequenceCategoricalColumn
from dragon.vm.tensorflow.core.columns.column import Column, IdWeightPair, SequenceDensePair, as_sparse, lengths_of
from dragon.vm.tensorflow.core.examples.parsing import FixedLenFeature, VarLenFeature
from dragon.vm.tensorflow.nn.sparse_lookup import embedding_lookup_sparse, safe_embedding_lookup_sparse


class DenseColumn(Column):
    """A column of numbers, as many for each row."""

    def get_dense_tensor(self, transformation_cache, state_manager):
        """Return the numbers, a row for each of the features'."""
        return transformation_cache.get(self, state_manager)


class NumericColumn(DenseColumn, collections.namedtuple("NumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    """Numbers as they are."""

    name = property(lambda self: self.key, doc="str: the feature's key.")
    variable_shape = property(lambda self: TensorShape(self.shape), doc="TensorShape: of a row.")

    @property
    def parse_example_spec(self):
        """Dict[str, FixedLenFeature]: how examples in files are read."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers in float32, after the user's function."""
        feature = transformation_cache.get(self.key, state_manager)
        if isinstance(feature, SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                             f"supported. key: {self.key}")
        if self.normalizer_fn is not None:
            feature = convert_to_tensor(self.normalizer_fn(feature))
        return ops.cast(feature, float32)


class BucketizedColumn(DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", (
        "source_column", "boundaries"))):
    """Numbers by the interval in which they are."""

    name = property(lambda self: f"{self.source_column.name}_bucketized", doc="str: made of the source's.")
    parse_example_spec = property(lambda self: self.source_column.parse_example_spec,
                                  doc="Dict[str, FixedLenFeature]: how examples in files are read.")
    variable_shape = property(lambda self: TensorShape((*self.source_column.shape, len(self.boundaries) + 1)),
                              doc="TensorShape: of a row.")
    num_buckets = property(lambda self: (len(self.boundaries) + 1) * self.source_column.shape[0],
                           doc="int: how many categories there are.")

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the intervals."""
        source = transformation_cache.get(self.source_column, state_manager)
        bounds = convert_to_tensor(list(map(float, self.boundaries)), source.dtype)
        return ops.searchsorted(bounds, ops.contiguous(source), right=True)

    def get_dense_tensor(self, transformation_cache, state_manager):
        """Return a one for each number at the place of its interval, among zeros."""
        places = ops.cast(transformation_cache.get(self, state_manager), int64)
        return ops.cast(ops.one_hot(places, len(self.boundaries) + 1), float32)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """Return the numbers of the categories: those of the second number of a row come after those of the first."""
        places = transformation_cache.get(self, state_manager)
        rows, width = places.shape[0], self.source_column.shape[0]
        places = ops.cast(ops.reshape(places, (rows, width)), "int32")
        numbers = places + (len(self.boundaries) + 1) * ops.arange(0, width, dtype="int32")
        where = ops.argwhere(ops.ones((rows, width), dtype="bool"))
        return IdWeightPair(SparseTensor(ops.cast(where, int64), ops.reshape(numbers, (-1,)),
                                         convert_to_tensor([rows, width], int64)), None)


class _OfCategories(DenseColumn):
    """Numbers made of a column of categories."""

    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec,
                                  doc="Dict[str, Any]: how examples in files are read.")

    def _refuse(self, of_sequences):
        if isinstance(self.categorical_column, SequenceCategoricalColumn) is not of_sequences:
            wanted = "sequence_categorical_column_with_..." if of_sequences else "categorical_column_with_..."
            raise ValueError(f"In {type(self).__name__} {self.name}: got categorical_column={self.categorical_column}, "
                             f"expected one made by {wanted}")

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        """Return the numbers of each step, and how many steps each row has."""
        self._refuse(True)
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return SequenceDensePair(self._numbers(transformation_cache, state_manager), lengths_of(pair.id_tensor))

    def get_dense_tensor(self, transformation_cache, state_manager):
        """Return the numbers, a row for each of the features'."""
        self._refuse(False)
        return self._numbers(transformation_cache, state_manager)


class IndicatorColumn(_OfCategories, collections.namedtuple("IndicatorColumn", ("categorical_column",))):
    """How often each category is there."""

    name = property(lambda self: f"{self.categorical_column.name}_indicator", doc="str: made of the categories'.")

    @property
    def variable_shape(self):
        """TensorShape: of a row."""
        count = self.categorical_column.num_buckets
        return TensorShape([count] if isinstance(self.categorical_column, SequenceCategoricalColumn) else [1, count])

    def _numbers(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)

    def transform_feature(self, transformation_cache, state_manager):
        """Return how often each category is there, or the sums of what they count."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        count, sizes = self.categorical_column.num_buckets, tuple(ids.dense_shape.numpy().tolist())[:-1]
        amounts = ops.ones_like(ids.values, dtype="float32") if weights is None else \
            ops.cast(weights.values, float32)
        known = ops.logical_and(ops.ge(ids.values, 0), ops.lt(ids.values, count))
        amounts = ops.where(known, amounts, ops.zeros_like(amounts))
        place, scale = ops.cast(ops.where(known, ids.values, ops.zeros_like(ids.values)), int64), count
        for axis in reversed(range(len(sizes))):
            place = place + ids.indices[:, axis] * scale
            scale *= sizes[axis]
        made = ops.scatter_add(ops.zeros((math.prod(sizes) * count,), dtype="float32"), 0, place, amounts)
        return ops.reshape(made, (*sizes, count))


class _Embedded(_OfCategories):
    """Rows of a table, joined."""

    def _joined(self, table, ids, weights):
        look = safe_embedding_lookup_sparse if self.use_safe_embedding_lookup else embedding_lookup_sparse
        return look(table, ids, weights, combiner=self.combiner, max_norm=self.max_norm)

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers of the categories, and what each counts."""
        return self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)

    def _numbers(self, transformation_cache, state_manager):
        ids, weights = transformation_cache.get(self, state_manager)
        return self._joined(self._table(state_manager), ids, weights)


class EmbeddingColumn(_Embedded, collections.namedtuple("EmbeddingColumn", (
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
        "max_norm", "trainable", "use_safe_embedding_lookup"))):
    """Rows of a table of the column's own."""

    name = property(lambda self: f"{self.categorical_column.name}_embedding", doc="str: made of the categories'.")
    variable_shape = property(lambda self: TensorShape([self.dimension]), doc="TensorShape: of a row.")

    def create_state(self, state_manager):
        """Make the table; its first values are a checkpoint's where one is named."""
        table = state_manager.create_variable(
            self, "embedding_weights", (self.categorical_column.num_buckets, self.dimension), float32, self.trainable,
            initializer=self.initializer)
        if self.ckpt_to_load_from is not None:
            table.assign(load_variable(self.ckpt_to_load_from, self.tensor_name_in_ckpt))

    def _table(self, state_manager):
        return state_manager.get_variable(self, "embedding_weights")


class SharedTable:
    """A table that several columns have in common; it is made when it is first asked for.

    Parameters
    ----------
    rows, dimension : int
        Its sizes.
    initializer : Callable
        Makes its first value.
    checkpoint : Tuple[str, str], optional
        The checkpoint that has its first value, and the name there.
    trainable : bool
        Whether tapes watch it.
    name : str
        Its name.

    """

    def __init__(self, rows, dimension, initializer, checkpoint, trainable, name):
        self.rows, self.dimension, self.initializer = rows, dimension, initializer
        self.checkpoint, self.trainable, self.name, self._variable = checkpoint, trainable, name, None

    @property
    def embedding_weights(self):
        """Variable: the table."""
        if self._variable is None:
            value = self.initializer((self.rows, self.dimension), dtype="float32") if self.checkpoint is None else \
                load_variable(*self.checkpoint)
            self._variable = Variable(value, trainable=self.trainable, name=self.name)
        return self._variable


class SharedEmbeddingColumn(_Embedded, collections.namedtuple("SharedEmbeddingColumn", (
        "categorical_column", "shared_embedding_column_creator", "combiner", "max_norm",
        "use_safe_embedding_lookup"))):
    """Rows of a table that several columns have in common."""

    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding",
                    doc="str: made of the categories'.")
    variable_shape = property(lambda self: TensorShape([self.shared_embedding_column_creator.dimension]),
                              doc="TensorShape: of a row.")

    def _table(self, state_manager):
        return self.shared_embedding_column_creator.embedding_weights


class SequenceNumericColumn(Column, collections.namedtuple("SequenceNumericColumn", (
        "key", "shape", "default_value", "dtype", "normalizer_fn"))):
    """Numbers of the steps of sequences."""

    name = property(lambda self: self.key, doc="str: the feature's key.")
    variable_shape = property(lambda self: TensorShape(self.shape), doc="TensorShape: of a step.")
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(self.dtype)},
                                  doc="Dict[str, VarLenFeature]: how examples in files are read.")

    def transform_feature(self, transformation_cache, state_manager):
        """Return the numbers after the user's function, as a sparse tensor."""
        feature = as_sparse(transformation_cache.get(self.key, state_manager))
        return feature if self.normalizer_fn is None else self.normalizer_fn(feature)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        """Return the numbers of each step, and how many steps each row has."""
        sparse = transformation_cache.get(self, state_manager)
        dense, size = to_dense(sparse, self.default_value), math.prod(self.shape)
        dense = ops.reshape(dense, (dense.shape[0], -1, *self.shape))
        lengths = lengths_of(sparse)
        if sparse.indices.shape[-1] == 2:
            lengths = ops.cast(ops.ceil(ops.cast(lengths, "float64") / size), int64)
        return SequenceDensePair(dense, lengths)
