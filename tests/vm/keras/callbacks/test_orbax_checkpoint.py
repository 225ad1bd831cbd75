"""Checkpoints of the package Orbax, in both directions with genuine Keras, where the package is installed."""
import os

import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras

X = np.random.default_rng(0).standard_normal((12, 4)).astype("float32")
Y = X[:, :1]


def test_without_the_package_it_is_named(tmp_path):
    try:
        import orbax.checkpoint  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install orbax-checkpoint"):
            keras.callbacks.OrbaxCheckpoint(tmp_path)
    else:
        with pytest.raises(ValueError, match="Unrecognized save_freq: 1.5"):
            keras.callbacks.OrbaxCheckpoint(tmp_path, save_freq=1.5)


def trained(side, folder, **options):
    side.backend.clear_session()  # the same names each time
    side.utils.set_random_seed(0)
    inputs = side.Input((4,))
    hidden = side.layers.BatchNormalization()(side.layers.Dense(3)(inputs))
    model = side.Model(inputs, side.layers.Dense(1)(hidden))
    model.compile("adam", "mse")
    told = side.callbacks.OrbaxCheckpoint(str(folder), **options)
    model.fit(X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[told])
    return model


@pytest.mark.parametrize("sides", [(keras, keras), (keras, genuine), (genuine, keras)],
                         ids=["here", "to genuine", "from genuine"])
def test_folders_are_read_by_both(sides, tmp_path):
    pytest.importorskip("orbax.checkpoint")
    writer, reader = sides
    model = trained(writer, tmp_path / "whole")
    again = reader.saving.load_model(str(tmp_path / "whole"))
    for own, other in zip(again.get_weights() + [np.asarray(v) for v in again.optimizer.variables],
                          model.get_weights() + [np.asarray(v) for v in model.optimizer.variables], strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-6)
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-4, atol=1e-5)


def test_a_sequential_is_read_whole(tmp_path):
    """Its weights lose its name on the way through a configuration; genuine Keras leaves them as they begin."""
    pytest.importorskip("orbax.checkpoint")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    told = keras.callbacks.OrbaxCheckpoint(str(tmp_path / "whole"))
    model.fit(X, Y, verbose=0, callbacks=[told])
    again = keras.saving.load_model(tmp_path / "whole")
    np.testing.assert_array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))
    for own, other in zip(again.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(own, other)
    with pytest.raises(ValueError, match="has no values of trainable_variables"):
        keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, name="other")]).load_weights(tmp_path / "whole")


def test_steps_weights_and_the_best(tmp_path):
    pytest.importorskip("orbax.checkpoint")
    model = trained(keras, tmp_path / "steps", save_freq=2, max_to_keep=3, save_on_background=False)
    assert sorted(int(name) for name in os.listdir(tmp_path / "steps") if name.isdigit()) == [4, 6, 8]
    trained(keras, tmp_path / "weights", save_weights_only=True)
    with pytest.raises(ValueError, match="does not contain model configuration"):
        keras.saving.load_model(tmp_path / "weights")
    again = keras.models.clone_model(model)
    again.load_weights(tmp_path / "weights")
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-5)
    trained(keras, tmp_path / "best", save_best_only=True, monitor="loss", initial_value_threshold=0.0)
    assert not [name for name in os.listdir(tmp_path / "best") if name.isdigit()]
    with pytest.raises(ValueError, match="No valid checkpoints found"):
        (tmp_path / "empty.orbax-checkpoint-tmp").mkdir()
        keras.saving.load_model(tmp_path)
    with pytest.warns(UserWarning, match="skipping save at epoch 0"):
        trained(keras, tmp_path / "none", save_best_only=True, monitor="val_loss")
