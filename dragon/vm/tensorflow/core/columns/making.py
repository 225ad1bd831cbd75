"""The functions that make columns of numbers, and what they refuse."""
import math

from dragon.vm.keras.initializers import TruncatedNormal
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.tensorflow.core.columns.categories import CategoricalColumn
from dragon.vm.tensorflow.core.columns.column import Column, check_key
from dragon.vm.tensorflow.core.columns.dense import (BucketizedColumn, EmbeddingColumn, IndicatorColumn, NumericColumn,
                                                     SequenceNumericColumn, SharedEmbeddingColumn, SharedTable)
from dragon.vm.tensorflow.core.flow.execution import executing_eagerly


def _check_shape(shape, key):
    sizes = tuple(shape) if isinstance(shape, (list, tuple, TensorShape)) else (shape,)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return sizes


def _check_default(shape, value, dtype, key):
    """Return what examples without a feature have, as nested tuples of the feature's shape."""
    if value is None:
        return None
    import numpy as np
    array = np.asarray(value)
    if not array.ndim:
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise ValueError(f"The shape of default_value must be equal to given shape. default_value: {value}, shape: "
                         f"{shape}, key: {key}")
    if array.dtype.kind not in ("iu" if dtype.is_integer else "iuf"):
        raise TypeError(f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: "
                        f"{key}")
    return _tuples(array.astype(dtype.as_numpy_dtype).tolist())


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _check_numbers(key, shape, dtype, normalizer_fn):
    shape, dtype = _check_shape(shape, key), as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return shape, dtype


def numeric_column(key, shape=(1,), default_value=None, dtype=float32, normalizer_fn=None):
    """Return a column of numbers as they are.

    Parameters
    ----------
    key : str
        The feature's key.
    shape : Sequence[int], optional, default=(1,)
        Of a row.
    default_value : Any, optional
        What examples without the feature have.
    dtype : DType, optional, default="float32"
        Of the feature.
    normalizer_fn : Callable, optional
        What numbers go through.

    Returns
    -------
    NumericColumn
        The column.

    """
    shape, dtype = _check_numbers(key, shape, dtype, normalizer_fn)
    return NumericColumn(key, shape, _check_default(shape, default_value, dtype, key), dtype, normalizer_fn)


def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=float32, normalizer_fn=None):
    """Return a column of the numbers of steps.

    Parameters
    ----------
    key : str
        The feature's key.
    shape : Sequence[int], optional, default=(1,)
        Of a step.
    default_value : float, optional, default=0.0
        What stands beyond the end of a sequence.
    dtype : DType, optional, default="float32"
        Of the feature.
    normalizer_fn : Callable, optional
        What the sparse tensor goes through.

    Returns
    -------
    SequenceNumericColumn
        The column.

    """
    shape, dtype = _check_numbers(key, shape, dtype, normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def bucketized_column(source_column, boundaries):
    """Return a column of the intervals in which numbers are.

    Parameters
    ----------
    source_column : NumericColumn
        The numbers.
    boundaries : Sequence[float]
        Where intervals begin, ascending.

    Returns
    -------
    BucketizedColumn
        The column.

    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def indicator_column(categorical_column):
    """Return a column of how often each category is there.

    Parameters
    ----------
    categorical_column : CategoricalColumn
        The categories.

    Returns
    -------
    IndicatorColumn
        The column.

    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError("Unsupported input type. Input must be a CategoricalColumn. Given: "
                         f"{categorical_column}")
    return IndicatorColumn(categorical_column)


def _check_table(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt):
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Given: {initializer}")
    return initializer or TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))


def embedding_column(categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    """Return a column of rows of a table, joined.

    Parameters
    ----------
    categorical_column : CategoricalColumn
        The categories.
    dimension : int
        How long rows are.
    combiner : str, optional, default="mean"
        How several are joined: "mean", "sqrtn" or "sum".
    initializer : Callable, optional
        Makes the table; a truncated normal distribution by default.
    ckpt_to_load_from, tensor_name_in_ckpt : str, optional
        The checkpoint that has the table's first value, and the name there.
    max_norm : float, optional
        To which rows are cut.
    trainable : bool, optional, default=True
        Whether tapes watch the table.
    use_safe_embedding_lookup : bool, optional, default=True
        Whether rows without categories are zeros and numbers below 0 do not count.

    Returns
    -------
    EmbeddingColumn
        The column.

    """
    initializer = _check_table(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return EmbeddingColumn(expect(categorical_column, CategoricalColumn, "embedding_column", "categorical_column"),
                           dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
                           trainable, use_safe_embedding_lookup)


def shared_embeddings(categorical_columns, dimension, combiner="mean", initializer=None,
                      shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                      max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    """Return columns of rows of one table, joined; only where a graph is written, as TensorFlow has it.

    Parameters
    ----------
    categorical_columns : Sequence[CategoricalColumn]
        Columns of categories of one kind and one number.
    dimension : int
        How long rows are.
    combiner : str, optional, default="mean"
        How several are joined: "mean", "sqrtn" or "sum".
    initializer : Callable, optional
        Makes the table; a truncated normal distribution by default.
    shared_embedding_collection_name : str, optional
        The table's name.
    ckpt_to_load_from, tensor_name_in_ckpt : str, optional
        The checkpoint that has the table's first value, and the name there.
    max_norm : float, optional
        To which rows are cut.
    trainable : bool, optional, default=True
        Whether tapes watch the table.
    use_safe_embedding_lookup : bool, optional, default=True
        Whether rows without categories are zeros and numbers below 0 do not count.

    Returns
    -------
    List[SharedEmbeddingColumn]
        The columns.

    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = _check_table(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    columns = list(categorical_columns)
    counts = {column.num_buckets for column in columns}
    if len(counts) > 1:
        raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of "
                         f"buckets. Given: {sorted(counts)}")
    kinds = {type(column.categorical_column if hasattr(column, "categorical_column") else column)
             for column in columns}
    if len(kinds) > 1:
        raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                         f"weighted_categorical_column or sequence column of the same type. Given: {columns}")
    name = shared_embedding_collection_name or \
        "_".join(sorted(column.name for column in columns)) + "_shared_embedding"
    checkpoint = None if ckpt_to_load_from is None else (ckpt_to_load_from, tensor_name_in_ckpt)
    table = SharedTable(counts.pop(), dimension, initializer, checkpoint, trainable, name)
    return [SharedEmbeddingColumn(column, table, combiner, max_norm, use_safe_embedding_lookup) for column in columns]


def make_parse_example_spec(feature_columns):
    """Return how `tf.io.parse_example` reads the features of columns.

    Parameters
    ----------
    feature_columns : Sequence[Column]
        The columns.

    Returns
    -------
    Dict[str, Any]
        Kinds of features by their keys.

    """
    spec = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if key in spec and value != spec[key]:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and "
                                 f"{spec[key]}")
            spec[key] = value
    return spec
