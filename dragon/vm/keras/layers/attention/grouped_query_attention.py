"""Attention whose heads share keys and values in groups."""

import math

from dragon.vm.keras import ops as keras_ops
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.attention.heads import HeadAttention, both, check_shapes
from dragon.vm.shared.tensors.tensor import ops


class GroupedQueryAttention(HeadAttention):
    """Attention with fewer heads for keys and values than for queries; `keras.layers.GroupQueryAttention`.

    Parameters
    ----------
    head_dim : int
        The size of each head.
    num_query_heads, num_key_value_heads : int
        How many heads for queries, and for keys and values; the first is a multiple of the second.
    dropout, use_bias, sliding_window, flash_attention, use_gate, seed
        See MultiHeadAttention, as for initializers, regularizers and constraints.

    """

    _arguments = ("head_dim num_query_heads num_key_value_heads use_bias use_gate sliding_window dropout "
                  "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer ...")
    _left_out = "flash_attention"

    def __init__(self, head_dim, num_query_heads, num_key_value_heads, dropout=0.0, use_bias=True,
                 sliding_window=None, flash_attention=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, use_gate=False, seed=None, **kwargs):
        given = dict(locals())
        if num_query_heads % num_key_value_heads != 0:
            raise ValueError("`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                             f"num_query_heads={num_query_heads}, num_key_value_heads={num_key_value_heads}")
        super().__init__(**kwargs)
        self._keep("", given)
        self.head_dim = head_dim
        self.num_query_heads = num_query_heads
        self.num_key_value_heads = num_key_value_heads
        self.num_repeats = num_query_heads // num_key_value_heads
        self._inverse_sqrt_head_dim = 1.0 / math.sqrt(float(head_dim))
        self._return_attention_scores = False

    def build(self, query_shape, value_shape, key_shape=None):
        """Make the projections."""
        key_shape = value_shape if key_shape is None else key_shape
        self.feature_dim = query_shape[-1]
        queries = (None, self.num_query_heads, self.head_dim)
        shared = (None, self.num_key_value_heads, self.head_dim)
        self._query_dense = self._projection("query", "bqm,muh->bquh", queries, "uh")
        self._query_dense.build(query_shape)
        self._key_dense = self._projection("key", "bkm,mvh->bkvh", shared, "vh")
        self._key_dense.build(key_shape)
        if self.use_gate:
            self._gate_dense = self._projection("gate", "bqm,muh->bquh", queries, "uh", "sigmoid")
            self._gate_dense.build(query_shape)
        self._value_dense = self._projection("value", "bkm,mvh->bkvh", shared, "vh")
        self._value_dense.build(value_shape)
        self._make_softmax(-1)
        self._dot_product_equation = "bquh,bkuh->buqk"
        self._combine_equation = "buqk,bkuh->bquh"
        self._output_dense = self._projection("attention_output", "bquh,uhm->bqm", (None, self.feature_dim), "m")
        self._output_dense.build((None, None, self.num_query_heads, self.head_dim))

    def _masked_softmax(self, scores, attention_mask=None):
        return self._softmax(scores, mask=self._spread_mask(attention_mask, len(scores.shape)))

    def _compute_attention(self, query, key, value, attention_mask=None, training=None, use_causal_mask=False):
        """Return mixed values and scores of projected tensors; subclasses may do it otherwise."""
        self._refuse_scores(self._return_attention_scores)
        if not (self.dropout > 0.0 or self._return_attention_scores or len(query.shape) != 4):
            return self._attend(query, key, value, attention_mask, self._inverse_sqrt_head_dim, use_causal_mask), None
        if use_causal_mask:
            attention_mask = both(self._compute_causal_mask(query, value), attention_mask)
        query = ops.mul(query, self._inverse_sqrt_head_dim)
        scores = self._masked_softmax(keras_ops.einsum(self._dot_product_equation, query, key), attention_mask)
        return keras_ops.einsum(self._combine_equation, self._drop(scores, training), value), scores

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        """Attend: queries of `(batch, targets, features)` to keys and values of `(batch, sources, features)`."""
        self._return_attention_scores = return_attention_scores
        key = value if key is None else key
        masks = (query_mask, value_mask, key_mask, attention_mask, self.sliding_window)
        only_causal = (use_causal_mask and all(mask is None for mask in masks) and
                       type(self)._compute_attention is GroupedQueryAttention._compute_attention)
        if not only_causal:
            attention_mask = self._compute_attention_mask(
                query, value, query_mask=query_mask, value_mask=value_mask, key_mask=key_mask,
                attention_mask=attention_mask, use_causal_mask=use_causal_mask)
        gate = self._gate_dense(query) if self.use_gate else None
        output, scores = self._compute_attention(
            self._query_dense(query), self._shared(self._key_dense(key)), self._shared(self._value_dense(value)),
            attention_mask=attention_mask, training=training,
            **({"use_causal_mask": True} if only_causal else {}))
        output = self._output_dense(output if gate is None else ops.mul(output, gate))
        return (output, scores) if return_attention_scores else output

    def _shared(self, x):
        """Return keys or values with a head for each of the queries'."""
        if self.num_repeats == 1:
            return x
        batch, steps, heads, size = x.shape
        x = ops.broadcast_to(ops.unsqueeze(x, 3), (batch, steps, heads, self.num_repeats, size))
        return ops.reshape(x, (batch, steps, heads * self.num_repeats, size))

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """Return the shape of the result, which is the query's."""
        if query_shape[-1] != value_shape[-1]:
            raise ValueError("The last dimension of `query_shape` and `value_shape` must be equal. Received: "
                             f"query_shape={query_shape}, value_shape={value_shape}")
        check_shapes(value_shape, value_shape if key_shape is None else key_shape)
        return query_shape

    def compute_output_spec(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None,
                            attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False):
        shape = self.compute_output_shape(query.shape, value.shape, None if key is None else key.shape)
        output = KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        shape = (query.shape[0], self.num_query_heads, query.shape[1], value.shape[1] if key is None else key.shape[1])
        return output, KerasTensor(shape, dtype=self.compute_dtype)
