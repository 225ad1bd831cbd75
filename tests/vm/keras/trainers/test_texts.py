"""Text of shape (batch,) in models whose inputs have a last axis of size 1, and the other way round; text in tables."""
import numpy as np
import pytest

import dragon.vm.keras as mine
import dragon.vm.tensorflow
from harness import genuine
from harness.subresults import each

WORDS = ["a", "b b", "c", "z"]
TARGETS = np.array([1.0, 2.0, 3.0, 4.0], "float32")


def model(keras, shape, layer):
    """Return a model of text; its only weights are ones."""
    inputs = keras.Input(shape, dtype="string")
    if layer == "lookup":
        hidden = keras.layers.StringLookup(vocabulary=["a", "b b", "c"], output_mode="one_hot")(inputs)
    else:
        hidden = keras.layers.TextVectorization(vocabulary=["a", "b", "c"], output_mode="multi_hot")(inputs)
    made = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(hidden))
    made.compile("sgd", "mse")
    return made


USES = {
    "call": lambda made, tf, text: made(text),
    "predict": lambda made, tf, text: made.predict(text, verbose=0),
    "predict_on_batch": lambda made, tf, text: made.predict_on_batch(text),
    "evaluate": lambda made, tf, text: made.evaluate(text, TARGETS, verbose=0),
    "fit": lambda made, tf, text: made.fit(text, TARGETS, verbose=0, shuffle=False, epochs=2).history["loss"],
    "a dataset": lambda made, tf, text: made.predict(tf.data.Dataset.from_tensor_slices(text).batch(3), verbose=0),
}


@each("layer", ("lookup", "text"))
@each("use", USES)
@each("shape, given", (((1,), (4,)), ((), (4, 1)), ((1,), (4, 1))), ids=str)
@pytest.mark.long("genuine Keras trains and predicts as well, and traces each model")
def test_missing_axes(shape, given, use, layer):
    found, wanted = (np.asarray(USES[use](model(keras, shape, layer), tf, tf.reshape(tf.constant(WORDS), given)))
                     for keras, tf in ((mine, dragon.vm.tensorflow), (genuine.keras, genuine.tf)))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, 1e-5)


@pytest.mark.parametrize("kind", ("U", "S", object, np.dtypes.StringDType()), ids=str)
def test_arrays_of_text(kind):
    text = np.array(WORDS).astype(kind)
    expected = model(mine, (1,), "lookup")(dragon.vm.tensorflow.constant(WORDS)).numpy()
    for shape in ((1,), ()):
        np.testing.assert_array_equal(model(mine, shape, "lookup").predict(text, verbose=0), expected)
    assert mine.layers.StringLookup(vocabulary=["a", "c"])(text).numpy().tolist() == [1, 0, 2, 0]


def test_tables():
    """Columns of a table hold text as `str` since pandas 3, as objects before."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: there are no tables to take")
    table = pandas.DataFrame({"text": WORDS, "number": TARGETS})
    expected = model(mine, (1,), "lookup")(dragon.vm.tensorflow.constant(WORDS)).numpy()
    for shape in ((1,), ()):
        for column in (table["text"], table[["text"]], table["text"].astype(object)):
            made = model(mine, shape, "lookup")
            np.testing.assert_array_equal(made.predict(column, verbose=0), expected)
            assert made.fit(column, table["number"], verbose=0).history["loss"][0] > 0
    for layer in (mine.layers.StringLookup(), mine.layers.TextVectorization()):
        layer.adapt(table["text"])
        theirs = getattr(genuine.keras.layers, type(layer).__name__)()
        theirs.adapt(table["text"])
        assert [str(word) for word in layer.get_vocabulary()] == [str(word) for word in theirs.get_vocabulary()]
        assert layer(table["text"]).numpy().tolist() == theirs(table["text"]).numpy().tolist()
    with pytest.raises((TypeError, ValueError)):
        model(mine, (2,), "lookup").predict(table, verbose=0)
