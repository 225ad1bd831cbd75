"""The default transform of pictures: one sample, a batch, and what is no picture."""
import pickle

import numpy as np
import pytest

from dragon.io.errors import DataError
from dragon.io.pictures import encode, ImageClassification, make_batch, random_resized_crop, resized_center_crop
from harness.photographs import Draws, jpeg, photograph

pytest.importorskip("PIL")


@pytest.fixture(scope="module")
def samples():
    return [(jpeg(photograph(60 + 9 * index, 80, index)), index) for index in range(6)]


def test_a_batch_is_its_samples(samples):
    transform = ImageClassification(32, colours=(0.4, 0.4, 0.4, 0.1))
    images, labels = transform.batch(samples, [Draws(index) for index in range(6)])
    assert images.shape == (6, 3, 32, 32) and images.dtype == np.float32 and labels.tolist() == list(range(6))
    for index, sample in enumerate(samples):
        image, label = transform(sample, Draws(index))
        np.testing.assert_array_equal(image, images[index])
        assert label == index


def test_training_takes_random_regions(samples):
    images, _ = ImageClassification(32, flip=0, scale=(0.3, 0.6)).batch(samples, [Draws(index) for index in range(6)])
    regions = [random_resized_crop((60 + 9 * index, 80), Draws(index), (0.3, 0.6)) for index in range(6)]
    expected, _ = make_batch([data for data, _ in samples], 32, regions, mean=(0.485, 0.456, 0.406),
                             std=(0.229, 0.224, 0.225))
    np.testing.assert_array_equal(images, expected)
    mirrored, _ = ImageClassification(32, flip=1, scale=(0.3, 0.6)).batch(samples, [Draws(index) for index in range(6)])
    np.testing.assert_array_equal(mirrored, images[..., ::-1])


def test_otherwise_the_middle_is_taken(samples):
    images, _ = ImageClassification(28, train=False, mean=None, std=None).batch(samples, [None] * 6)
    ways = [resized_center_crop((60 + 9 * index, 80), 28, 32) for index in range(6)]
    np.testing.assert_array_equal(images, make_batch([data for data, _ in samples], 28, ways)[0])


def test_memory_is_allocated_by_who_is_asked(samples):
    asked = []

    def allocate(nbytes):
        asked.append(memoryview(bytearray(nbytes + 5)))
        return asked[-1]
    images, _ = ImageClassification(16, dtype="float16", layout="NHWC").batch(samples, [Draws(0)] * 6, allocate)
    assert np.shares_memory(images, np.frombuffer(asked[0], np.uint8)) and images.shape == (6, 16, 16, 3)
    assert len(asked) == 1 and asked[0].nbytes == 6 * 16 * 16 * 3 * 2 + 5


def test_samples_keep_their_form(samples):
    data = samples[0][0]
    transform = ImageClassification(8, train=False, dtype="uint8", picture="image")
    assert transform({"image": data, "text": "a"})["text"] == "a"
    batch = transform.batch([{"image": data, "text": word, "box": np.ones(4)} for word in "ab"], [None] * 2)
    assert batch["image"].shape == (2, 3, 8, 8) and batch["text"] == ["a", "b"] and batch["box"].shape == (2, 4)
    last = ImageClassification(8, train=False, dtype="uint8", picture=-1)
    assert last.batch([[3, data]], [None])[1].shape == (1, 3, 8, 8)
    assert ImageClassification(8, train=False).batch([data, photograph(9, 9)], [None] * 2).shape == (2, 3, 8, 8)
    ragged = transform.batch([{"image": data, "box": np.ones(count)} for count in (1, 2)], [None] * 2)["box"]
    assert [box.shape for box in ragged] == [(1,), (2,)]


def test_texts_and_sounds_pass():
    transform = ImageClassification(8)
    sound = b"RIFF\x24\0\0\0WAVEfmt " + bytes(40)
    for sample in (("a text", 1), (sound, 2), (np.zeros(100, np.float32), 3), (np.zeros((5, 5, 3)), 4)):
        assert transform(sample, Draws(0)) is sample
    assert transform.batch([("a", 1), ("b", 2)], [None] * 2) == [("a", 1), ("b", 2)]


def test_formats_and_sides(samples):
    pixels = photograph(40, 60)
    tiff = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
    turned = jpeg(pixels, exif=b"Exif\0\0" + tiff)
    transform = ImageClassification(24, train=False, dtype="uint8", upright=True)
    image = transform(turned)
    upright = transform(np.ascontiguousarray(np.rot90(np.asarray(transform_pixels(turned)), -1)))
    np.testing.assert_array_equal(image, upright)
    np.testing.assert_array_equal(transform(encode(pixels, "PNG")), transform(pixels))


def transform_pixels(data):
    from dragon.io.pictures import decode
    return decode(data)


def test_broken_pictures_are_named(samples):
    transform = ImageClassification(16)
    broken = list(samples)
    broken[1], broken[4] = (samples[1][0][:100], 1), (samples[4][0][:600], 4)
    with pytest.raises(DataError, match="sample 1: .*truncated") as caught:
        transform.batch(broken, [Draws(0)] * 6)
    assert 1 in caught.value.places
    broken[1] = samples[1]
    with pytest.raises(DataError, match="sample 4: .*truncated") as caught:
        transform.batch(broken, [Draws(0)] * 6)
    assert caught.value.places == [4]
    for odd, words in ((b"no picture", "b'no pictu'"), ("text", "str"), (np.zeros((2, 2, 3)), "float64 of shape")):
        with pytest.raises(DataError, match=f"sample 2: picture: got .*{words}") as caught:
            transform.batch([*samples[:2], (odd, 2)], [Draws(0)] * 3)
        assert caught.value.places == [2]
    with pytest.raises(ValueError, match="no draws"):
        transform(samples[0])
    with pytest.raises(DataError, match="0 x 5"):
        transform(np.zeros((0, 5, 3), np.uint8), Draws(0))


def test_it_is_pickled(samples):
    transform = ImageClassification((16, 20), scale=(0.5, 1.0), filter="bicubic", layout="NHWC", fast=True)
    again = pickle.loads(pickle.dumps(transform))
    np.testing.assert_array_equal(again(samples[0], Draws(1))[0], transform(samples[0], Draws(1))[0])


@pytest.mark.parametrize("name", ["image", "jpg", "png"])
def test_pictures_are_found_under_the_names_that_sources_give(name):
    sample = {"label": 3, name: np.full((9, 8, 3), 7, np.uint8)}
    transform = ImageClassification(4, train=False, dtype="uint8")
    assert transform(sample)[name].shape == (3, 4, 4)
    assert transform.batch([sample] * 2, [None] * 2)[name].shape == (2, 3, 4, 4)
    with pytest.raises(KeyError, match="got a sample of .'label', 'photo'., expected one of"):
        transform({"label": 3, "photo": sample[name]})
    assert ImageClassification(4, train=False, picture="photo")({"photo": sample[name]})["photo"].shape == (3, 4, 4)
