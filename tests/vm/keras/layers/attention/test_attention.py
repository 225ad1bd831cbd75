"""Attention beside the genuine layers: masks, scores, shapes, dropout."""
import numpy as np
import pytest
from harness.keras_layer import array, check_layer, guest
from harness.subresults import each

Q, V = (2, 3, 6), (2, 4, 6)
DRAW = np.random.default_rng(5)
VALUE, KEY = (DRAW.standard_normal(V).astype("float32") for _ in range(2))
Q_MASK = np.array([[1, 1, 0], [1, 0, 1]], bool)
V_MASK = np.array([[1, 0, 1, 1], [1, 1, 0, 0]], bool)
PAIRS = DRAW.random((2, 3, 4)) > 0.5
PAIRS[:, :, 0] = True
CALLS = [
    {},
    {"return_attention_scores": True},
    {"use_causal_mask": True},
    {"use_causal_mask": True, "return_attention_scores": True},
    {"attention_mask": PAIRS},
    {"value_mask": V_MASK},
    {"key": KEY},
]
HEADS = [{}, {"value_dim": 5, "output_shape": 7}, {"use_bias": False}, {"use_gate": True}, {"sliding_window": 2},
         {"dropout": 0.3, "seed": 2}]


@each("call", CALLS)
@each("config", HEADS)
def test_heads(config, call):
    """Scores by the fused operator, or step by step where they are wanted or dropped."""
    check_layer("MultiHeadAttention", Q, {"num_heads": 2, "key_dim": 3, **config}, call={"value": VALUE, **call},
                symbolic=False, mixed=False, training=(True,))


def test_masks_of_inputs():
    """A mask that the query carries hides its rows, and comes out again."""
    check_layer("MultiHeadAttention", Q, {"num_heads": 2, "key_dim": 3}, masks=Q_MASK, call={"value": VALUE},
                symbolic=False, mixed=False, training=(False,), gradients=False)


@pytest.mark.parametrize("axes, shapes", [((2,), [(2, 3, 4, 6), (2, 3, 5, 6)]), ((1, 2), [(2, 3, 4, 6), (2, 2, 5, 6)]),
                                          (-2, [(2, 3, 4, 6), (2, 3, 5, 6)])])
def test_attention_axes(axes, shapes):
    """Attention over chosen axes."""
    value = np.random.default_rng(0).standard_normal(shapes[1]).astype("float32")
    check_layer("MultiHeadAttention", shapes[0], {"num_heads": 2, "key_dim": 3, "attention_axes": axes},
                call={"value": value}, symbolic=False, mixed=False, training=(False,))


@each("call", [*CALLS, {"query_mask": Q_MASK, "value_mask": V_MASK}])
@each("config", [{}, {"use_gate": True, "use_bias": False}, {"sliding_window": 2}])
def test_grouped_heads(config, call):
    """Heads that share keys and values."""
    check_layer("GroupQueryAttention", Q, {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2, **config},
                call={"value": VALUE, **call}, symbolic=False, mixed=False, training=(False,))


@each("call", [{}, {"return_attention_scores": True}, {"use_causal_mask": True},
               {"mask": [Q_MASK, V_MASK]}, {"mask": [None, V_MASK], "use_causal_mask": True}])
@each("config", [{}, {"use_scale": True}, {"score_mode": "concat", "use_scale": True},
                 {"dropout": 0.3, "seed": 1}])
@each("name", ["Attention", "AdditiveAttention"])
def test_plain(name, config, call):
    """Scores without projections."""
    if name == "AdditiveAttention":
        config = {key: value for key, value in config.items() if key != "score_mode"}
    check_layer(name, [Q, V, V], config, call=call, symbolic="mask" not in call and not call, mixed=not call)


@pytest.mark.parametrize("make, message", [
    (lambda layers: layers.MultiHeadAttention(0, 2), "num_heads=0"),
    (lambda layers: layers.MultiHeadAttention(2, 2, sliding_window=0), "sliding_window=0"),
    (lambda layers: layers.MultiHeadAttention(2, 2, attention_axes="x"), "attention_axes=x"),
    (lambda layers: layers.MultiHeadAttention(2, 2, flash_attention=True, dropout=0.1), "dropout"),
    (lambda layers: layers.GroupQueryAttention(2, 3, 2), "num_query_heads=3"),
    (lambda layers: layers.Attention(score_mode="max"), "score_mode=max"),
    (lambda layers: layers.Attention()(np.zeros((1, 2, 3), "float32")), "list of inputs"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError, match=message):
        make(guest("keras").layers)


def test_rows_that_see_nothing_mix_all():
    """A query whose sources are all hidden gets their mean, and its gradient is zero."""
    keras, tf = guest("keras"), guest("tensorflow")
    layer = keras.layers.GroupQueryAttention(3, 2, 2)
    query = tf.convert_to_tensor(np.ones(Q, "float32"))
    nothing = np.ones((2, 3, 4), bool)
    nothing[:, 1] = False
    with tf.GradientTape() as tape:
        tape.watch(query)
        made = layer(query, tf.convert_to_tensor(VALUE), attention_mask=tf.convert_to_tensor(nothing))
    gradient = array(tape.gradient(made, query))
    assert not gradient[:, 1].any() and gradient[:, 0].any()
