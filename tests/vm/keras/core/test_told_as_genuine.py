"""What genuine Keras's own tests ask of sentences, names and configurations, beside it."""
import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras
from harness.subresults import each

SIDES = [keras, genuine]


def never_ending(side):
    x = np.full((2, 1), np.inf, "float32")
    model = side.Sequential([side.Input((1,)), side.layers.Dense(1)])
    model.compile(loss="mse")
    model.fit(x, x, verbose=0, callbacks=[side.callbacks.TerminateOnNaN(raise_error=True)])


WRONG = {
    "a loss that is no number": (never_ending, RuntimeError, "NaN or Inf loss encountered at batch 0"),
    "a bar of two kinds": (lambda side: side.utils.Progbar(1, stateful_metrics=[], stateless_metrics=[]), ValueError,
                           "Only one of `stateful_metrics` or `stateless_metrics` can be provided"),
    "a symbol as an array": (lambda side: np.array(side.KerasTensor((3,))), ValueError,
                             "doesn't have any actual numerical value"),
    "a type spec of no list": (lambda side: side.saving.deserialize_keras_object(
        {"class_name": "__typespec__", "config": "no list"}), TypeError, "Expected 'config' to be a list or a tuple"),
    "no policy": (lambda side: side.dtype_policies.DTypePolicyMap().__setitem__("a", 123), ValueError,
                  "Cannot interpret the assigned value"),
    "eight bits of AWQ": (lambda side: side.dtype_policies.AWQDTypePolicy("awq/8/128", "float32"), ValueError,
                          "only supports 4-bit"),
}


@each("wrong", WRONG)
@each("side", SIDES, ids=["here", "genuine"])
def test_sentences(side, wrong):
    call, kind, sentence = WRONG[wrong]
    with pytest.raises(kind, match=sentence):
        call(side)


def test_a_missing_node_is_named():
    config = {"name": "m", "layers": [
        {"class_name": "InputLayer", "name": "i", "config": {"batch_shape": [None, 3], "name": "i"},
         "inbound_nodes": []},
        {"class_name": "Dense", "name": "a", "config": {"units": 2, "name": "a"},
         "inbound_nodes": [[["b", 0, 0, {}]]]}],
        "input_layers": [["i", 0, 0]], "output_layers": [["a", 0, 0]]}
    for side in SIDES:
        with pytest.raises(ValueError, match="Missing node: b"):
            side.Model.from_config(config)


@pytest.mark.parametrize("side", SIDES, ids=["here", "genuine"])
def test_policies_of_a_map_follow_the_global_one(side):
    kinds = side.dtype_policies
    made = kinds.DTypePolicyMap()
    made["a"], made["b"] = kinds.DTypePolicy("mixed_bfloat16"), kinds.QuantizedDTypePolicy("int8", "mixed_bfloat16")
    fixed = kinds.DTypePolicyMap("float32", {"a": kinds.DTypePolicy("mixed_bfloat16")})
    side.config.set_dtype_policy("bfloat16")
    try:
        again = kinds.DTypePolicyMap.from_config(made.get_config())
        assert (again["a"].name, again["b"].name) == ("bfloat16", "int8_from_bfloat16")
        assert kinds.DTypePolicyMap.from_config(fixed.get_config())["a"].name == "mixed_bfloat16"
    finally:
        side.config.set_dtype_policy("float32")


@pytest.mark.parametrize("side", SIDES, ids=["here", "genuine"])
def test_losses_of_dictionaries_have_their_keys(side):
    x = np.random.default_rng(0).random((8, 3)).astype("float32")
    inputs = side.Input((3,))
    model = side.Model(inputs, {"a": side.layers.Dense(1, name="y1")(inputs),
                                "b": side.layers.Dense(1, name="y2")(inputs)})

    def both(true, pred):
        return sum(side.ops.sum(side.ops.square(true[key] - pred[key])) for key in "ab")
    model.compile("sgd", loss=[both, {"a": "mse", "b": "mse"}])
    history = model.fit(x, {"a": x[:, :1], "b": x[:, 1:2]}, verbose=0).history
    assert sorted(history) == ["a_b_loss", "a_loss", "b_loss", "loss"]
