"""Initializers by name."""
from dragon import _C
from dragon.vm.keras.core import registry
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.initializers import chance
from dragon.vm.keras.initializers.fixed import STFT, Constant, Identity, Ones, Zeros
from dragon.vm.keras.initializers.initializer import Initializer

CLASSES = (Initializer, Constant, Identity, Ones, STFT, Zeros, chance.GlorotNormal, chance.GlorotUniform,
           chance.HeNormal, chance.HeUniform, chance.LecunNormal, chance.LecunUniform, chance.Orthogonal,
           chance.RandomNormal, chance.RandomUniform, chance.TruncatedNormal, chance.VarianceScaling)
TABLE = {cls.__name__: cls for cls in CLASSES}
TABLE.update({to_snake_case(cls.__name__): cls for cls in CLASSES})
TABLE.update({"IdentityInitializer": Identity, "STFTInitializer": STFT, "OrthogonalInitializer": chance.Orthogonal,
              "normal": chance.RandomNormal, "uniform": chance.RandomUniform, "one": Ones, "zero": Zeros})


def serialize(initializer):
    """Return the configuration of an initializer."""
    return registry.serialize(initializer)


def deserialize(config, custom_objects=None):
    """Return the initializer that a configuration describes.

    Parameters
    ----------
    config : Union[str, dict]
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)


def get(identifier):
    """Return an initializer by its name, configuration, class, or as it is; an array is what it returns.

    Parameters
    ----------
    identifier : Optional[Union[str, dict, Callable, Tensor, numpy.ndarray]]
        What to look for.

    """
    if identifier is None:
        return None
    if isinstance(identifier, str):
        found = deserialize({"class_name": identifier, "config": {}})
        return registry.resolve("initializer", found if callable(found) else identifier, {})
    if isinstance(identifier, _C.Tensor) or hasattr(identifier, "__array_interface__"):
        return _returning(identifier)
    return registry.resolve("initializer", identifier, TABLE, deserialize)


def _returning(values):
    """Return an initializer that hands out given values."""

    def initialize(shape, dtype=None):
        if tuple(shape) != tuple(values.shape):
            raise ValueError(f"Expected `shape` to be {tuple(values.shape)} for direct tensor as initializer. "
                             f"Received shape={shape}")
        return convert_to_tensor(values, dtype=standardize_dtype(dtype))

    return initialize
