"""What a FeatureSpace is made of: features, crosses of features, and layers without weights."""

from dragon.vm.keras import ops as K
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer
from dragon.vm.keras.saving.serialization import deserialize_keras_object


def _check_mode(output_mode, choices):
    if output_mode not in choices:
        raise ValueError(f"Invalid value for argument `output_mode`. Expected one of {choices}. "
                         f"Received: output_mode={output_mode}")


class Cross(Configured):
    """Features whose combinations are one feature.

    Parameters
    ----------
    feature_names : Sequence[str]
        The features.
    crossing_dim : int
        How many bins there are.
    output_mode : {"one_hot", "int"}, optional
        The form of the output.

    """

    def __init__(self, feature_names, crossing_dim, output_mode="one_hot"):
        _check_mode(output_mode, ("int", "one_hot"))
        self.feature_names = tuple(feature_names)
        self.crossing_dim = crossing_dim
        self.output_mode = output_mode

    name = property(lambda self: "_X_".join(self.feature_names), doc="str: the names of the features, joined.")


class Feature(Configured):
    """A column of data, and the layer that prepares it.

    Parameters
    ----------
    dtype : str
        Of the data.
    preprocessor : Layer
        The layer.
    output_mode : {"one_hot", "int", "float"}
        The form of the output.

    """

    def __init__(self, dtype, preprocessor, output_mode):
        _check_mode(output_mode, ("int", "one_hot", "float"))
        self.dtype = dtype
        self.preprocessor = deserialize_keras_object(preprocessor) if isinstance(preprocessor, dict) else preprocessor
        self.output_mode = output_mode


class TFDConcat(DataLayer):
    """Put tensors side by side along an axis."""

    def __init__(self, axis, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    get_config = DataLayer.get_config  # the arguments that were kept, as of a class of the user

    def call(self, xs):
        """Return the tensors as one."""
        return K.concatenate(xs, axis=self.axis)


class TFDIdentity(DataLayer):
    """Return the input."""

    def call(self, x):
        """Return the input."""
        return x

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape
