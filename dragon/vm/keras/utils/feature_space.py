"""Tables of numbers and words as one vector for each row."""

from dragon.vm.keras import layers
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.naming import auto_name
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.preprocessing.feature_space import Cross, Feature, TFDConcat, TFDIdentity
from dragon.vm.keras.saving.serialization import deserialize_keras_object, serialize_keras_object
from dragon.vm.shared.letters import expect
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

# What may stand for a feature: a method's name, and the setting that it wants.
KINDS = {"float": None, "float_normalized": None, "float_rescaled": None, "integer_categorical": None,
         "string_categorical": None, "float_discretized": "num_discretization_bins",
         "integer_hashed": "hashing_dim", "string_hashed": "hashing_dim"}


class FeatureSpace(Layer):
    """Prepare the columns of a table, each in its way, and put them together.

    Parameters
    ----------
    features : Dict[str, Union[Feature, str]]
        For each column a feature, or the name of one of the methods that make them.
    output_mode : {"concat", "dict"}, optional
        One vector for each row, or a dictionary.
    crosses : Optional[Sequence], optional
        Names of features whose combinations are features too, or what `cross` returns.
    crossing_dim, hashing_dim, num_discretization_bins : int, optional, default=32
        How many bins crosses, hashes and discretized numbers have.
    name : Optional[str], optional
        The name.

    """

    @classmethod
    def cross(cls, feature_names, crossing_dim, output_mode="one_hot"):
        """Return the combinations of features as a feature."""
        return Cross(feature_names, crossing_dim, output_mode=output_mode)

    @classmethod
    def feature(cls, dtype, preprocessor, output_mode):
        """Return a feature that a layer of the user's prepares."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def _made(cls, kind, name, column, output_mode, layer, **settings):
        name = name or auto_name(kind)
        return Feature(column, layer(name=f"{name}_preprocessor", **settings), output_mode)

    @classmethod
    def float(cls, name=None):
        """Return a feature of numbers as they are."""
        return cls._made("float", name, "float32", "float", TFDIdentity, dtype="float32")

    @classmethod
    def float_rescaled(cls, scale=1.0, offset=0.0, name=None):
        """Return a feature of numbers times a scale plus an offset."""
        return cls._made("float_rescaled", name, "float32", "float", layers.Rescaling, scale=scale, offset=offset)

    @classmethod
    def float_normalized(cls, name=None):
        """Return a feature of numbers with mean 0 and variance 1."""
        return cls._made("float_normalized", name, "float32", "float", layers.Normalization, axis=-1)

    @classmethod
    def float_discretized(cls, num_bins, bin_boundaries=None, output_mode="one_hot", name=None):
        """Return a feature of the bins that numbers fall into."""
        return cls._made("float_discretized", name, "float32", output_mode, layers.Discretization, num_bins=num_bins,
                         bin_boundaries=bin_boundaries)

    @classmethod
    def integer_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """Return a feature of integers that are looked up."""
        return cls._made("integer_categorical", name, "int32", output_mode, layers.IntegerLookup,
                         max_tokens=max_tokens, num_oov_indices=num_oov_indices)

    @classmethod
    def string_categorical(cls, max_tokens=None, num_oov_indices=1, output_mode="one_hot", name=None):
        """Return a feature of words that are looked up."""
        return cls._made("string_categorical", name, "string", output_mode, layers.StringLookup,
                         max_tokens=max_tokens, num_oov_indices=num_oov_indices)

    @classmethod
    def string_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """Return a feature of the bins of words by their hash."""
        return cls._made("string_hashed", name, "string", output_mode, layers.Hashing, num_bins=num_bins)

    @classmethod
    def integer_hashed(cls, num_bins, output_mode="one_hot", name=None):
        """Return a feature of the bins of integers by their hash."""
        return cls._made("integer_hashed", name, "int32", output_mode, layers.Hashing, num_bins=num_bins)

    def __init__(self, features, output_mode="concat", crosses=None, crossing_dim=32, hashing_dim=32,
                 num_discretization_bins=32, name=None):
        super().__init__(name=name)
        if not features:
            raise ValueError(f"The `features` argument cannot be None or empty. Received: features={features}")
        expect(features, dict, "FeatureSpace", "features")
        if output_mode not in ("dict", "concat"):
            raise ValueError("Invalid value for argument `output_mode`. Expected one of {'dict', 'concat'}. "
                             f"Received: output_mode={output_mode}")
        self.crossing_dim = crossing_dim
        self.hashing_dim = hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.output_mode = output_mode
        self.features = {key: self._as_feature(key, value) for key, value in features.items()}
        self.crosses = [self._as_cross(cross, features) for cross in crosses or ()]
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        self.inputs = {key: layers.Input(shape=(1,), dtype=value.dtype, name=key)
                       for key, value in self.features.items()}
        self.preprocessors = {key: value.preprocessor for key, value in self.features.items()}
        self.crossers = {cross.name: layers.HashedCrossing(cross.crossing_dim, name=cross.name)
                         for cross in self.crosses}
        self.encoded_features = None
        self.one_hot_encoders = {}
        self.concat = None
        self._is_adapted = self._sublayers_built = False

    def _as_feature(self, name, feature):
        if isinstance(feature, dict):
            return deserialize_keras_object(feature)
        if isinstance(feature, Feature):
            return feature
        if not isinstance(feature, str) or feature not in KINDS:
            raise ValueError(f"Invalid feature type: {feature}")
        setting = KINDS[feature]
        sizes = () if setting is None else (getattr(self, setting),)
        return getattr(self, feature)(*sizes, name=name)

    def _as_cross(self, cross, features):
        cross = deserialize_keras_object(cross) if isinstance(cross, dict) else cross
        if isinstance(cross, Cross):
            return cross
        if not self.crossing_dim:
            raise ValueError("When specifying `crosses`, the argument `crossing_dim` should be specified as well. "
                             f"Received: crossing_dim={self.crossing_dim}")
        if not set(cross) <= set(features):
            raise ValueError("All features referenced in the `crosses` argument should be present in the `features` "
                             f"dict. Received unknown features: {cross}")
        return Cross(cross, crossing_dim=self.crossing_dim)

    # --- learning

    def _adaptable(self):
        """Return the names of features whose layers learn from data."""
        def learns(layer):
            given = isinstance(layer, layers.Normalization) and layer.input_mean is not None
            given = given or isinstance(layer, layers.TextVectorization) and layer._has_input_vocabulary
            return hasattr(layer, "adapt") and not given
        return [name for name, layer in self.preprocessors.items() if learns(layer)]

    def adapt(self, dataset):
        """Have the layers learn from a table.

        Parameters
        ----------
        dataset : Union[Dataset, dict]
            A dataset of dictionaries, or a dictionary of columns.

        """
        from dragon.vm.shared.data.dataset import Dataset
        if isinstance(dataset, dict):
            dataset = Dataset.from_tensor_slices(dataset)
        if not isinstance(dataset, Dataset):
            raise ValueError("`adapt()` can only be called on a tf.data.Dataset or a dict of arrays/lists. "
                             f"Received instead: {dataset} (of type {type(dataset)})")
        for name in self._adaptable():
            column = dataset.map(lambda row, name=name: row[name])
            rank = len(next(iter(column)).shape)
            column = column.batch(32) if rank == 0 else column
            if rank < 2:
                column = column.map(_as_column)
            self.preprocessors[name].adapt(column)
        self._is_adapted = True
        self.get_encoded_features()
        self.built = True
        self._sublayers_built = True

    def _check_if_built(self):
        if not self._sublayers_built:
            self.get_encoded_features()
            self._sublayers_built = True

    def get_inputs(self):
        """Return the symbolic inputs, by name."""
        self._check_if_built()
        return self.inputs

    def get_encoded_features(self):
        """Return the symbolic outputs."""
        if not self._is_adapted and self._adaptable():
            raise ValueError("You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it. "
                             f"Features that learn: {self._adaptable()}")
        self._is_adapted = True
        if self.encoded_features is None:
            prepared = self._prepared(self.inputs)
            self.encoded_features = self._merged(prepared, self._crossed(prepared))
        return self.encoded_features

    # --- rows

    def _prepared(self, data):
        return {name: self.preprocessors[name](x) for name, x in data.items()}

    def _crossed(self, prepared):
        return {cross.name: self.crossers[cross.name]([prepared[name] for name in cross.feature_names])
                for cross in self.crosses}

    def _merged(self, prepared, crossed):
        """Return all features, encoded, in the form of the output mode."""
        found = {}
        for parts, specs in ((prepared, self.features), (crossed, self.crosses_by_name)):
            for name in sorted(parts):
                found[name] = self._encoded(name, parts[name], specs[name])
        if self.output_mode == "dict":
            return found
        if self.concat is None:
            self.concat = TFDConcat(axis=-1)
        return self.concat(list(found.values()))

    def _encoded(self, name, x, spec):
        """Return a feature, as ones and zeros where that is its mode."""
        if self._sublayers_built:
            encoder = self.one_hot_encoders.get(name)
            return x if encoder is None else encoder(x)
        if spec.output_mode == "one_hot":
            self.one_hot_encoders[name] = encoder = self._encoder(name, x)
            x = encoder(x)
        dtype = standardize_dtype(x.dtype)
        if self.output_mode == "concat" and (dtype.startswith("int") or dtype == "string"):
            raise ValueError(f"Cannot concatenate features because feature '{name}' has not been encoded (it has dtype "
                             f"{dtype}). Consider using `output_mode='dict'`.")
        return x

    def _encoder(self, name, x):
        """Return the layer that makes ones and zeros of a feature's integers."""
        dtype = standardize_dtype(tree.flatten(x)[0].dtype)
        if not dtype.startswith("int"):
            raise ValueError(f"Feature '{name}' has `output_mode='one_hot'`. Thus its preprocessor should return an "
                             f"integer dtype. Instead it returns a {dtype} dtype.")
        layer = self.preprocessors.get(name) or self.crossers.get(name)
        if isinstance(layer, (layers.IntegerLookup, layers.StringLookup)):
            count = layer.vocabulary_size()
        elif isinstance(layer, (layers.Discretization, layers.HashedCrossing, layers.Hashing)):
            count = layer.num_bins
        elif isinstance(layer, layers.CategoryEncoding):
            count = layer.num_tokens
        else:
            raise ValueError(f"Feature '{name}' has `output_mode='one_hot'`. However it isn't a standard feature and "
                             "the dimensionality of its output space is not known, thus it cannot be one-hot encoded. "
                             f"Try using `output_mode='int'`. Received: preprocessor={layer}")
        return layers.CategoryEncoding(num_tokens=count, output_mode="multi_hot")

    def __call__(self, data):
        self._check_if_built()
        if not isinstance(data, dict):
            raise ValueError("A FeatureSpace can only be called with a dict. "
                             f"Received: data={data} (of type {type(data)}")
        data = {name: convert_to_tensor(x) for name, x in data.items()}
        single = any(len(x.shape) == 0 for x in data.values())
        data = {name: _as_column(x) if len(x.shape) < 2 else x for name, x in data.items()}
        prepared = self._prepared(data)
        made = self._merged(prepared, self._crossed(prepared))
        if not single:
            return made
        return tree.map_structure(lambda x: x[0] if len(x.shape) == 2 and x.shape[0] == 1 else x, made)

    # --- configurations and files

    def get_config(self):
        """Return the arguments that make an equal space."""
        return {"features": serialize_keras_object(dict(self.features)), "output_mode": self.output_mode,
                "crosses": serialize_keras_object(list(self.crosses)), "crossing_dim": self.crossing_dim,
                "hashing_dim": self.hashing_dim, "num_discretization_bins": self.num_discretization_bins}

    @classmethod
    def from_config(cls, config):
        """Return a space made from its configuration."""
        return cls(**config)

    def get_build_config(self):
        """Return what the layers are built with."""
        return {name: layer.get_build_config() for name, layer in self.preprocessors.items()}

    def build_from_config(self, config):
        """Build the layers for what is in a configuration."""
        for name, inner in config.items():
            if not self.preprocessors[name].built:
                self.preprocessors[name].build_from_config(inner)
        self._is_adapted = True

    def save(self, filepath):
        """Write the space into a file of the `.keras` format."""
        from dragon.vm.keras.saving import save_model
        save_model(self, filepath)

    def save_own_variables(self, store):
        """Put nothing into a file: the layers hold what was learnt."""

    def load_own_variables(self, store):
        """Take nothing from a file."""


def _as_column(x):
    """Return a number or a vector as a column."""
    from dragon.vm.shared.tensors.strings import StringTensor
    if isinstance(x, StringTensor):
        return StringTensor(x._array.reshape(-1, 1))
    return ops.reshape(x, (-1, 1))
