"""Attention by sums in place of products."""

from dragon.vm.keras.layers.attention.attention import Attention
from dragon.vm.shared.tensors.tensor import ops


class AdditiveAttention(Attention):
    """Attention whose scores are weighted sums of tanh of query plus key.

    Parameters
    ----------
    use_scale : bool, optional, default=True
        Weigh the features.

    """

    _left_out = "score_mode"

    def __init__(self, use_scale=True, dropout=0.0, **kwargs):
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape):
        """Make the weights of the features."""
        self._validate_inputs(input_shape)
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=[input_shape[0][-1]], initializer="glorot_uniform",
                                         dtype=self.dtype)

    def _calculate_scores(self, query, key):
        made = ops.tanh(ops.add(ops.unsqueeze(query, -2), ops.unsqueeze(key, -3)))
        return ops.sum(made if self.scale is None else ops.mul(self.scale.value, made), -1)
