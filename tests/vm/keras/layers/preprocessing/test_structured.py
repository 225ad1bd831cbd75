"""Layers that prepare structured data and texts, beside the genuine ones."""
import json

import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, flat, guest, plain
from harness.subresults import each

WORDS = np.array([["red", "green"], ["blue", "red"], ["red", "black"]], object)
NUMBERS = np.array([[3, 7, 7], [9, 3, 100]], "int64")
FLOATS = np.random.default_rng(0).standard_normal((6, 3)).astype("float32")


def sides():
    """Return the two Kerases, and the two TensorFlows."""
    return (guest("keras"), guest("tensorflow")), (genuine.keras, genuine.tf)


def value(x):
    """Return a tensor of either side as an array, ragged ones as lists."""
    if hasattr(x, "to_list"):
        return x.to_list()
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def compare(run, configs=True):
    """Hold what a function returns of a Keras and a TensorFlow against the genuine ones'."""
    found = [run(keras, tf) for keras, tf in sides()]
    layers = [made[0] for made in found]
    for ours, theirs in zip(flat(found[0][1]), flat(found[1][1])):
        ours, theirs = value(ours), value(theirs)
        if isinstance(theirs, list):
            assert ours == theirs
            continue
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours, theirs)
        if theirs.dtype == object:
            assert (ours == theirs).all(), (ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    if configs:
        config, expected = (plain(layer.get_config()) for layer in layers)
        assert config == expected
        again = type(layers[0]).from_config(json.loads(json.dumps(layers[0].get_config())))
        # What was learnt comes with the files, not with the configuration.
        assert {**plain(again.get_config()), "vocabulary_size": 0} == {**expected, "vocabulary_size": 0}


def given(tf, data):
    """Return data as a tensor of a TensorFlow."""
    return tf.constant(data.tolist() if data.dtype == object else data)


@each("mode", ["int", "multi_hot", "one_hot", "count"])
@each("config", [{}, {"mask_token": "green"}, {"num_oov_indices": 3},
                 {"salt": 5, "num_oov_indices": 4},
                 {"max_tokens": 9, "pad_to_max_tokens": True}])
def test_strings(mode, config):
    """Known, unknown and masked words in all forms."""
    def run(keras, tf):
        layer = keras.layers.StringLookup(vocabulary=["blue", "red", "grey"], output_mode=mode, name="probe", **config)
        words = given(tf, WORDS) if mode != "one_hot" else given(tf, WORDS[:, 0])
        return layer, [layer(words), layer(given(tf, WORDS[0])), np.array(layer.get_vocabulary(), object)]
    compare(run)


@each("mode", ["int", "multi_hot", "one_hot", "count"])
@each("config", [{}, {"mask_token": 7}, {"num_oov_indices": 3}, {"num_oov_indices": 3,
                                                                 "oov_method": "farmhash"}])
def test_integers(mode, config):
    """Known, unknown and masked numbers in all forms."""
    def run(keras, tf):
        layer = keras.layers.IntegerLookup(vocabulary=[9, 3, 12], output_mode=mode, name="probe", **config)
        numbers = NUMBERS if mode != "one_hot" else NUMBERS[:, 0]
        return layer, [layer(given(tf, numbers)), np.array(layer.get_vocabulary())]
    compare(run)


@pytest.mark.parametrize("mode", ["int", "tf_idf", "count"])
def test_learnt_vocabularies(mode):
    """The same order of tokens, and the same weights."""
    def run(keras, tf):
        words = keras.layers.StringLookup(output_mode=mode, max_tokens=4, name="probe")
        words.adapt(WORDS)
        numbers = keras.layers.IntegerLookup(output_mode=mode, name="numbers")
        numbers.adapt(NUMBERS)
        return words, [words(given(tf, WORDS)), numbers(given(tf, NUMBERS)), np.array(words.get_vocabulary(), object),
                       np.array(numbers.get_vocabulary()), np.array(words.vocabulary_size())]
    compare(run)


def test_learning_from_datasets():
    """Batches of a dataset, some of them."""
    def run(keras, tf):
        data = tf.data.Dataset.from_tensor_slices(WORDS.astype(str)).batch(2)
        layer = keras.layers.StringLookup(name="probe")
        layer.adapt(data, steps=1)
        text = keras.layers.TextVectorization(name="text")
        text.adapt(tf.data.Dataset.from_tensor_slices(["a b", "b c c"]).batch(2))
        moments = keras.layers.Normalization(name="moments")
        moments.adapt(tf.data.Dataset.from_tensor_slices(FLOATS).batch(4))
        mapped = list(data.map(layer))
        return layer, [np.array(layer.get_vocabulary(), object), np.array(text.get_vocabulary(), object), mapped,
                       moments(tf.constant(FLOATS))]
    compare(run, configs=False)


def test_integers_in_floats():
    """Integers that a table holds as floats."""
    def run(keras, tf):
        layer = keras.layers.IntegerLookup(name="probe")
        layer.adapt(NUMBERS.astype("float32"))
        return layer, [layer(tf.constant(NUMBERS.astype("float32"))), np.array(layer.get_vocabulary())]
    compare(run, configs=False)


def test_inversion():
    """Numbers back into tokens."""
    def run(keras, tf):
        words = keras.layers.StringLookup(vocabulary=["a", "b"], invert=True, mask_token="", name="probe")
        numbers = keras.layers.IntegerLookup(vocabulary=[5, 6], invert=True, name="numbers")
        places = tf.constant([[0, 1, 2], [3, 9, 2]])
        return words, [words(places), numbers(places)]
    compare(run)


TEXTS = ["The cat, the DOG!", "a b  c", "", "Ünï-code: the cat's"]


@each("config", [
    {}, {"output_sequence_length": 3}, {"output_sequence_length": 9}, {"ngrams": 2}, {"ngrams": (1, 3)},
    {"split": "character"}, {"standardize": None}, {"standardize": "lower"}, {"standardize": "strip_punctuation"},
    {"output_mode": "multi_hot"}, {"output_mode": "count"}, {"output_mode": "tf_idf"},
    {"output_mode": "count", "max_tokens": 20, "pad_to_max_tokens": True}, {"max_tokens": 4}, {"ragged": True},
    {"ragged": True, "output_sequence_length": 2}, {"split": None}])
def test_texts(config):
    """Standards, splits, runs and forms."""
    def run(keras, tf):
        layer = keras.layers.TextVectorization(name="probe", **config)
        layer.adapt(TEXTS)
        texts = tf.constant(TEXTS)
        return layer, [layer(texts), layer(tf.constant([[text] for text in TEXTS])),
                       np.array(layer.get_vocabulary(), object)]
    compare(run)


def test_functions_on_texts():
    """Standards and splits that users write."""
    if not hasattr(guest("tensorflow"), "strings"):
        pytest.skip("tf.strings is not there yet")

    def run(keras, tf):
        layer = keras.layers.TextVectorization(
            standardize=lambda x: tf.strings.regex_replace(tf.strings.lower(x), "<br />", " "),
            split=lambda x: tf.strings.split(x, ","), name="probe")
        layer.adapt(["A,b<br />c", "b,b"])
        return layer, [layer(tf.constant(["b,a,z", "A"])), np.array(layer.get_vocabulary(), object)]
    compare(run, configs=False)


@pytest.mark.parametrize("config", [{}, {"salt": 3}, {"salt": [3, 4]}, {"mask_value": "red"},
                                    {"output_mode": "one_hot"}, {"output_mode": "multi_hot"},
                                    {"output_mode": "count"}])
def test_hashes(config):
    """Bins as TensorFlow's."""
    def run(keras, tf):
        layer = keras.layers.Hashing(num_bins=7, name="probe", **config)
        made = [layer(given(tf, WORDS))]
        if not isinstance(config.get("mask_value"), str):
            made.append(layer(given(tf, NUMBERS)))
        return layer, made
    compare(run)


@pytest.mark.parametrize("mode", ["int", "one_hot"])
def test_crossed_hashes(mode):
    """Bins of combinations."""
    def run(keras, tf):
        layer = keras.layers.HashedCrossing(num_bins=11, output_mode=mode, name="probe")
        words, numbers = tf.constant(["a", "b", "c"]), tf.constant([5, 6, -7])
        return layer, [layer((words, numbers)), layer((words[:, None], numbers[:, None]))]
    compare(run)


@pytest.mark.parametrize("mode", ["one_hot", "multi_hot", "count"])
def test_categories(mode):
    """Numbers below a bound."""
    def run(keras, tf):
        layer = keras.layers.CategoryEncoding(num_tokens=4, output_mode=mode, name="probe")
        made = [layer(tf.constant([1, 3])), layer(tf.constant([[1, 3], [3, 3]]))]
        if mode == "count":
            made.append(layer(tf.constant([[1, 3], [3, 3]]), count_weights=tf.constant([[0.1, 0.2], [1.0, 2.0]])))
        return layer, made
    compare(run)


@each("config", [{"bin_boundaries": [-1.0, 0.0, 0.5]}, {"num_bins": 4},
                 {"num_bins": 3, "epsilon": 0.1}])
@each("mode", ["int", "one_hot", "multi_hot", "count"])
def test_bins(config, mode):
    """Given and learnt boundaries."""
    def run(keras, tf):
        layer = keras.layers.Discretization(output_mode=mode, name="probe", **config)
        if "num_bins" in config:
            layer.adapt(FLOATS)
        return layer, [layer(tf.constant(FLOATS)), np.array(layer.bin_boundaries)]
    compare(run)


@pytest.mark.parametrize("config", [{}, {"axis": None}, {"axis": (0, 1)}, {"mean": 2.0, "variance": 4.0},
                                    {"mean": [1.0, 2.0, 3.0], "variance": [1.0, 4.0, 9.0], "invert": True}])
def test_moments(config):
    """Given and learnt moments."""
    def run(keras, tf):
        layer = keras.layers.Normalization(name="probe", **config)
        if "mean" not in config:
            layer.adapt(FLOATS)
        return layer, [layer(tf.constant(FLOATS)), [array(w) for w in layer.weights]]
    compare(run)


def test_rescaling_and_pipelines():
    """A scale for each channel; layers in turn."""
    def run(keras, tf):
        layer = keras.layers.Pipeline([keras.layers.Rescaling(2.0, 1.0, name="one"),
                                       keras.layers.Rescaling([1.0, 2.0, 3.0], [0.0, 1.0, 0.0], name="two")],
                                      name="probe")
        return layer, [layer(tf.constant(FLOATS))]
    compare(run)


@pytest.mark.parametrize("config", [{}, {"output_mode": "tf_idf"}])
def test_assets(config, tmp_path):
    """A vocabulary goes into a folder and comes back; genuine Keras reads it too."""
    keras, tf = guest("keras"), guest("tensorflow")
    layer = keras.layers.TextVectorization(**config)
    layer.adapt(TEXTS)
    layer.save_assets(str(tmp_path))
    store = {}
    layer.save_own_variables(store)
    for other, constant in ((keras, tf.constant), (genuine.keras, genuine.tf.constant)):
        again = other.layers.TextVectorization(**config)
        again.load_own_variables(store)
        again.load_assets(str(tmp_path))
        assert again.get_vocabulary() == layer.get_vocabulary()
        np.testing.assert_allclose(value(again(constant(TEXTS))), value(layer(tf.constant(TEXTS))), rtol=1e-6)


@each("make, message", [
    (lambda layers: layers.StringLookup(max_tokens=1), "max_tokens=1"),
    (lambda layers: layers.StringLookup(vocabulary=["a", "a"]), "'a'"),
    (lambda layers: layers.StringLookup(vocabulary=[]), "empty"),
    (lambda layers: layers.StringLookup(output_mode="bits"), "output_mode=bits"),
    (lambda layers: layers.StringLookup(vocabulary=["a"]).adapt(["b"]), "static vocabulary"),
    (lambda layers: layers.IntegerLookup(vocabulary_dtype="int32"), "int32"),
    (lambda layers: layers.TextVectorization(split="lines"), "split=lines"),
    (lambda layers: layers.TextVectorization(ngrams="2"), "ngrams=2"),
    (lambda layers: layers.TextVectorization()([["a", "b"]]), "rank=2"),
    (lambda layers: layers.Hashing(0), "num_bins=0"),
    (lambda layers: layers.Hashing(3, salt="x"), "salt=x"),
    (lambda layers: layers.CategoryEncoding(), "num_tokens=None"),
    (lambda layers: layers.Discretization(), "num_bins=None"),
    (lambda layers: layers.Normalization(mean=1.0), "variance=None"),
    (lambda layers: layers.Normalization(axis=5)(FLOATS), "axis=(5,)"),
    (lambda layers: layers.Normalization().adapt([]), "empty"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError) as caught:
        make(guest("keras").layers)
    assert message in str(caught.value)


@pytest.mark.parametrize("make", [
    lambda layers: layers.StringLookup(vocabulary=["a"])(FLOATS), lambda layers: layers.TextVectorization()(FLOATS[0]),
    lambda layers: layers.IntegerLookup(vocabulary=[1], num_oov_indices=0)(FLOATS.astype("complex64")),
    lambda layers: layers.Hashing(3)(FLOATS.astype("complex64"))])
def test_other_kinds_of_data(make):
    """Numbers where strings are wanted, and complex ones."""
    with pytest.raises(TypeError, match="Received: an array of (float32|complex64)"):
        make(guest("keras").layers)


def test_unknown_tokens_without_a_number():
    """With no number for them, unknown tokens are errors."""
    keras, tf = guest("keras"), guest("tensorflow")
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_oov_indices=1"):
        keras.layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(tf.constant(["b"]))


def test_columns_of_several_kinds():
    """A table of integers and fractions is an array of objects, to which a layer adapts as to numbers."""
    layer = guest("keras").layers.Normalization()
    layer.adapt(np.array([[1, 2.5], [3, 4.5]], dtype=object))
    np.testing.assert_allclose(value(layer.mean), [[2.0, 3.5]])


def test_integers_in_objects_keep_their_digits():
    """Numbers above 2 ** 24 that follow each other stay two numbers."""
    layers, numbers = guest("keras").layers, np.array([2 ** 24, 2 ** 24 + 1])
    layer = layers.IntegerLookup()
    layer.adapt(numbers.astype(object))
    assert sorted(layer.get_vocabulary()) == [-1, *numbers]
    np.testing.assert_array_equal(value(layers.Hashing(1000)(numbers.astype(object))),
                                  value(layers.Hashing(1000)(numbers)))
