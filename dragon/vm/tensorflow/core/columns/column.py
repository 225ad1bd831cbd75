"""What feature columns share: settings, their copies as dictionaries, and features that are transformed once."""
import collections

from dragon.vm.shared.arrays.array import expand_dims
from dragon.vm.shared.arrays.gathering import gather_nd
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import DType, as_dtype, int64, string
from dragon.vm.shared.tensors.tensor import ops

IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
IdWeightPair.__doc__ = "Numbers of categories, and what each counts."
SequenceDensePair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))
SequenceDensePair.__doc__ = "Values of sequences, and how many each has."


def check_key(key):
    """Raise a ValueError if a key is no text."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def check_kind(dtype, key):
    """Return a dtype of text or of whole numbers, or raise a ValueError."""
    dtype = as_dtype(dtype)
    if dtype is not string and not dtype.is_integer:
        raise ValueError(f"column_name: {key} dtype must be string or integer. dtype: {dtype}.")
    return dtype


class Column:
    """A column; the classes below are named tuples of its settings."""

    def get_config(self):
        """Return the settings as a dictionary."""
        return {name: _told(getattr(self, name)) for name in self._fields}

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        """Return a column of the settings that `get_config` gave.

        Parameters
        ----------
        config : dict
            The settings.
        custom_objects : dict, optional
            Functions by their names.
        columns_by_name : dict, optional
            Columns that are used in the place of those told of.

        Returns
        -------
        Column
            The column.

        """
        known = {} if columns_by_name is None else columns_by_name
        if set(config) != set(cls._fields):
            raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
        values = {name: _read(value, custom_objects or {}, known) for name, value in config.items()}
        if values.get("dtype") is not None:
            values["dtype"] = as_dtype(values["dtype"])
        return cls(**values)

    def create_state(self, state_manager):
        """Make the variables of the column, of which most have none."""

    def transform_feature(self, transformation_cache, state_manager):
        """Return what the column makes of its features."""
        raise NotImplementedError(f"{type(self).__name__}: got no way of transforming a feature")


def _told(value):
    """Return a setting as it stands in a dictionary."""
    if isinstance(value, Column):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple) and any(isinstance(item, Column) for item in value):
        return tuple(_told(item) for item in value)
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    return value.__name__ if callable(value) else value


def _read(value, functions, known):
    """Return the setting that a dictionary tells of."""
    if isinstance(value, (list, tuple)):
        return tuple(_read(item, functions, known) for item in value)
    if isinstance(value, str) and value in functions:
        return functions[value]
    if not isinstance(value, dict) or "class_name" not in value:
        return value
    kind = _find(value["class_name"])
    if kind is None:
        from dragon.vm.keras import initializers
        return initializers.deserialize(value)
    made = kind.from_config(value["config"], functions, known)
    return known.setdefault(made.name, made)


def _find(name, kind=Column):
    """Return the class of columns with a name."""
    for below in kind.__subclasses__():
        found = below if below.__name__ == name and hasattr(below, "_fields") else _find(name, below)
        if found is not None:
            return found
    return None


class FeatureTransformationCache:
    """Features, and what columns made of them, each once.

    Parameters
    ----------
    features : Dict[str, Tensor]
        The features by their keys.

    """

    def __init__(self, features):
        self._features, self._made = dict(features), {}

    def get(self, key, state_manager, training=None):
        """Return a feature, with at least two axes, or what a column makes of its own.

        Parameters
        ----------
        key : Union[str, Column]
            The feature's key, or the column.
        state_manager : StateManager, optional
            Has the variables of columns.
        training : bool, optional
            Changes nothing.

        Returns
        -------
        Union[Tensor, SparseTensor]
            The feature, or what was made of it.

        """
        place = type(key), key  # columns of two kinds may have the same settings
        if place not in self._made:
            if isinstance(key, str):
                if key not in self._features:
                    raise ValueError(f"Feature {key} is not in features dictionary.")
                self._made[place] = _with_two_axes(self._features[key], key)
            elif isinstance(key, Column):
                self._made[place] = key.transform_feature(self, state_manager)
            else:
                raise TypeError(f"\"key\" must be either a \"str\" or \"FeatureColumn\". Provided: {key}")
        return self._made[place]


def _with_two_axes(feature, key):
    if isinstance(feature, SparseTensor):
        return feature
    if hasattr(feature, "to_sparse"):
        return feature.to_sparse()
    feature = convert_to_tensor(feature)
    if not feature.shape.rank:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
    return expand_dims(feature, -1) if feature.shape.rank == 1 else feature


class StateManager:
    """Keeps the variables of columns by the column and a name."""

    def __init__(self):
        self._variables = collections.defaultdict(dict)

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        """Return a new variable.

        Parameters
        ----------
        feature_column : Column
            Whose it is.
        name : str
            Its name.
        shape : Sequence[int]
            Its shape.
        dtype : DType, optional, default="float32"
            Its dtype.
        trainable : bool, optional, default=True
            Whether tapes watch it.
        use_resource : bool, optional, default=True
            Changes nothing.
        initializer : Callable, optional
            Makes its first value.

        Returns
        -------
        Variable
            The variable.

        """
        from dragon.vm.keras import initializers
        from dragon.vm.shared.tensors.variable import Variable
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        make = initializers.GlorotUniform() if initializer is None else initializer
        value = make(tuple(shape), dtype=dtype or "float32")
        self._variables[feature_column][name] = Variable(value, trainable=trainable, name=name)
        return self._variables[feature_column][name]

    def get_variable(self, feature_column, name):
        """Return the variable of a column with a name."""
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]


def as_sparse(feature, ignored=None):
    """Return a feature as a sparse tensor, without what means that nothing is there: "" and -1."""
    if isinstance(feature, SparseTensor):
        return feature
    feature = convert_to_tensor(feature)
    nothing = (b"" if feature.dtype is string else -1) if ignored is None else ignored
    import numpy as np
    places = convert_to_tensor(np.argwhere(feature.numpy() != nothing).astype(np.int64))
    return SparseTensor(places, gather_nd(feature, places), convert_to_tensor(tuple(feature.shape), int64))


def with_values(sparse, values):
    """Return a sparse tensor of other values at the same places."""
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


def lengths_of(sparse):
    """Return how many steps each row of a sparse tensor has."""
    rows = int(sparse.dense_shape.numpy()[0])
    places = sparse.indices
    return ops.scatter_reduce(ops.zeros((rows,), dtype="int64"), 0, places[:, 0], places[:, 1] + 1, "amax",
                              include_self=True)
