"""The parts that attention with heads shares: masks merged into one, scores, projections."""

from dragon.vm.keras import ops as keras_ops
from dragon.vm.keras.core.config import is_flash_attention_enabled
from dragon.vm.keras.core.settings import store
from dragon.vm.keras.layers.activations.softmax import Softmax
from dragon.vm.keras.layers.core.einsum_dense import EinsumDense
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.layers.regularization.dropout import Dropout
from dragon.vm.shared.tensors.tensor import ops

WEIGHTS = ("kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
           "kernel_constraint", "bias_constraint")


def check_window(window):
    """Raise unless a sliding window is None or a positive integer."""
    if window is not None and (not isinstance(window, int) or window <= 0):
        raise ValueError(f"`sliding_window` must be `None` or a positive integer. Received: sliding_window={window}")


def check_shapes(value_shape, key_shape):
    """Raise unless values and keys differ in their features only."""
    if tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
        raise ValueError("All dimensions of `value` and `key`, except the last one, must be equal. Received: "
                         f"value_shape={value_shape} and key_shape={key_shape}")


def _positions(query, value):
    """Return the positions of queries as a column, and those of values as a row."""
    device = query.device
    rows = ops.reshape(ops.arange(query.shape[1], device=device), (1, -1, 1))
    return rows, ops.reshape(ops.arange(value.shape[1], device=device), (1, 1, -1))


def both(mask, more):
    """Return what two masks let through together; either may be None."""
    if more is None:
        return mask
    more = more if more.dtype.name == "bool" else ops.cast(more, "bool")
    return more if mask is None else ops.logical_and(mask, more)


class HeadAttention(Layer):
    """The parts that MultiHeadAttention and GroupQueryAttention share.

    Subclasses tell by properties how their settings are named; see MultiHeadAttention for the meaning.
    """

    def _keep(self, prefix, given):
        """Set the settings that both layers have, under names with this prefix."""
        check_window(given["sliding_window"])
        kept = {prefix + name: given[name] for name in ("dropout", "use_bias", "use_gate", "sliding_window", *WEIGHTS)}
        store(self, kept, " ".join(kept))
        self.seed = given["seed"]
        self.supports_masking = True
        self._flash_attention = given["flash_attention"] or is_flash_attention_enabled()
        if self._flash_attention and given["dropout"] > 0.0:
            raise ValueError("Dropout is not supported when flash attention is enabled. Please set dropout to 0.0 to "
                             f"use flash attention. Received: dropout={given['dropout']}")
        self._prefix = prefix

    def _setting(self, name):
        return getattr(self, self._prefix + name)

    def _projection(self, name, equation, output_shape, bias_axes, activation=None):
        """Return a dense layer of this name, with initializers of its own so that it draws its own numbers."""
        options = {weight: self._setting(weight) for weight in WEIGHTS}
        for weight in ("kernel_initializer", "bias_initializer"):
            options[weight] = options[weight].__class__.from_config(options[weight].get_config())
        return EinsumDense(equation, output_shape=output_shape, bias_axes=bias_axes if self._setting("use_bias") else
                           None, name=name, activation=activation, dtype=self.dtype_policy, **options)

    def _make_softmax(self, axis):
        self._softmax = Softmax(axis=axis, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(rate=self._setting("dropout"), dtype=self.dtype_policy, seed=self.seed)

    def _compute_attention_mask(self, query, value, query_mask=None, value_mask=None, key_mask=None,
                                attention_mask=None, use_causal_mask=False):
        """Return all masks merged into one of `(batch, targets, sources)`, or None."""
        mask = None
        for given, axis in ((query_mask, -1), (value_mask, -2), (key_mask, -2)):
            mask = mask if given is None else both(mask, ops.unsqueeze(given, axis))
        if use_causal_mask:
            mask = both(mask, self._compute_causal_mask(query, value))
        if self._setting("sliding_window") is not None:
            mask = both(mask, self._compute_sliding_window_mask(query, value))
        return both(mask, attention_mask)

    def _compute_causal_mask(self, query, value=None):
        """Return a mask of shape `(1, targets, sources)` that hides what comes later."""
        rows, columns = _positions(query, query if value is None else value)
        return ops.ge(rows, columns)

    def _compute_sliding_window_mask(self, query, value=None):
        """Return a mask of shape `(1, targets, sources)` that hides what is further than the window."""
        rows, columns = _positions(query, query if value is None else value)
        return ops.lt(ops.abs(ops.sub(rows, columns)), self._setting("sliding_window"))

    def _spread_mask(self, mask, rank, axes=1):
        """Return a mask with axes of size one put before those of queries and keys."""
        while mask is not None and len(mask.shape) < rank:
            mask = ops.unsqueeze(mask, -axes * 2 - 1)
        return mask

    def _attend(self, query, key, value, mask, scale, is_causal):
        """Return the mixed values, by the engine's fused attention."""
        mask = self._spread_mask(mask, 4)
        if mask is not None:
            # A query that sees nothing mixes all values alike, whatever it says: no gradient shall come back to it.
            mask = mask if mask.dtype.name == "bool" else ops.cast(mask, "bool")
            sees = ops.any(mask, -1, True)
            mask = ops.logical_or(mask, ops.logical_not(sees))
            query = ops.where(ops.transpose(sees, 1, 2), query, ops.zeros_like(query))
        return keras_ops.dot_product_attention(query, key, value, mask=mask, scale=scale, is_causal=is_causal,
                                               flash_attention=self._flash_attention)

    def _refuse_scores(self, wanted):
        if self._flash_attention and wanted:
            raise ValueError("Returning attention scores is not supported when flash attention is enabled. Please "
                             f"disable flash attention to access attention scores. Received: {wanted}")

    def _drop(self, scores, training):
        return self._dropout_layer(scores, training=training) if self._setting("dropout") > 0.0 else scores
