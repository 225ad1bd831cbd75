"""Texts, windows and pictures prepared as older programs do it, beside genuine Keras."""
import random
import warnings

import numpy as np
import pytest
from harness.subresults import each
from keras.src.legacy import preprocessing as genuine
from keras.src.legacy.preprocessing.image import ImageDataGenerator  # noqa: F401 - has the rooms imported
from keras.src.legacy.preprocessing.sequence import skipgrams  # noqa: F401
from keras.src.legacy.preprocessing.text import Tokenizer  # noqa: F401

from dragon.vm import keras

TEXTS = ["The fox, the dog!", "A dog; a cat\tand THE fox", "", "fox fox fox"]
IMAGES = np.random.RandomState(0).uniform(0, 255, (7, 12, 10, 3)).astype("float32")
LABELS = np.arange(7)
SETTINGS = {
    "nothing": {},
    "moves": {"rotation_range": 30, "width_shift_range": 0.3, "height_shift_range": 3, "shear_range": 20,
              "zoom_range": (0.6, 1.3), "fill_mode": "reflect"},
    "chosen shifts": {"width_shift_range": [1, 2, 3], "height_shift_range": [0.1, 0.3], "cval": 7.0,
                      "fill_mode": "constant"},
    "colours": {"channel_shift_range": 40.0, "brightness_range": (0.4, 1.6)},
    "flips": {"horizontal_flip": True, "vertical_flip": True, "rescale": 1 / 255},
    "samples": {"samplewise_center": True, "samplewise_std_normalization": True},
    "features": {"featurewise_center": True, "featurewise_std_normalization": True, "zoom_range": 0.2},
    "whitening": {"zca_whitening": True, "preprocessing_function": lambda x: x / 255},
    "cubic": {"rotation_range": 20, "interpolation_order": 3, "dtype": "float64"},
}


def both(call):
    """Return what a call gives here and in genuine Keras, from the same seeds."""
    found = []
    for side in (keras.legacy.preprocessing, genuine):
        np.random.seed(3)
        random.seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(call(side))
            except Exception as error:
                found.append((type(error).__name__, str(error)))
    return found


def assert_same(mine, theirs):
    """Compare nested results exactly."""
    assert type(mine) is type(theirs)
    if isinstance(mine, (tuple, list)):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs):
            assert_same(one, other)
    elif isinstance(mine, np.ndarray):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-4)
    else:
        assert mine == theirs


def test_words_of_texts():
    for arguments in ({}, {"lower": False}, {"filters": "x"}, {"split": "o"}):
        assert_same(*both(lambda side: [side.text.text_to_word_sequence(line, **arguments) for line in TEXTS]))
    assert_same(*both(lambda side: [side.text.hashing_trick(line, 9, "md5") for line in TEXTS]))
    assert_same(*both(lambda side: [side.text.one_hot(line, 9, analyzer=str.split) for line in TEXTS]))


@each("arguments", [
    {}, {"num_words": 3}, {"oov_token": "?"}, {"num_words": 3, "oov_token": "?"}, {"char_level": True},
    {"char_level": True, "lower": False, "num_words": 5}, {"analyzer": str.split}, {"document_count": 4},
    {"nb_words": 2}, {"wrong": 1}])
def test_tokenizers(arguments):
    def use(side):
        tokenizer = side.text.Tokenizer(**arguments)
        tokenizer.fit_on_texts([*TEXTS, ["Some", "list"]])
        sequences = tokenizer.texts_to_sequences([*TEXTS, "an unknown fox", ["Some", "fox"]])
        rows = [tokenizer.texts_to_matrix(TEXTS, mode) for mode in ("binary", "count", "freq", "tfidf")]
        again = side.text.tokenizer_from_json(tokenizer.to_json())
        return [dict(tokenizer.word_index), dict(tokenizer.index_docs), sequences, rows,
                tokenizer.sequences_to_texts(sequences), again.texts_to_sequences(TEXTS), again.index_word,
                dict(again.index_docs), sorted(tokenizer.get_config())]
    assert_same(*both(use))


def test_matrices_of_nothing_are_refused():
    def use(side):
        return side.text.Tokenizer().sequences_to_matrix([[1]])
    assert_same(*both(use))
    assert_same(*both(lambda side: side.text.Tokenizer(num_words=2).sequences_to_matrix([[1]], "tfidf")))
    with pytest.raises(ValueError, match="Unknown vectorization mode: 'odd'"):
        keras.preprocessing.text.Tokenizer(num_words=2).sequences_to_matrix([[1]], "odd")


