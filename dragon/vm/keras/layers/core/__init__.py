"""The layers of every day."""
from dragon.vm.keras.layers.core.dense import Dense
from dragon.vm.keras.layers.core.einsum_dense import EinsumDense
from dragon.vm.keras.layers.core.embedding import Embedding
from dragon.vm.keras.layers.core.lambda_layer import Lambda
from dragon.vm.keras.layers.core.masking import Masking
from dragon.vm.keras.layers.core.reversible_embedding import ReversibleEmbedding
