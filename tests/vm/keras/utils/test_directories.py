"""Data sets of directories, pictures and cut data sets, beside genuine Keras."""
import os
import wave

import numpy as np
import pytest

import dragon.vm.keras as keras
import dragon.vm.tensorflow as tf
from harness import genuine

pytest.importorskip("PIL")
CLASSES = ("cats", "dogs", "emus")


def write_sound(path, numbers):
    """Write samples of two channels."""
    with wave.open(path, "wb") as file:
        file.setparams((2, 2, 8000, len(numbers), "NONE", ""))
        file.writeframes(np.stack([numbers, -numbers], 1).astype("<i2").tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a directory of pictures and texts in three classes."""
    root, random = tmp_path_factory.mktemp("files"), np.random.RandomState(0)
    for name in CLASSES:
        os.makedirs(root / "pictures" / name)
        os.makedirs(root / "texts" / name)
        os.makedirs(root / "sounds" / name)
        for number in range(5):
            picture = random.rand(9 + number, 12, 3) * 255
            keras.utils.save_img(root / "pictures" / name / f"{number}.png", picture, scale=False)
            write_sound(str(root / "sounds" / name / f"{number}.wav"), random.randint(-9999, 9999, 20 + 5 * number))
            (root / "texts" / name / f"{number}.txt").write_text(f"{name} text {number} é", encoding="utf-8")
    return root


def flat(x):
    return [leaf for item in x for leaf in flat(item)] if isinstance(x, (tuple, list)) else [x.numpy()]


def assert_alike(found, wanted):
    found, wanted = list(found), list(wanted)
    assert len(found) == len(wanted)
    for own, other in zip(flat(found), flat(wanted)):
        assert own.dtype == other.dtype and own.shape == other.shape
        if own.dtype == object:
            assert own.tolist() == other.tolist()
        else:
            np.testing.assert_allclose(own, other, 1e-4, 1e-3)


@pytest.mark.parametrize("options", [
    {"seed": 3}, {"shuffle": False, "label_mode": "categorical", "batch_size": 4}, {"label_mode": None, "seed": 5},
    {"seed": 1, "validation_split": 0.2, "subset": "training"}, {"labels": None, "shuffle": False, "batch_size": None},
    {"shuffle": False, "crop_to_aspect_ratio": True}, {"shuffle": False, "pad_to_aspect_ratio": True},
    {"shuffle": False, "interpolation": "bicubic"}, {"shuffle": False, "interpolation": "lanczos3"},
    {"class_names": ["dogs", "cats"], "label_mode": "binary", "shuffle": False},
    {"shuffle": False, "data_format": "channels_first", "interpolation": "nearest"},
], ids=str)
def test_pictures(folder, options):
    options = {"image_size": (8, 10), "verbose": False, **options}
    found = keras.utils.image_dataset_from_directory(str(folder / "pictures"), **options)
    wanted = genuine.keras.utils.image_dataset_from_directory(str(folder / "pictures"), **options)
    assert (found.class_names, found.file_paths) == (wanted.class_names, wanted.file_paths)
    assert_alike(found, wanted)


def test_both_subsets(folder):
    for module in (keras, genuine.keras):
        parts = module.utils.image_dataset_from_directory(
            str(folder / "pictures"), seed=4, validation_split=0.4, subset="both", verbose=False)
        assert [sum(len(labels) for _, labels in part) for part in parts] == [9, 6]


@pytest.mark.parametrize("options", [
    {"seed": 3}, {"shuffle": False, "max_length": 6},
    {"label_mode": "binary", "class_names": ["cats", "dogs"], "seed": 9},
], ids=str)
def test_texts(folder, options):
    found, wanted = (module.utils.text_dataset_from_directory(str(folder / "texts"), **options)
                     for module in (keras, genuine.keras))
    assert found.class_names == wanted.class_names
    assert_alike(found, wanted)


@pytest.mark.parametrize("options", [
    {"seed": 3, "batch_size": 4}, {"shuffle": False, "output_sequence_length": 25}, {"label_mode": None, "seed": 2},
    {"batch_size": None, "shuffle": False},
], ids=str)
def test_sounds(folder, options):
    found, wanted = (module.utils.audio_dataset_from_directory(str(folder / "sounds"), verbose=False, **options)
                     for module in (keras, genuine.keras))
    if options.get("label_mode", 1) is None:  # genuine Keras pads only what has labels
        assert [x.shape[0] for x in found] == [15]
        return
    assert_alike(found, wanted)


@pytest.mark.parametrize("options", [{"left_size": 0.7}, {"right_size": 3}, {"left_size": 2, "right_size": 4},
                                     {"left_size": 4, "shuffle": True, "seed": 3}], ids=str)
def test_splitting(options):
    arrays = np.arange(20.0).reshape(10, 2), np.arange(10)
    for found, wanted in zip(keras.utils.split_dataset(arrays, **options),
                             genuine.keras.utils.split_dataset(arrays, **options)):
        assert_alike(found, wanted)
    batches = [module.data.Dataset.range(10).batch(3) for module in (tf, genuine.tf)]
    for found, wanted in zip(keras.utils.split_dataset(batches[0], **options),
                             genuine.keras.utils.split_dataset(batches[1], **options)):
        assert_alike(found, wanted)


@pytest.mark.parametrize("options", [
    {}, {"color_mode": "rgba"}, {"target_size": (5, 6), "interpolation": "bilinear"},
    {"color_mode": "grayscale", "target_size": (5, 6), "keep_aspect_ratio": True}], ids=str)
def test_single_pictures(folder, options):
    path = folder / "pictures" / "cats" / "0.png"
    found, wanted = (module.utils.img_to_array(module.utils.load_img(path, **options))
                     for module in (keras, genuine.keras))
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype
    back = [np.asarray(module.utils.array_to_img(found)) for module in (keras, genuine.keras)]
    np.testing.assert_array_equal(*back)


def test_files_are_kept(folder, tmp_path):
    origin = (folder / "texts" / "cats" / "0.txt").as_uri()
    path = keras.utils.get_file("text.txt", origin, cache_dir=str(tmp_path))
    assert open(path, encoding="utf-8").read() == "cats text 0 é"
    assert keras.utils.get_file("text.txt", "file:///nowhere/text.txt", cache_dir=str(tmp_path)) == path
    with pytest.raises(ValueError, match="Received"):
        keras.utils.get_file("other.txt", origin, file_hash="0" * 64, cache_dir=str(tmp_path))


@pytest.mark.parametrize("options", [
    {"labels": "all"}, {"label_mode": "one"}, {"color_mode": "cmyk"}, {"image_size": (3,)}, {"interpolation": "no"},
    {"validation_split": 2, "subset": "training"}, {"validation_split": 0.2}, {"class_names": ["bees"]},
    {"label_mode": "binary"}, {"labels": [1, 2]}, {"validation_split": 0.2, "subset": "training"}], ids=str)
def test_errors_tell_what_was_received(folder, options):
    with pytest.raises(ValueError, match="Received"):
        keras.utils.image_dataset_from_directory(str(folder / "pictures"), **options)


@pytest.mark.parametrize("options", [
    {"left_size": 0.7}, {"right_size": 3}, {"left_size": 4, "shuffle": True, "seed": 3}], ids=str)
def test_splitting_for_pytorch(options):
    torch = pytest.importorskip("torch")
    arrays = np.arange(20.0).reshape(10, 2), np.arange(10)
    source = torch.utils.data.TensorDataset(*map(torch.tensor, arrays))
    wanted = keras.utils.split_dataset(arrays, **options)
    for found in (keras.utils.split_dataset(source, **options),
                  keras.utils.split_dataset(arrays, preferred_backend="torch", **options)):
        for own, other in zip(found, wanted):
            assert isinstance(own, torch.utils.data.Dataset)
            np.testing.assert_array_equal([row[0] for row in own], [row[0] for row in other])
    assert_alike(keras.utils.split_dataset(source, preferred_backend="tensorflow", **options)[0], wanted[0])
    with pytest.raises(ValueError, match="preferred_backend=theano"):
        keras.utils.split_dataset(arrays, preferred_backend="theano", **options)
