"""Keras's layers that prepare data, exported here with models that begin with them, and run by genuine TensorFlow."""
import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm import tensorflow as ours
from harness import genuine

WORDS = ["the", "cat", "sat", "on", "mat"]
LINES = [["The cat, sat!"], ["on xthe"], [""], ["a mat. The mat"]]
PAIRS = [["the", "zz"], ["cat", ""], ["q", "mat"]]
NUMBERS = [[1, 2], [3, 7], [0, 9]]


def texts(shape=(1,), **options):
    return lambda L: [L.Input(shape, dtype="string"), L.TextVectorization(vocabulary=WORDS, **options)]


def of(dtype, shape, make):
    return lambda L: [L.Input(shape, dtype=dtype), make(L)]


MODELS = {
    "texts": (texts(), LINES), "texts cut": (texts(output_sequence_length=2), LINES),
    "texts as places": (texts(output_mode="multi_hot"), LINES), "texts counted": (texts(output_mode="count"), LINES),
    "texts weighted": (texts(output_mode="tf_idf", idf_weights=[1.0, 2.0, 3.0, 4.0, 5.0]), LINES),
    "texts as they are": (texts(standardize=None), LINES), "texts in lower case": (texts(standardize="lower"), LINES),
    "single texts": (texts(()), [line[0] for line in LINES]), "texts not split": (texts((2,), split=None), PAIRS),
    "letters": (of("string", (1,), lambda L: L.TextVectorization(vocabulary=list("abct"), split="character")), LINES),
    "runs": (of("string", (1,), lambda L: L.TextVectorization(vocabulary=["the cat", "cat"], ngrams=2)), LINES),
    "words": (of("string", (2,), lambda L: L.StringLookup(vocabulary=WORDS)), PAIRS),
    "words masked": (of("string", (2,), lambda L: L.StringLookup(vocabulary=WORDS, mask_token="")), PAIRS),
    "words in buckets": (of("string", (2,), lambda L: L.StringLookup(vocabulary=WORDS, num_oov_indices=3)), PAIRS),
    "words as places": (of("string", (1,), lambda L: L.StringLookup(vocabulary=WORDS, output_mode="one_hot")), LINES),
    "words back": (of("int64", (2,), lambda L: L.StringLookup(vocabulary=WORDS, invert=True)), NUMBERS),
    "numbers": (of("int64", (2,), lambda L: L.IntegerLookup(vocabulary=[1, 2, 7])), NUMBERS),
    "numbers in buckets": (of("int64", (2,), lambda L: L.IntegerLookup(vocabulary=[1, 2, 7], num_oov_indices=2)),
                           NUMBERS),
    "hashed": (of("string", (2,), lambda L: L.Hashing(10)), PAIRS),
    "hashed with salt": (of("string", (2,), lambda L: L.Hashing(10, salt=[3, 4], mask_value="cat")), PAIRS),
    "hashed numbers": (of("int64", (2,), lambda L: L.Hashing(10, mask_value=3)), NUMBERS),
    "categories": (of("int64", (2,), lambda L: L.CategoryEncoding(10, output_mode="count")), NUMBERS),
    "bins": (of("float32", (2,), lambda L: L.Discretization([0.5, 2.0, 5.0])), NUMBERS),
    "normal": (of("float32", (2,), lambda L: L.Normalization(mean=[1.0, 2.0], variance=[2.0, 3.0])), NUMBERS),
    "sounds": (of("float32", (2400,), lambda L: L.MelSpectrogram(fft_length=512, num_mel_bins=20)),
               np.sin(np.arange(7200).reshape(3, 2400) * 0.3))}


def plain(result):
    return result.to_list() if hasattr(result, "to_list") else np.asarray(result).tolist()


def equal(found, expected):
    if isinstance(expected[0][0] if isinstance(expected[0], list) else expected[0], bytes):
        assert found == expected
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_layers(tmp_path, name):
    make, given = MODELS[name]
    model, theirs = (one.Sequential(make(one.layers)) for one in (keras, genuine.keras))
    model.export(str(tmp_path / "model"), verbose=False)
    dtype = model.inputs[0].dtype if hasattr(model.inputs[0], "dtype") else "float32"
    loaded, again = (tf.saved_model.load(str(tmp_path / "model")) for tf in (genuine.tf, ours))
    for part in (given, given[:2]):
        expected = plain(theirs(genuine.tf.constant(part, dtype)))
        equal(plain(loaded.serve(genuine.tf.constant(part, dtype))), expected)
        equal(plain(again.serve(ours.constant(part, dtype))), expected)
        served = loaded.signatures["serving_default"](genuine.tf.constant(part, dtype))
        equal(plain(*served.values()), expected)


def test_crossings(tmp_path):
    made = []
    for one in (keras, genuine.keras):
        a, b = one.Input((1,), dtype="string", name="a"), one.Input((1,), dtype="int64", name="b")
        made.append(one.Model([a, b], one.layers.HashedCrossing(10)([a, b])))
    made[0].export(str(tmp_path / "model"), verbose=False)
    loaded, tf = genuine.tf.saved_model.load(str(tmp_path / "model")), genuine.tf
    given = [tf.constant([["x"], ["y"], ["z"]]), tf.constant([[1], [2], [3]], tf.int64)]
    assert plain(loaded.serve(given)) == plain(made[1](given))


@pytest.mark.parametrize("kind", ["mean", "recurrent"])
def test_classifiers_of_texts(tmp_path, kind):
    """Raw text goes in, probabilities come out."""
    L = keras.layers
    vectorize = L.TextVectorization(max_tokens=20)
    vectorize.adapt([line[0] for line in LINES])
    middle = [L.GlobalAveragePooling1D()] if kind == "mean" else [L.Bidirectional(L.LSTM(4))]
    inner = keras.Sequential([L.Embedding(20, 4, mask_zero=True), *middle, L.Dense(3, "softmax")])
    inputs = keras.Input((1,), dtype="string")
    model = keras.Model(inputs, inner(vectorize(inputs)))
    expected = np.asarray(model(ours.constant(LINES)))
    model.export(str(tmp_path / "model"), verbose=False)
    loaded, again = (tf.saved_model.load(str(tmp_path / "model")) for tf in (genuine.tf, ours))
    np.testing.assert_allclose(loaded.serve(genuine.tf.constant(LINES)).numpy(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(again.serve(ours.constant(LINES)).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert len(loaded.trainable_variables) == len(model.trainable_variables)


def test_words_that_must_be_known(tmp_path):
    model = keras.Sequential([keras.Input((1,), dtype="string"),
                              keras.layers.StringLookup(vocabulary=WORDS, num_oov_indices=0)])
    model.export(str(tmp_path / "model"), verbose=False)
    loaded, tf = genuine.tf.saved_model.load(str(tmp_path / "model")), genuine.tf
    assert loaded.serve(tf.constant([["cat"]])).numpy().tolist() == [[1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="all inputs should be in vocabulary"):
        loaded.serve(tf.constant([["dog"]]))
