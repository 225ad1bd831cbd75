"""Which file is what, and what is refused: the sentences are those that users of Keras look for."""
import numpy as np
import pytest

from dragon.vm import keras


@pytest.fixture
def model():
    """Return a small model."""
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])


def test_a_normalization_computes_after_it_was_read_from_h5(tmp_path):
    inputs = keras.Input((4,))
    normalization = keras.layers.Normalization()
    model = keras.Model(inputs, keras.layers.Dense(2)(normalization(inputs)))
    x = np.random.RandomState(0).rand(8, 4).astype("float32")
    normalization.adapt(x)
    model.save(tmp_path / "model.h5")
    again = keras.models.load_model(tmp_path / "model.h5")
    np.testing.assert_array_equal(np.asarray(again(x)), np.asarray(model(x)))
    keras.backend.clear_session()
    other = keras.models.clone_model(model)
    model.save_weights(tmp_path / "own.weights.h5")
    other.load_weights(tmp_path / "own.weights.h5")
    np.testing.assert_array_equal(np.asarray(other(x)), np.asarray(model(x)))


@pytest.mark.parametrize("name, options, message", [
    ("model", {"save_format": "keras"}, "`save_format` argument is deprecated"),
    ("model.notkeras", {}, "Invalid filepath extension"), ("model.keras", {"other": 1}, "are not supported")])
def test_files_that_are_not_written(tmp_path, model, name, options, message):
    with pytest.raises(ValueError, match=message):
        model.save(tmp_path / name, **options)


def test_formats_that_the_name_tells(tmp_path, model):
    with pytest.warns(UserWarning, match="`save_format` argument is deprecated .* save_format=tf"):
        model.save(tmp_path / "model.keras", save_format="tf")
    assert keras.models.load_model(tmp_path / "model.keras").count_params() == 8


@pytest.mark.parametrize("name, options, message", [
    ("model.pkl", {}, "File format not supported"), ("model.keras", {}, "File not found")])
def test_files_that_are_not_read(tmp_path, name, options, message):
    with pytest.raises(ValueError, match=message):
        keras.models.load_model(tmp_path / name, **options)


@pytest.mark.parametrize("name, options, message", [
    ("w.keras", {"objects_to_skip": []}, "only supports loading '.weights.h5' files"),
    ("w.keras", {"by_name": True}, "only supports loading legacy '.h5' or '.hdf5' files"),
    ("w.weights.h5", {"by_name": True}, "only supports loading legacy '.h5' or '.hdf5' files"),
    ("w.h5", {"objects_to_skip": []}, "only supports loading '.weights.h5' files"),
    ("w.keras", {"bad": None}, "Invalid keyword arguments")])
def test_weights_that_are_not_read(tmp_path, model, name, options, message):
    with pytest.raises(ValueError, match=message):
        model.load_weights(tmp_path / name, **options)


def test_weights_by_the_names_of_the_source_tree(tmp_path, model):
    import importlib
    room = importlib.import_module("dragon.vm.keras.src.saving.saving_lib")
    room.save_weights_only(model, str(tmp_path / "w.weights.h5"))
    other = keras.models.clone_model(model)
    room.load_weights_only(other, str(tmp_path / "w.weights.h5"))
    for first, second in zip(model.get_weights(), other.get_weights()):
        np.testing.assert_array_equal(first, second)


def test_layers_that_are_activations_are_read(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation=keras.layers.LeakyReLU(0.15)),
                              keras.layers.Dense(2, activation=keras.layers.PReLU())])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.layers[0].activation.negative_slope == 0.15
    x = np.random.RandomState(0).randn(4, 3).astype("float32")
    np.testing.assert_array_equal(np.asarray(again(x)), np.asarray(model(x)))


def test_a_layer_that_another_one_wraps_is_shared_again(tmp_path):
    first, second = keras.Input((2,)), keras.Input((5, 2))
    shared = keras.layers.Dense(1)
    model = keras.Model([first, second], [shared(first), keras.layers.TimeDistributed(shared)(second)])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.layers[2] is again.layers[3].layer and again.count_params() == 3
    inputs = [np.ones((4, 2)), np.ones((4, 5, 2))]
    for one, other in zip(model.predict(inputs, verbose=0), again.predict(inputs, verbose=0)):
        np.testing.assert_array_equal(one, other)