@pytest.mark.parametrize("arguments", [
    {"length": 3}, {"length": 3, "batch_size": 2}, {"length": 4, "sampling_rate": 2, "stride": 3, "batch_size": 2},
    {"length": 2, "start_index": 3, "end_index": 8}, {"length": 2, "reverse": True}, {"length": 2, "shuffle": True},
    {"length": 30}])
def test_windows_of_a_series(arguments):
    def use(side):
        batches = side.sequence.TimeseriesGenerator(np.arange(24).reshape(12, 2), np.arange(12), **arguments)
        return [len(batches), [batches[number] for number in range(len(batches))]]
    assert_same(*both(use))


def test_series_of_other_lengths_and_kinds():
    assert_same(*both(lambda side: side.sequence.TimeseriesGenerator([1, 2], [1], 1)))
    # Genuine Keras's `to_json` ends in an AttributeError of its own.
    made = keras.preprocessing.sequence.TimeseriesGenerator(np.arange(4), [1, 2, 3, 4], 1)
    assert made.get_config()["data"] == "[0, 1, 2, 3]" and '"length": 1' in made.to_json()
    with pytest.raises(TypeError, match="Data not JSON Serializable"):
        keras.preprocessing.sequence.TimeseriesGenerator([{1}, {2}, {3}], [1, 2, 3], 1).to_json()


@pytest.mark.parametrize("arguments", [
    {}, {"window_size": 1}, {"negative_samples": 0}, {"negative_samples": 2.5}, {"categorical": True},
    {"shuffle": False}, {"seed": 5}, {"sampling_table": np.linspace(0, 1, 9)}])
def test_pairs_of_words(arguments):
    assert_same(*both(lambda side: side.sequence.skipgrams([1, 2, 0, 3, 4, 8], 9, **arguments)))
    assert_same(*both(lambda side: side.sequence.make_sampling_table(20)))


@each("name", SETTINGS)
def test_images_changed_at_random(name):
    def use(side):
        generator = side.image.ImageDataGenerator(**SETTINGS[name])
        generator.fit(IMAGES, seed=1)
        batches = generator.flow(IMAGES.copy(), LABELS, batch_size=3, seed=2, sample_weight=LABELS / 7)
        return [len(batches), [next(batches) for _ in range(4)], [batches[number] for number in range(3)]]
    assert_same(*both(use))


def test_images_with_channels_first_and_more_arrays():
    images = np.moveaxis(IMAGES, -1, 1).copy()

    def use(side):
        generator = side.image.ImageDataGenerator(data_format="channels_first", zoom_range=0.3, validation_split=0.4)
        batches = generator.flow((images, [LABELS, LABELS * 2]), LABELS, subset="training", ignore_class_split=True,
                                 shuffle=False)
        return [*batches[0][0], batches[0][1], generator.random_transform(images[0], seed=4)]
    assert_same(*both(use))


@pytest.mark.parametrize("arguments", [
    {"validation_split": 1.5}, {"zoom_range": "a"}, {"zoom_range": (1, 2, 3)}, {"brightness_range": 2},
    {"data_format": "odd"}])
def test_settings_that_mean_nothing(arguments):
    mine, theirs = both(lambda side: side.image.ImageDataGenerator(**arguments))
    assert mine[0] == theirs[0] == "ValueError"
    assert mine[1] == theirs[1]


@each("call", [
    lambda image, generator: generator.flow(IMAGES, LABELS[:3]), lambda image, generator: generator.flow(IMAGES[0]),
    lambda image, generator: generator.flow(IMAGES, LABELS, subset="odd"),
    lambda image, generator: generator.flow(IMAGES, LABELS, subset="training"),
    lambda image, generator: generator.fit(IMAGES[0]), lambda image, generator: generator.flow(IMAGES)[9],
    lambda image, generator: image.random_zoom(IMAGES[0], [1]),
    lambda image, generator: image.apply_affine_transform(IMAGES[0], 3, row_axis=0),
    lambda image, generator: image.apply_affine_transform(IMAGES[0], 3, row_axis=0, col_axis=2, channel_axis=1),
    lambda image, generator: image.apply_affine_transform(IMAGES, 3),
    lambda image, generator: generator.flow_from_directory("nowhere"),
])
def test_images_that_do_not_fit(call):
    mine, theirs = both(lambda side: call(side.image, side.image.ImageDataGenerator(validation_split=0.5)))
    assert mine[0] == theirs[0] and mine[0].endswith("Error")


