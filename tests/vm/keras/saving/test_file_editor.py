"""Files of weights changed object by object, as genuine Keras's editor changes them."""
import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras


def make(side, hidden=()):
    return side.Sequential([side.Input((2,)), *(side.layers.Dense(3, name=f"hidden_{i}") for i in hidden),
                            side.layers.Dense(1, name="last")])


@pytest.fixture
def file(tmp_path):
    """A file of a model with one hidden layer."""
    make(keras, [0]).save(tmp_path / "model.keras")
    return str(tmp_path / "model.keras")


@pytest.mark.parametrize("edit", [
    lambda editor: None, lambda editor: editor.delete_object("dense"),
    lambda editor: editor.rename_object("layers/dense", "dense_2"),
    lambda editor: editor.add_object("layers/dense_2", {"0": np.zeros((3, 3)), "1": np.zeros(3)}),
    lambda editor: editor.delete_weight("layers/dense_1", "1"),
    lambda editor: editor.add_weights("layers/dense_1", {"1": np.zeros(9)}),
    lambda editor: editor.add_weights("layers/dense_1", {"2": np.zeros(9)}),
    lambda editor: editor.delete_object("layers/nothing"), lambda editor: editor.delete_object("nothing"),
    lambda editor: editor.rename_object("dense", "a/b"), lambda editor: editor.delete_weight("dense", "7"),
    lambda editor: editor.add_object("nothing/dense", {}), lambda editor: editor.add_weights("dense", [1]),
    lambda editor: editor.rename_object("0", "1"), lambda editor: editor.save("model.keras")])
def test_edits_are_those_of_genuine_keras(file, edit, tmp_path):
    found = []
    for side in (keras, genuine):
        editor = side.saving.KerasFileEditor(file)
        try:
            edit(editor)
            # Genuine Keras counts what is nested again on each level: only what it says of the whole is compared.
            results = [editor.compare(make(side, hidden))["status"] for hidden in ([], [0], [0, 1])]
            editor.save(tmp_path / f"{side.__name__}.weights.h5")
            found.append(results)
        except Exception as error:
            found.append(type(error).__name__)
    assert found[0] == found[1]


def test_what_was_written_is_read(file, tmp_path, capsys):
    editor = keras.saving.KerasFileEditor(file)
    editor.add_object("layers/dense_2", {"0": np.ones((3, 1), "float32"), "1": np.ones(1, "float32")})
    editor.add_weights("layers/dense_1", {"0": np.full((3, 3), 2, "float32"), "1": np.zeros(3, "float32")})
    editor.summary()
    assert "dense_2/\n            0: shape=(3, 1), dtype=float32" in capsys.readouterr().out
    editor.save(tmp_path / "a.weights.h5")
    for side in (keras, genuine):
        model = make(side, [0, 1])
        model.load_weights(tmp_path / "a.weights.h5")
        np.testing.assert_array_equal(np.asarray(model.weights[2]), np.full((3, 3), 2))
    with pytest.raises(ValueError, match="Invalid filename"):
        keras.saving.KerasFileEditor("weights.txt")
