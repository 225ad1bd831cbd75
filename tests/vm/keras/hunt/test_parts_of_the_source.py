"""What authors of layers take from Keras's source beside its public names."""
import os
import pickle
import sys
import types

import numpy as np
import pytest

from dragon.vm import keras
from dragon.vm.keras.src.datasets.npz_utils import load_npz
from dragon.vm.keras.src.layers.preprocessing.data_layer import DataLayer
from dragon.vm.keras.src.layers.preprocessing.image_preprocessing.bounding_boxes import validation
from dragon.vm.keras.src.layers.rnn.conv_lstm import ConvLSTM
from dragon.vm.keras.src.utils.backend_utils import DynamicBackend


def test_archives_of_arrays(tmp_path):
    rows = np.array([[1, 14, 22], [1, 194]], dtype=object)
    np.savez(tmp_path / "good.npz", x=rows, y=np.arange(3))
    found = load_npz(str(tmp_path / "good.npz"))
    assert [list(row) for row in found["x"]] == [[1, 14, 22], [1, 194]] and found["y"].tolist() == [0, 1, 2]

    class Reaching:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "reached"),)
    np.savez(tmp_path / "bad.npz", x=np.array([Reaching()], dtype=object))
    with pytest.raises(pickle.UnpicklingError, match="Refusing"):
        load_npz(str(tmp_path / "bad.npz"))
    assert not (tmp_path / "reached").exists()


def test_boxes_filled_up():
    one, two = [0.1, 0.1, 0.2, 0.2], [0.3, 0.3, 0.4, 0.4]
    batch = validation.densify_bounding_boxes({"boxes": [[one, two], [one]], "labels": [[4, 5], [6]]}, is_batched=True)
    assert np.array(batch["labels"]).tolist() == [[4, 5], [6, -1]]
    assert np.array(batch["boxes"])[1, 1].tolist() == [0.0] * 4
    three = validation.densify_bounding_boxes({"boxes": [one], "labels": [4]}, max_boxes=3, boxes_default_value=2)
    assert np.array(three["labels"]).tolist() == [4, -1, -1]
    assert np.array(three["boxes"])[2].tolist() == [2.0] * 4
    cut = validation.densify_bounding_boxes({"boxes": [one, two], "labels": [4, 5]}, max_boxes=1)
    assert np.array(cut["labels"]).tolist() == [4]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_parts_of_convolutional_lstms(rank):
    made = ConvLSTM(rank=rank, filters=2, kernel_size=2)(np.ones((1, 2) + (3,) * rank + (1,), "float32"))
    assert made.shape == (1,) + (2,) * rank + (2,)


def test_a_rank_that_is_not_there():
    with pytest.raises(ValueError, match="`rank` argument must be 1, 2 or 3"):
        ConvLSTM(filters=2, kernel_size=2)


class Noisy(DataLayer):
    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed, self.generator = seed, keras.random.SeedGenerator(seed)

    def call(self, inputs):
        noise = self.backend.random.uniform(self.backend.shape(inputs), seed=self._get_seed_generator())
        return self.backend.numpy.add(self.convert_weight(inputs), noise)


def test_layers_that_call_their_backend():
    x = np.zeros((2, 3), "float32")
    assert np.array_equal(Noisy(3)(x), Noisy(3)(x)) and not np.array_equal(Noisy(3)(x), Noisy(4)(x))
    with pytest.raises(ValueError, match="`seed` and `generator`"):
        DataLayer()._get_seed_generator()
    backend = DynamicBackend()
    assert backend.name == "tensorflow" == DynamicBackend("tensorflow").name
    with pytest.raises(ValueError, match="got backend='jax'"):
        backend.set_backend("jax")


def test_classes_that_modules_of_the_family_hold(monkeypatch):
    module = types.ModuleType("keras_hub.src.made_up")
    module.Twice = type("Twice", (keras.layers.Layer,), {"__module__": module.__name__, "call": lambda self, x: x * 2})
    module.reach = os.mkdir
    for name in ("keras_hub", "keras_hub.src", module.__name__):
        monkeypatch.setitem(sys.modules, name, module)
    config = keras.layers.serialize(module.Twice())
    assert config["module"] == module.__name__
    assert type(keras.layers.deserialize(config)) is module.Twice
    with pytest.raises(ValueError, match="no such layer"):
        keras.layers.deserialize({**config, "class_name": "reach", "registered_name": "reach"})


def test_resizing_by_areas():
    x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    for size, wanted in (((2, 2), [[2.5, 4.5], [10.5, 12.5]]), ((1, 4), [[6.0, 7.0, 8.0, 9.0]])):
        found = keras.ops.image.resize(x, size, interpolation="area")
        np.testing.assert_allclose(np.array(found)[0, ..., 0], wanted, rtol=1e-6)
    assert keras.layers.UpSampling2D(2, interpolation="area")(x).shape == (1, 8, 8, 1)


def test_lookups_of_strings_by_the_class_they_share():
    from dragon.vm.keras.src.layers import IndexLookup
    layer = IndexLookup(max_tokens=None, num_oov_indices=1, mask_token="", oov_token="[OOV]",
                        vocabulary_dtype="string", vocabulary=["one", "two"])
    assert np.array(layer(np.array(["two", "", "three"]))).tolist() == [3, 0, 1]
    assert layer.get_vocabulary() == ["", "[OOV]", "one", "two"]


def test_what_an_equation_asks_for():
    from dragon.vm.keras.src.layers.core.einsum_dense import _analyze_einsum_string
    found = _analyze_einsum_string("abc,cde->abde", "e", (None, 10, 32), (10, 3, 4))
    assert found == ([32, 3, 4], [4], (None, 10, 3, 4), [0], [1, 2])
