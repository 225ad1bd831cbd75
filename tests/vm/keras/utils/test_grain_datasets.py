"""Data sets of the package `grain`, beside genuine Keras, where the package is installed."""
import numpy as np
import pytest

from dragon.vm import keras
from harness import genuine

pytest.importorskip("grain")
OPTIONS = [{"seed": 3}, {"shuffle": False, "label_mode": "categorical", "batch_size": 2},
           {"label_mode": None, "seed": 5},
           {"seed": 1, "validation_split": 0.4, "subset": "training", "batch_size": None}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root, random = tmp_path_factory.mktemp("files"), np.random.RandomState(0)
    for name in ("cats", "dogs"):
        for kind in ("pictures", "texts"):
            (root / kind / name).mkdir(parents=True)
        for number in range(3):
            picture = random.rand(9 + number, 12, 3) * 255
            keras.utils.save_img(root / "pictures" / name / f"{number}.png", picture, scale=False)
            (root / "texts" / name / f"{number}.txt").write_text(f"{name} {number} é", encoding="utf-8")
    return root


def leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value if isinstance(value, str) else np.asarray(value)]


def assert_alike(found, wanted):
    found, wanted = list(found), list(wanted)
    assert len(found) == len(wanted) > 0
    for own, other in zip(leaves(found), leaves(wanted)):
        assert getattr(own, "shape", None) == getattr(other, "shape", None)
        if isinstance(own, str) or own.dtype == object:
            assert np.asarray(own).tolist() == np.asarray(other).tolist()
        else:
            np.testing.assert_allclose(own, other, 1e-4, 1e-3)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["image", "text"])
def test_directories(folder, kind, options):
    place = str(folder / ("pictures" if kind == "image" else "texts"))
    more = {"image_size": (8, 10)} if kind == "image" else {"max_length": 6}
    found, wanted = (getattr(module.utils, f"{kind}_dataset_from_directory")(
        place, format="grain", verbose=False, **more, **options) for module in (keras, genuine.keras))
    assert found.class_names == wanted.class_names and type(found) is type(wanted)
    assert_alike(found, wanted)


@pytest.mark.parametrize("options", [{}, {"batch_size": None}, {"shuffle": True, "seed": 4}, {"sequence_stride": 2}],
                         ids=str)
def test_time_series(options):
    data = np.arange(24.0).reshape(12, 2)
    for targets in (None, np.arange(12)):
        assert_alike(*(module.utils.timeseries_dataset_from_array(
            data, targets, sequence_length=3, format="grain", **{"batch_size": 4, **options})
            for module in (keras, genuine.keras)))


def test_a_model_is_trained(folder):
    rows = keras.utils.image_dataset_from_directory(str(folder / "pictures"), format="grain", image_size=(8, 8), seed=2,
                                                    verbose=False, batch_size=3)
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert len(model.fit(rows, epochs=2, verbose=0).history["loss"]) == 2
