"""Layers that prepare data."""
from dragon.vm.keras.layers.preprocessing.category_encoding import CategoryEncoding  # noqa: F401
from dragon.vm.keras.layers.preprocessing.discretization import Discretization  # noqa: F401
from dragon.vm.keras.layers.preprocessing.hashing import HashedCrossing, Hashing  # noqa: F401
from dragon.vm.keras.layers.preprocessing.integer_lookup import IntegerLookup  # noqa: F401
from dragon.vm.keras.layers.preprocessing.normalization import Normalization  # noqa: F401
from dragon.vm.keras.layers.preprocessing.pipeline import Pipeline  # noqa: F401
from dragon.vm.keras.layers.preprocessing.rescaling import Rescaling  # noqa: F401
from dragon.vm.keras.layers.preprocessing.string_lookup import StringLookup  # noqa: F401
from dragon.vm.keras.layers.preprocessing.text_vectorization import TextVectorization  # noqa: F401
from dragon.vm.keras.layers.preprocessing.spectrograms import MelSpectrogram, STFTSpectrogram  # noqa: F401
