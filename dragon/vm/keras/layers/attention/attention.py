"""Attention by dot products, or by a hyperbolic tangent, without projections."""

from dragon.vm.keras import random
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.promotion import product
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.random.seed_generator import SeedGenerator
from dragon.vm.shared.tensors.tensor import ops


class Attention(Layer):
    """Mix values by the softmax of how queries fit keys; called on `[query, value]` or `[query, value, key]`.

    Parameters
    ----------
    use_scale : bool, optional, default=False
        Multiply the scores by a weight.
    score_mode : {"dot", "concat"}, optional, default="dot"
        Scores are dot products, or weighted sums of tanh of query plus key.

    """

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.score_mode = score_mode
        self.dropout = dropout
        self.seed = seed
        if dropout > 0:
            self.seed_generator = SeedGenerator(seed=seed)
        if score_mode not in ("dot", "concat"):
            raise ValueError("Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. "
                             f"Received: score_mode={score_mode}")

    def build(self, input_shape):
        """Make the weights that the mode asks for."""
        self._validate_inputs(input_shape)
        self.scale = self.concat_score_weight = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones", dtype=self.dtype)
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(name="concat_score_weight", shape=(), initializer="ones",
                                                       dtype=self.dtype)

    def _calculate_scores(self, query, key):
        """Return how each query fits each key."""
        scale = None if self.scale is None else self.scale.value
        if self.score_mode == "dot":
            scores = product(query, ops.transpose(key, -2, -1))
            return scores if scale is None else ops.mul(scores, scale)
        sums = ops.add(ops.unsqueeze(query, -2), ops.unsqueeze(key, -3))
        sums = sums if scale is None else ops.mul(scale, sums)
        return ops.mul(self.concat_score_weight.value, ops.sum(ops.tanh(sums), -1))

    def _apply_scores(self, scores, value, scores_mask=None, training=False):
        """Return the mixed values, and the weights they were mixed by."""
        if scores_mask is not None:
            mask = ops.unsqueeze(scores_mask, -2) if len(scores_mask.shape) == 2 else scores_mask
            most = 65504.0 if scores.dtype.name == "float16" else 1.0e9
            scores = ops.where(mask, scores, ops.sub(scores, most))
        weights = ops.softmax(scores, -1)
        if training and self.dropout > 0:
            weights = random.dropout(weights, self.dropout, seed=self.seed_generator)
        return product(weights, value), weights

    def _calculate_score_mask(self, scores, v_mask, use_causal_mask):
        """Return which scores count, or None for all."""
        if not use_causal_mask:
            return v_mask
        shape = (1, scores.shape[-2], scores.shape[-1])
        causal = ops.tril(ops.ones(shape, dtype="bool", device=scores.device))
        return causal if v_mask is None else ops.logical_and(ops.unsqueeze(v_mask, -2), causal)

    def call(self, inputs, mask=None, training=False, return_attention_scores=False, use_causal_mask=False):
        """Attend; the masks of query and value hide results and sources."""
        self._validate_inputs(inputs=inputs, mask=mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        q_mask, v_mask = (mask[0], mask[1]) if mask else (None, None)
        q_mask, v_mask = (x if x is None else ops.cast(x, "bool") for x in (q_mask, v_mask))
        scores = self._calculate_scores(query=query, key=key)
        shown = self._calculate_score_mask(scores, v_mask, use_causal_mask)
        output, weights = self._apply_scores(scores=scores, value=value, scores_mask=shown, training=training)
        if q_mask is not None:
            output = ops.where(ops.unsqueeze(q_mask, -1), output, ops.zeros_like(output))
        return (output, weights) if return_attention_scores else output

    def compute_mask(self, inputs, mask=None):
        """Return the mask of the query."""
        self._validate_inputs(inputs=inputs, mask=mask)
        return None if mask is None or mask[0] is None else convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape):
        """Return the shape of the mixed values."""
        return (*input_shape[0][:-1], input_shape[1][-1])

    def compute_output_spec(self, inputs, mask=None, return_attention_scores=False, training=None,
                            use_causal_mask=False):
        self._validate_inputs(inputs, mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        output = KerasTensor(self.compute_output_shape([query.shape, value.shape]), dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        return output, KerasTensor((*query.shape[:-1], key.shape[-2]), dtype=self.compute_dtype)

    def _validate_inputs(self, inputs, mask=None):
        """Raise unless there are two or three inputs, and masks for them."""
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(f"{name} layer must be called on a list of inputs, namely [query, value] or "
                             f"[query, value, key]. Received: inputs={inputs}.")
        if not 2 <= len(inputs) <= 3:
            raise ValueError(f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, "
                             f"value, key]. Received length: {len(inputs)}.")
        if mask is not None and not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask]. "
                             f"Received: mask={mask}.")
        if mask is not None and not 2 <= len(mask) <= 3:
            raise ValueError(f"{name} layer accepts mask list of length 2 or 3. "
                             f"Received: inputs={inputs}, mask={mask}.")
