"""Attention by several heads side by side."""

import math
import string

from dragon.vm.keras import ops as keras_ops
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.core.masking import get_keras_mask, set_keras_mask
from dragon.vm.keras.layers.attention.heads import HeadAttention, both, check_shapes
from dragon.vm.shared.tensors.tensor import ops


class MultiHeadAttention(HeadAttention):
    """Attention by several heads, with projections of queries, keys, values and the result.

    Parameters
    ----------
    num_heads, key_dim : int
        How many heads, and the size of each for queries and keys.
    value_dim : Optional[int], optional
        The size of each head for values, `key_dim` by default.
    use_bias : bool, optional, default=True
        Projections add biases.
    output_shape : Optional[Union[int, Sequence[int]]], optional
        Features of the result, those of the query by default.
    attention_axes : Optional[Union[int, Sequence[int]]], optional
        Axes over which to attend; by default all but batch, heads and features.
    sliding_window : Optional[int], optional
        A query sees keys that are nearer than this.
    flash_attention : Optional[bool], optional
        Ask for flash attention, which needs scores neither dropped nor returned.
    kernel_initializer, bias_initializer : Union[str, Initializer], optional
        How the projections begin.
    kernel_regularizer, bias_regularizer, activity_regularizer : Optional[Union[str, Regularizer]], optional
        Penalties.
    kernel_constraint, bias_constraint : Optional[Union[str, Constraint]], optional
        Projections of the weights after updates.
    use_gate : bool, optional, default=False
        Multiply the heads by a sigmoid of another projection of the query.

    Examples
    --------
    >>> layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=8)
    >>> x = np.zeros((8, 5, 16), "float32")
    >>> tuple(layer(query=x, value=x).shape)
    (8, 5, 16)

    """

    _arguments = ("num_heads key_dim value_dim dropout use_bias use_gate output_shape=_output_shape attention_axes "
                  "sliding_window kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
                  "activity_regularizer=_activity_regularizer ...")
    _left_out = "flash_attention"

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None,
                 attention_axes=None, sliding_window=None, flash_attention=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, use_gate=False, seed=None, **kwargs):
        given = dict(locals())
        for name in ("num_heads", "key_dim", "value_dim"):
            value = given[name]
            if not (name == "value_dim" and value is None) and (not isinstance(value, int) or value <= 0):
                raise ValueError(f"Received an invalid value for argument `{name}`, expected a positive integer"
                                 f"{' or `None`' if name == 'value_dim' else ''}. Received: {name}={value}")
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        elif attention_axes and not isinstance(attention_axes, (list, tuple)):
            raise ValueError("`attention_axes` must be an int, list, or tuple. "
                             f"Received: attention_axes={attention_axes}")
        super().__init__(**kwargs)
        self._keep("_", given)
        self._num_heads, self._key_dim, self._value_dim = num_heads, key_dim, value_dim or key_dim
        self._output_shape = _shape_of(output_shape)
        self._attention_axes = attention_axes
        self._inverse_sqrt_key_dim = 1.0 / math.sqrt(float(key_dim))

    num_heads = property(lambda self: self._num_heads, doc="int: how many heads.")
    key_dim = property(lambda self: self._key_dim, doc="int: size of a head for queries and keys.")
    value_dim = property(lambda self: self._value_dim, doc="int: size of a head for values.")
    dropout = property(lambda self: self._dropout, doc="float: the fraction of scores that is dropped.")
    use_bias = property(lambda self: self._use_bias, doc="bool: whether projections add biases.")
    attention_axes = property(lambda self: self._attention_axes, doc="tuple: the axes over which to attend.")
    query_dense = property(lambda self: self._query_dense, doc="Layer: the projection of queries.")
    key_dense = property(lambda self: self._key_dense, doc="Layer: the projection of keys.")
    value_dense = property(lambda self: self._value_dense, doc="Layer: the projection of values.")
    output_dense = property(lambda self: self._output_dense, doc="Layer: the projection of the result.")

    def build(self, query_shape, value_shape, key_shape=None):
        """Make the projections."""
        key_shape = value_shape if key_shape is None else key_shape
        check_shapes(value_shape, key_shape)
        rank = len(value_shape) + 1
        self._query_dense = self._into_heads("query", query_shape, self._key_dim)
        self._key_dense = self._into_heads("key", key_shape, self._key_dim)
        if self._use_gate:
            self._gate_dense = self._into_heads("gate", query_shape, self._value_dim, activation="sigmoid")
        self._value_dense = self._into_heads("value", value_shape, self._value_dim)
        self._build_attention(rank)
        self._output_dense = self._out_of_heads("attention_output", query_shape)

    def _into_heads(self, name, shape, size, activation=None):
        """Return a built projection of the last axis into heads of a size."""
        free = string.ascii_lowercase[:len(shape) - 1]
        layer = self._projection(name, f"{free}x,xyz->{free}yz", [None] * (len(free) - 1) + [self._num_heads, size],
                                 "yz", activation)
        layer.build(shape)
        return layer

    def _out_of_heads(self, name, shape):
        """Return a built projection of heads to the features of the result."""
        free, made = string.ascii_lowercase[:len(shape) - 1], list(self._output_shape or [shape[-1]])
        letters = string.ascii_lowercase[len(free):len(free) + len(made)]
        layer = self._projection(name, f"{free}yz,yz{letters}->{free}{letters}", [None] * (len(free) - 1) + made,
                                 letters)
        layer.build((*shape[:-1], self._num_heads, self._value_dim))
        return layer

    def _build_attention(self, rank):
        """Write the equations of scores and result for projected tensors of a rank."""
        axes = self._attention_axes
        axes = tuple(range(1, rank - 2)) if axes is None else tuple(
            axis if axis >= 0 else rank - 1 + axis for axis in axes)
        self._attention_axes = axes
        target = string.ascii_lowercase[:rank]
        source = "".join(letter.upper() if i in axes else letter for i, letter in enumerate(target))
        kept = "".join(letter for i, letter in enumerate(target) if i not in axes and i != rank - 1)
        scores = kept + "".join(target[i] for i in axes) + "".join(source[i] for i in axes)
        self._dot_product_equation = f"{source},{target}->{scores}"
        self._combine_equation = f"{scores},{source}->{target}"
        self._make_softmax(tuple(range(len(scores) - len(axes), len(scores))))

    def _masked_softmax(self, attention_scores, attention_mask=None):
        mask = self._spread_mask(attention_mask, len(attention_scores.shape), len(self._attention_axes))
        return self._softmax(attention_scores, mask=mask)

    def _compute_attention(self, query, key, value, attention_mask=None, training=None, return_attention_scores=False,
                           use_causal_mask=False):
        """Return mixed values and scores of projected tensors; subclasses may do it otherwise.

        Parameters
        ----------
        query, key, value : Tensor
            Of shape `(batch, ..., heads, size)`.
        attention_mask : Optional[Tensor], optional
            Which queries see which keys.
        training : Optional[bool], optional
            Whether scores are dropped.
        return_attention_scores : bool, optional
            Whether scores are wanted; without them the engine's fused attention may run.
        use_causal_mask : bool, optional
            Hide what comes later; only without a mask.

        Returns
        -------
        Tuple[Tensor, Optional[Tensor]]
            Mixed values and scores.

        """
        self._refuse_scores(return_attention_scores)
        if not (self._dropout > 0.0 or return_attention_scores or len(query.shape) != 4):
            return self._attend(query, key, value, attention_mask, self._inverse_sqrt_key_dim, use_causal_mask), None
        if use_causal_mask:
            attention_mask = both(self._compute_causal_mask(query, value), attention_mask)
        query = ops.mul(query, self._inverse_sqrt_key_dim)
        scores = self._masked_softmax(keras_ops.einsum(self._dot_product_equation, key, query), attention_mask)
        return keras_ops.einsum(self._combine_equation, self._drop(scores, training), value), scores

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        """Attend: queries of `(batch, targets, features)` to keys and values of `(batch, sources, features)`."""
        key = value if key is None else key
        query_mask = get_keras_mask(query)
        for x in (query, value, key):
            # The layer has dealt with masks: its projections need not.
            set_keras_mask(x, None)
        masks = (query_mask, value_mask, key_mask, attention_mask, self._sliding_window)
        only_causal = (use_causal_mask and all(mask is None for mask in masks) and
                       type(self)._compute_attention is MultiHeadAttention._compute_attention)
        if not only_causal:
            attention_mask = self._compute_attention_mask(
                query, value, query_mask=query_mask, value_mask=value_mask, key_mask=key_mask,
                attention_mask=attention_mask, use_causal_mask=use_causal_mask)
        gate = self._gate_dense(query) if self._use_gate else None
        output, scores = self._compute_attention(
            self._query_dense(query), self._key_dense(key), self._value_dense(value), attention_mask, training,
            return_attention_scores, **({"use_causal_mask": True} if only_causal else {}))
        output = self._output_dense(output if gate is None else ops.mul(output, gate))
        if query_mask is not None:
            set_keras_mask(output, query_mask)
        return (output, scores) if return_attention_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        check_shapes(value_shape, value_shape if key_shape is None else key_shape)
        query_shape = tuple(query_shape)
        return query_shape[:-1] + self._output_shape if self._output_shape else query_shape

    def compute_output_spec(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None,
                            attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False):
        shape = self.compute_output_shape(query.shape, value.shape, None if key is None else key.shape)
        output = KerasTensor(shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        shape = (query.shape[0], self._num_heads, query.shape[1], value.shape[1])
        return output, KerasTensor(shape, dtype=self.compute_dtype)


def _shape_of(output_shape):
    """Return an `output_shape` as a tuple, or None."""
    if not output_shape:
        return output_shape
    try:
        return (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
    except TypeError:
        raise ValueError("Invalid `output_shape`: it should be of type tuple, list, or int. "
                         f"Received: output_shape={output_shape}") from None
