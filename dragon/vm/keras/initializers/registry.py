"""Initializers by name; an array is one that returns it."""
from dragon import _C
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.registry import Registry
from dragon.vm.keras.initializers import chance
from dragon.vm.keras.initializers.fixed import STFT, Constant, Identity, Ones, Zeros
from dragon.vm.keras.initializers.initializer import Initializer


class InitializerRegistry(Registry):
    """Initializers, of which arrays are some."""

    def get(self, identifier):
        """Return an initializer by its name, configuration, class, or as it is; an array is what it returns.

        Parameters
        ----------
        identifier : Optional[Union[str, dict, Callable, Tensor, numpy.ndarray]]
            What to look for.

        """
        if isinstance(identifier, str):
            found = self.deserialize({"class_name": identifier, "config": {}})
            if callable(found):
                return super().get(found)
            raise self.unknown(identifier)
        if isinstance(identifier, _C.Tensor) or hasattr(identifier, "__array_interface__"):
            return returning(identifier)
        return super().get(identifier)


def returning(values):
    """Return an initializer that hands out given values."""

    def initialize(shape, dtype=None):
        if tuple(shape) != tuple(values.shape):
            raise ValueError(f"Expected `shape` to be {tuple(values.shape)} for direct tensor as initializer. "
                             f"Received shape={shape}")
        return convert_to_tensor(values, dtype=standardize_dtype(dtype))

    return initialize


REGISTRY = InitializerRegistry("initializer", (
    Initializer, Constant, Identity, Ones, STFT, Zeros, chance.GlorotNormal, chance.GlorotUniform, chance.HeNormal,
    chance.HeUniform, chance.LecunNormal, chance.LecunUniform, chance.Orthogonal, chance.RandomNormal,
    chance.RandomUniform, chance.TruncatedNormal, chance.VarianceScaling), IdentityInitializer=Identity,
    STFTInitializer=STFT, OrthogonalInitializer=chance.Orthogonal, normal=chance.RandomNormal,
    uniform=chance.RandomUniform, one=Ones, zero=Zeros)
