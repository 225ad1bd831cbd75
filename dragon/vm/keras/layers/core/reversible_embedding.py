"""A table of vectors that also scores vectors against its rows, as language models do at their end."""
from dragon.vm.keras.core.masking import set_keras_mask
from dragon.vm.keras.layers.core.embedding import Embedding
from dragon.vm.shared.tensors.tensor import ops


class ReversibleEmbedding(Embedding):
    """Replace numbers by the rows of a table, or with `reverse=True` multiply vectors by the table's columns.

    Parameters
    ----------
    input_dim, output_dim : int
        How many rows the table has, and how long they are.
    tie_weights : bool, optional, default=True
        Whether one table serves both ways.
    embeddings_initializer, embeddings_regularizer, embeddings_constraint, mask_zero : optional
        As for `Embedding`.
    reverse_dtype : str, optional
        The dtype in which scores are computed.
    logit_soft_cap : float, optional
        Scores are bent by tanh to stay within this.

    """

    def __init__(self, input_dim, output_dim, tie_weights=True, embeddings_initializer="uniform",
                 embeddings_regularizer=None, embeddings_constraint=None, mask_zero=False, reverse_dtype=None,
                 logit_soft_cap=None, **kwargs):
        super().__init__(input_dim, output_dim, embeddings_initializer=embeddings_initializer,
                         embeddings_regularizer=embeddings_regularizer, embeddings_constraint=embeddings_constraint,
                         mask_zero=mask_zero, **kwargs)
        self.tie_weights = tie_weights
        self.reverse_dtype = reverse_dtype
        self.logit_soft_cap = logit_soft_cap

    def build(self, input_shape=None):
        """Make the tables."""
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                name="reverse_embeddings", shape=(self.output_dim, self.input_dim),
                initializer=self.embeddings_initializer)

    def saved_weights(self):
        return super().saved_weights() + ([] if self.tie_weights else ["reverse_embeddings"])

    def call(self, inputs, reverse=False):
        if not reverse:
            made, mask = super().call(inputs), super().compute_mask(inputs)
            if mask is not None:
                set_keras_mask(made, mask)
            return made
        table = self.adapted()
        kernel = ops.permute(table.value if table is self._embeddings else table, (1, 0)) if self.tie_weights else (
            self.reverse_embeddings.value)
        if self.reverse_dtype is not None:
            wanted = self.reverse_dtype
            inputs, kernel = ops.cast(inputs, wanted), ops.cast(kernel, wanted)
        scores = ops.matmul(inputs, kernel)
        cap = self.logit_soft_cap
        return scores if cap is None else ops.mul(ops.tanh(ops.div(scores, cap)), cap)

    def compute_mask(self, inputs, mask=None):
        """Return None: `call` sets the mask where there is one."""
        return None

    def compute_output_shape(self, input_shape, reverse=False):
        return (*input_shape[:-1], self.input_dim) if reverse else (*input_shape, self.output_dim)

    def compute_output_spec(self, inputs, reverse=False):
        from dragon.vm.keras.core.keras_tensor import KerasTensor
        return KerasTensor(self.compute_output_shape(inputs.shape, reverse), dtype=self.compute_dtype)