def test_single_images():
    for name, arguments in (("random_rotation", (40,)), ("random_shift", (0.3, 0.2)), ("random_shear", (30,)),
                            ("random_zoom", ((0.5, 1.5),))):
        assert_same(*both(lambda side: getattr(side.image, name)(IMAGES[0], *arguments, 0, 1, 2)))
    assert_same(*both(lambda side: side.image.random_brightness(IMAGES[0], (0.5, 2))))
    assert_same(*both(lambda side: side.image.apply_brightness_shift(IMAGES[0] * 2 - 100, 0.5, False)))
    assert_same(*both(lambda side: side.image.random_channel_shift(IMAGES[0], 30.0, 2)))


@pytest.fixture
def folder(tmp_path):
    """A folder of two classes with pictures of several sizes."""
    for number, (kind, size) in enumerate([("cat", (8, 9)), ("cat", (12, 7)), ("dog", (6, 6)), ("dog", (20, 20)),
                                           ("dog", (9, 9))]):
        (tmp_path / "in" / kind).mkdir(parents=True, exist_ok=True)
        pixels = np.random.RandomState(number).uniform(0, 255, (*size, 3))
        keras.utils.save_img(tmp_path / "in" / kind / f"{number}.png", pixels)
    (tmp_path / "in" / "dog" / "notes.txt").write_text("no picture")
    return tmp_path


@pytest.mark.parametrize("arguments", [
    {}, {"class_mode": "binary"}, {"class_mode": "sparse", "color_mode": "grayscale"}, {"class_mode": "input"},
    {"class_mode": None, "color_mode": "rgba"}, {"subset": "training"}, {"subset": "validation", "shuffle": False},
    {"classes": ["dog"], "interpolation": "bilinear", "keep_aspect_ratio": True}, {"class_mode": "odd"},
    {"color_mode": "odd"}, {"subset": "odd"}])
def test_images_of_a_folder(folder, arguments):
    def use(side):
        generator = side.image.ImageDataGenerator(rotation_range=10, validation_split=0.4)
        batches = generator.flow_from_directory(str(folder / "in"), target_size=(10, 8), batch_size=2, seed=1,
                                                **arguments)
        return [batches.class_indices, batches.filenames, batches.samples, list(batches.image_shape), next(batches),
                batches[0], batches.classes]
    mine, theirs = both(use)
    assert_same(*(([found[0]] if isinstance(found, tuple) else found) for found in (mine, theirs)))


def test_changed_images_are_saved(folder):
    (folder / "out").mkdir()
    generator = keras.preprocessing.image.ImageDataGenerator()
    next(generator.flow(IMAGES, batch_size=2, save_to_dir=str(folder / "out"), save_prefix="a", save_format="jpeg"))
    assert len(list((folder / "out").glob("a_*.jpeg"))) == 2


@pytest.mark.parametrize("arguments", [
    {}, {"class_mode": "binary"}, {"class_mode": "raw", "y_col": "size"}, {"class_mode": "input"},
    {"class_mode": "multi_output", "y_col": ["size", "size"], "weight_col": "size"}, {"class_mode": None},
    {"classes": ["dog"]}, {"subset": "validation"}, {"class_mode": "multi_output"}, {"weight_col": "class"},
    {"y_col": "size"}, {"validate_filenames": False, "class_mode": None}])
def test_images_of_a_table(folder, arguments):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"filename": ["cat/0.png", "cat/1.png", "dog/2.png", "dog/9.png"],
                              "class": ["cat", "cat", "dog", "dog"], "size": [1.0, 2.0, 3.0, 4.0]})

    def use(side):
        generator = side.image.ImageDataGenerator(validation_split=0.4)
        batches = generator.flow_from_dataframe(table, str(folder / "in"), target_size=(10, 8), seed=1, **arguments)
        return [batches.filenames, batches.samples, next(batches)]
    assert_same(*both(use))


def test_networks_are_trained_on_iterators():
    generator = keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
    model = keras.Sequential([keras.Input((12, 10, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(generator.flow(IMAGES, LABELS, batch_size=4), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2 and np.isfinite(history.history["loss"]).all()
    windows = keras.preprocessing.sequence.TimeseriesGenerator(np.arange(20.0)[:, None], np.arange(20.0), 3)
    model = keras.Sequential([keras.Input((3, 1)), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert np.isfinite(model.fit(windows, verbose=0).history["loss"]).all()
