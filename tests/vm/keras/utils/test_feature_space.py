"""FeatureSpace beside the genuine one: kinds of features, crosses, forms, files."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, guest

TABLE = {
    "price": np.array([1.0, 2.5, 3.0, 8.0, 2.0, 9.5], "float32"),
    "size": np.array([3.0, 1.0, 2.0, 2.0, 7.0, 5.0], "float32"),
    "rooms": np.array([1, 2, 2, 3, 1, 5]), "town": np.array(["a", "b", "a", "c", "b", "a"]),
    "street": np.array(["x", "y", "z", "x", "x", "y"]), "code": np.array([11, 12, 13, 11, 17, 12]),
    "plain": np.array([0.5, 0.25, 0.75, 0.0, 1.0, 0.5], "float32"),
}


def space_of(keras, **settings):
    """Return a space with features of all kinds."""
    kind = keras.utils.FeatureSpace
    return kind(features={
        "price": "float_normalized", "size": kind.float_discretized(num_bins=3, name="size"),
        "rooms": "integer_categorical", "town": kind.string_categorical(num_oov_indices=1, name="town"),
        "street": "string_hashed", "code": "integer_hashed", "plain": kind.float_rescaled(2.0, 1.0, name="plain"),
    }, crosses=[("town", "rooms"), kind.cross(("street", "code"), crossing_dim=7)], crossing_dim=5,
        hashing_dim=9, **settings)


def side(keras, tf, run, **settings):
    """Return what a function of an adapted space gives on one side."""
    space = space_of(keras, **settings)
    space.adapt(tf.data.Dataset.from_tensor_slices(TABLE))
    return run(space, tf)


def both(run, **settings):
    """Return what a function gives on both sides."""
    return (side(guest("keras"), guest("tensorflow"), run, **settings),
            side(genuine.keras, genuine.tf, run, **settings))


def test_rows_as_vectors():
    """A table, and one row."""
    def run(space, tf):
        table = {key: tf.constant(value.tolist() if value.dtype.kind == "U" else value) for key, value in TABLE.items()}
        row = {key: value[0] for key, value in table.items()}
        return [array(space(table)), array(space(row))]
    for one, other in zip(*both(run)):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_rows_as_dictionaries():
    """Features of their own."""
    def run(space, tf):
        table = {key: tf.constant(value.tolist() if value.dtype.kind == "U" else value) for key, value in TABLE.items()}
        return {key: array(value) for key, value in space(table).items()}
    ours, theirs = both(run, output_mode="dict")
    assert list(ours) == list(theirs)
    for key in ours:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-5, atol=1e-6, err_msg=key)


def test_models_and_files(tmp_path):
    """Inputs and encoded features make a model; a space goes into a file and comes back."""
    keras, tf = guest("keras"), guest("tensorflow")

    def run(space, tf):
        return space
    space = side(keras, tf, run)
    outputs = keras.layers.Dense(2)(space.get_encoded_features())
    model = keras.Model(space.get_inputs(), outputs)
    table = {key: tf.constant(value.tolist() if value.dtype.kind == "U" else value)[:, None]
             for key, value in TABLE.items()}
    assert tuple(model(table).shape) == (6, 2)
    flat = {key: value[:, 0] for key, value in table.items()}
    wanted = array(space(flat))
    space.save(str(tmp_path / "space.keras"))
    again = keras.saving.load_model(str(tmp_path / "space.keras"))
    np.testing.assert_allclose(array(again(flat)), wanted, rtol=1e-6)
    theirs = genuine.keras.saving.load_model(str(tmp_path / "space.keras"))
    given = {key: genuine.tf.constant(value.tolist() if value.dtype.kind == "U" else value)
             for key, value in TABLE.items()}
    np.testing.assert_allclose(array(theirs(given)), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make, message", [
    (lambda kind: kind({}), "features={}"), (lambda kind: kind({"a": "float"}, output_mode="list"), "list"),
    (lambda kind: kind({"a": "number"}), "number"), (lambda kind: kind({"a": "float"}, crosses=[("a", "b")]), "b"),
    (lambda kind: kind({"a": "float_normalized"})({"a": [1.0]}), "adapt"),
    (lambda kind: kind({"a": "float"})([1]), "dict"),
    (lambda kind: kind.cross(("a",), 3, "words"), "words"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError) as caught:
        make(guest("keras").utils.FeatureSpace)
    assert message in str(caught.value)
