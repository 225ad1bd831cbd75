"""Recurrent layers beside the genuine ones: masks, states, directions, activations; the fused form and the loop."""
import numpy as np
import pytest
from harness.keras_layer import array, check_layer, flat, guest, near
from harness.subresults import each

X = (3, 5, 4)
MASK = np.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [1, 1, 1, 1, 1]], bool)
ALL = {"return_sequences": True, "return_state": True}
KINDS = ("SimpleRNN", "LSTM", "GRU")
OPTIONS = [
    {},
    {"return_sequences": True},
    {**ALL, "go_backwards": True},
    {"use_bias": False, "unroll": True},
    {"activation": "relu", "return_sequences": True},
    {**ALL, "zero_output_for_mask": True},
    {"bias_initializer": "ones", "kernel_regularizer": "l2", "recurrent_initializer": "glorot_uniform",
     "bias_constraint": "non_neg"},
]


@each("masked", [False, True])
@each("options", OPTIONS)
@each("name", KINDS)
def test_layers(name, options, masked):
    """Whole sequences at once, or step by step where activations want it."""
    check_layer(name, X, {"units": 6, **options}, masks=MASK if masked else None, training=(False,),
                mixed=not masked and options == OPTIONS[2])


@pytest.mark.parametrize("name", KINDS)
def test_first_states(name):
    """States that users give, with masks that begin with hidden steps."""
    states = [np.random.default_rng(i).standard_normal((3, 6)).astype("float32")
              for i in range(2 if name == "LSTM" else 1)]
    check_layer(name, X, {"units": 6, **ALL}, masks=MASK, call={"initial_state": states}, training=(False,),
                symbolic=False, mixed=False)


@pytest.mark.parametrize("config", [{"reset_after": False}, {"recurrent_activation": "hard_sigmoid"},
                                    {"implementation": 1}])
def test_other_forms_of_gru(config):
    """What has no fused form."""
    check_layer("GRU", X, {"units": 6, "return_sequences": True, **config}, training=(False,), mixed=False)


@each("config", [{"dropout": 0.4}, {"recurrent_dropout": 0.4},
                 {"dropout": 0.3, "recurrent_dropout": 0.4}])
@each("name", KINDS)
def test_dropout(name, config):
    """The same masks are drawn, once for all steps."""
    check_layer(name, X, {"units": 6, "seed": 3, "return_sequences": True, **config}, training=(True,), mixed=False)


@each("mask", [None, MASK])
@each("backwards", [False, True])
@each("zero", [False, True])
@each("name", ["LSTM", "GRU", "SimpleRNN"])
def test_the_loop_is_the_oracle(name, zero, backwards, mask):
    """The fused form gives what the loop gives."""
    keras, tf = guest("keras"), guest("tensorflow")
    layer = getattr(keras.layers, name)(6, **ALL, go_backwards=backwards, zero_output_for_mask=zero)
    x = tf.convert_to_tensor(np.random.default_rng(0).standard_normal(X).astype("float32"))
    given = {} if mask is None else {"mask": tf.convert_to_tensor(mask)}
    fused = flat(layer(x, **given))
    layer.use_cudnn = False
    near([array(y) for y in fused], [array(y) for y in flat(layer(x, **given))], "fused", rtol=1e-5)


class TestCells:
    """Cells, alone, stacked, and of users."""

    @pytest.mark.parametrize("cells", [("LSTMCell", "LSTMCell"), ("GRUCell", "SimpleRNNCell")])
    @pytest.mark.parametrize("mask", [None, MASK])
    @pytest.mark.parametrize("backwards", [False, True])
    def test_stacks(self, cells, mask, backwards):
        """Each cell takes the outputs of the one before."""
        def make(keras, more):
            made = [getattr(keras.layers, name)(6 - i, name=f"cell_{i}", **more) for i, name in enumerate(cells)]
            stack = keras.layers.StackedRNNCells(made, name="stack")
            return keras.layers.RNN(stack, return_sequences=True, return_state=True,
                                    go_backwards=backwards, name="probe", **more)
        check_layer(make, X, masks=mask, training=(False,), mixed=False, symbolic=False)

    def test_cells_of_users(self):
        """A cell with a state and weights of its own."""
        def make(keras, more):
            class Cell(keras.layers.Layer):
                state_size = 6

                def build(self, input_shape):
                    self.kernel = self.add_weight(shape=(input_shape[-1], 6), name="kernel")
                    self.recurrent = self.add_weight(shape=(6, 6), name="recurrent")

                def call(self, inputs, states):
                    output = keras.ops.matmul(inputs, self.kernel) + keras.ops.matmul(states[0], self.recurrent)
                    return output, [output]
            return keras.layers.RNN(Cell(name="cell"), return_sequences=True, name="probe")
        keras, tf = guest("keras"), guest("tensorflow")
        layer = make(keras, {})
        x = np.random.default_rng(0).standard_normal(X).astype("float32")
        made = array(layer(tf.convert_to_tensor(x), mask=tf.convert_to_tensor(MASK)))
        kernel, recurrent = layer.get_weights()
        state, before = np.zeros((3, 6), "float32"), np.zeros((3, 6), "float32")
        for step in range(5):
            fresh = x[:, step] @ kernel + state @ recurrent
            state = np.where(MASK[:, step, None], fresh, state)
            before = np.where(MASK[:, step, None], fresh, before)
            np.testing.assert_allclose(made[:, step], before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", KINDS)
def test_stateful_layers(name):
    """The second batch begins where the first one ended, until the states are reset."""
    keras, tf = guest("keras"), guest("tensorflow")
    layer = getattr(keras.layers, name)(6, stateful=True, return_sequences=True)
    plain = getattr(keras.layers, name)(6, return_sequences=True)
    x = np.random.default_rng(0).standard_normal(X).astype("float32")
    first, second = (array(layer(tf.convert_to_tensor(part))) for part in (x[:, :2], x[:, 2:]))
    plain(tf.convert_to_tensor(x))
    plain.set_weights(layer.get_weights())
    np.testing.assert_allclose(np.concatenate([first, second], 1), array(plain(tf.convert_to_tensor(x))), rtol=1e-5,
                               atol=1e-6)
    layer.reset_state()
    np.testing.assert_allclose(array(layer(tf.convert_to_tensor(x[:, :2]))), first, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="batch size"):
        layer(tf.convert_to_tensor(x[:2]))


@pytest.mark.parametrize("make, message", [
    (lambda layers: layers.LSTM(0), "got 0"),
    (lambda layers: layers.LSTM(2, use_cudnn="never"), "use_cudnn=never"),
    (lambda layers: layers.RNN(3), "Received: cell=3"),
    (lambda layers: layers.Bidirectional(layers.LSTM(2), merge_mode="max"), "max"),
    (lambda layers: layers.Bidirectional(layers.LSTM(2), backward_layer=layers.LSTM(2)), "go_backwards"),
    (lambda layers: layers.TimeDistributed(3), "Received: 3"),
    (lambda layers: layers.ConvLSTM2D(2, 3, strides=2, dilation_rate=2), "dilation_rate"),
    (lambda layers: layers.GRU(3)(np.zeros((2, 3), "float32")), "ndim=3"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError, match=message):
        make(guest("keras").layers)


def test_import_is_lazy():
    """Names are those of the folder."""
    layers = guest("keras").layers
    assert layers.LSTM is layers.rnn.LSTM
