"""Pictures, files and encodings of `tf.io` as of the genuine one."""
import io

import numpy as np
import pytest
from harness import genuine

from dragon.io.pictures import jpeg_library
from dragon.vm import tensorflow as dtf
from harness.photographs import jpeg, photograph
from harness.subresults import each

PIXELS = (np.arange(12 * 10 * 3) * 7 % 256).astype(np.uint8).reshape(12, 10, 3)


def as_file(mode, kind, **options):
    """Return a picture as the bytes of a file."""
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.fromarray(PIXELS).convert(mode).save(file, kind, **options)
    return file.getvalue()


CALLS = {
    "png": lambda tf: tf.io.decode_png(as_file("RGB", "PNG")),
    "png_grey": lambda tf: tf.io.decode_png(as_file("L", "PNG")),
    "png_opacity": lambda tf: tf.io.decode_png(as_file("RGBA", "PNG")),
    "png_without_opacity": lambda tf: tf.io.decode_png(as_file("RGBA", "PNG"), channels=3),
    "png_to_colours": lambda tf: tf.io.decode_png(as_file("L", "PNG"), channels=3),
    "png_palette": lambda tf: tf.io.decode_png(as_file("P", "PNG")),
    "bmp": lambda tf: tf.io.decode_bmp(as_file("RGB", "BMP")),
    "gif": lambda tf: tf.io.decode_gif(as_file("P", "GIF")),
    "image_png": lambda tf: tf.io.decode_image(as_file("RGB", "PNG")),
    "image_float": lambda tf: tf.cast(tf.io.decode_image(as_file("RGB", "PNG"), dtype=tf.float32) * 1000, tf.int32),
    "image_gif": lambda tf: tf.io.decode_image(as_file("P", "GIF")),
    "image_gif_first": lambda tf: tf.io.decode_image(as_file("P", "GIF"), expand_animations=False),
    "encoded_png": lambda tf: tf.io.decode_png(tf.io.encode_png(PIXELS)),
    "jpeg_shape": lambda tf: tf.io.extract_jpeg_shape(as_file("RGB", "JPEG")),
    "is_jpeg": lambda tf: tf.io.is_jpeg(as_file("RGB", "PNG")),
    "raw": lambda tf: tf.io.decode_raw([b"\x01\x00\x02\x00", b"\x03\x00\x04\x01"], tf.int16),
    "raw_big": lambda tf: tf.io.decode_raw(b"\x01\x00", tf.int16, little_endian=False),
    "raw_fixed": lambda tf: tf.io.decode_raw([b"ab", b"abcde"], tf.uint8, fixed_length=4),
    "base64": lambda tf: tf.io.encode_base64(["abcd\xff", ""]),
    "base64_back": lambda tf: tf.io.decode_base64(tf.io.encode_base64(["abcd", "x"], pad=True)),
    "csv": lambda tf: tf.io.decode_csv(["1,2.5,a", "3,,\"b,c\""], [[0], [1.5], ["z"]]),
    "csv_chosen": lambda tf: tf.io.decode_csv(
        "1;2;NA", [[0], [-1]], field_delim=";", na_value="NA", select_cols=[0, 2]),
}


def plain(value):
    """Return a tensor, or several, in a form to compare."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    array = np.asarray(value.numpy())
    return value.dtype.name, list(array.shape), array.tolist()


@each("name", CALLS)
def test_call_is_as_genuine(name):
    assert plain(CALLS[name](dtf)) == plain(CALLS[name](genuine.tf))


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_jpegs_are_decoded_alike(mode):
    smooth = np.add.outer(np.arange(32), np.arange(48)).astype(np.uint8)
    file = genuine.tf.io.encode_jpeg(np.stack([smooth, smooth * 2, 255 - smooth], -1)).numpy()
    channels = 1 if mode == "L" else 3
    mine = dtf.io.decode_jpeg(file, channels=channels, dct_method="INTEGER_ACCURATE").numpy()
    theirs = genuine.tf.io.decode_jpeg(file, channels=channels, dct_method="INTEGER_ACCURATE").numpy()
    np.testing.assert_array_equal(mine, theirs)
    again = genuine.tf.io.decode_jpeg(dtf.io.encode_jpeg(theirs).numpy()).numpy()
    assert np.abs(again.astype(int) - theirs.astype(int)).mean() < 3


JPEGS = {
    "colours": {}, "all_colours": {"subsampling": "4:4:4"}, "half_colours": {"subsampling": "4:2:2"},
    "progressive": {"progressive": True}, "grey": None}
WAYS = {
    "usual": lambda tf, data: tf.io.decode_jpeg(data),
    "grey": lambda tf, data: tf.io.decode_jpeg(data, channels=1),
    "of_three": lambda tf, data: tf.io.decode_jpeg(data, channels=3),
    "half": lambda tf, data: tf.io.decode_jpeg(data, ratio=2),
    "eighth": lambda tf, data: tf.io.decode_jpeg(data, ratio=8),
    "plain": lambda tf, data: tf.io.decode_jpeg(data, fancy_upscaling=False),
    "exact": lambda tf, data: tf.io.decode_jpeg(data, dct_method="INTEGER_ACCURATE"),
    "window": lambda tf, data: tf.io.decode_and_crop_jpeg(data, [5, 17, 20, 29]),
    "corner": lambda tf, data: tf.io.decode_and_crop_jpeg(data, [0, 0, 10, 10], channels=3),
    "last": lambda tf, data: tf.io.decode_and_crop_jpeg(data, [44, 66, 1, 1]),
    "half_window": lambda tf, data: tf.io.decode_and_crop_jpeg(data, [3, 4, 20, 30], ratio=2),
    "image": lambda tf, data: tf.io.decode_image(data),
    "enough": lambda tf, data: tf.io.decode_jpeg(data[:-len(data) // 5], acceptable_fraction=0.3),
}


@pytest.mark.skipif(jpeg_library() is None, reason="Pillow's transform is the exact one")
@each("way", WAYS)
@each("kind", JPEGS)
def test_jpegs_are_decoded_to_the_same_bits(kind, way):
    pixels = photograph(45, 67)
    data = jpeg(pixels[:, :, 0]) if kind == "grey" else jpeg(pixels, **JPEGS[kind])
    if way == "enough" and kind == "progressive":
        pytest.skip("all of it is read before the first row is")
    assert plain(WAYS[way](dtf, data)) == plain(WAYS[way](genuine.tf, data))


@each("call", [
    lambda tf, data: tf.io.decode_jpeg(data, channels=4),
    lambda tf, data: tf.io.decode_jpeg(data[:-200]),
    lambda tf, data: tf.io.decode_jpeg(data[:-200], acceptable_fraction=0.99),
    lambda tf, data: tf.io.decode_image(data[:-200]),
    lambda tf, data: tf.io.extract_jpeg_shape(data[:50]),
    lambda tf, data: tf.io.extract_jpeg_shape(b"\x89PNG" + data),
    lambda tf, data: tf.io.decode_and_crop_jpeg(data, [40, 4, 10, 10]),
    lambda tf, data: tf.io.decode_and_crop_jpeg(data, [0, 4, 0, 10]),
    lambda tf, data: tf.io.decode_and_crop_jpeg(data, [-1, 4, 3, 10]),
])
def test_broken_jpegs_are_refused_alike(call):
    data = jpeg(photograph(45, 67))
    with pytest.raises(genuine.tf.errors.InvalidArgumentError):
        call(genuine.tf, data)
    with pytest.raises(dtf.errors.InvalidArgumentError, match="JPEG"):
        call(dtf, data)


def test_what_is_cut_off_is_recovered():
    data = jpeg(photograph(45, 67))
    assert dtf.io.decode_jpeg(data[:-200], try_recover_truncated=True).shape == (45, 67, 3)
    np.testing.assert_array_equal(dtf.io.decode_jpeg(data[:-2], try_recover_truncated=True).numpy(),
                                  dtf.io.decode_jpeg(data).numpy())


@each("call", [
    lambda tf: tf.io.decode_png(b"no picture"),
    lambda tf: tf.io.decode_raw([b"a", b"bc"], tf.uint8),
    lambda tf: tf.io.decode_raw(b"abc", tf.int16),
    lambda tf: tf.io.decode_csv("1,2", [[0]]),
    lambda tf: tf.io.decode_csv("x", [[0]]),
    lambda tf: tf.io.decode_csv("", [tf.constant([], tf.int32)]),
    lambda tf: tf.io.parse_tensor(b"\xff\xff", tf.int32),
    lambda tf: tf.io.read_file("absent"),
    lambda tf: tf.io.gfile.listdir("absent"),
    lambda tf: tf.io.gfile.GFile("absent").read(),
])
def test_bad_input_raises(call):
    with pytest.raises(genuine.tf.errors.OpError) as theirs:
        call(genuine.tf)
    with pytest.raises(dtf.errors.OpError) as mine:
        call(dtf)
    assert mine.type.__name__ == theirs.type.__name__


def test_files(tmp_path):
    for number, tf in enumerate((dtf, genuine.tf)):
        folder = str(tmp_path / str(number))
        tf.io.write_file(folder + "/new/a.txt", "hello\nyou")
        assert tf.io.read_file(folder + "/new/a.txt").numpy() == b"hello\nyou"
        found = tf.io.matching_files(folder + "/*/*.txt").numpy()
        assert [name.decode()[len(folder):] for name in found] == ["/new/a.txt"]
        gfile = tf.io.gfile
        with gfile.GFile(folder + "/b.txt", "w") as file:
            file.write("one\n")
            file.write("two\n")
        assert list(gfile.GFile(folder + "/b.txt")) == ["one\n", "two\n"]
        assert gfile.GFile(folder + "/b.txt", "rb").read(3) == b"one"
        gfile.copy(folder + "/b.txt", folder + "/c.txt")
        with pytest.raises(tf.errors.AlreadyExistsError):
            gfile.copy(folder + "/b.txt", folder + "/c.txt")
        gfile.rename(folder + "/c.txt", folder + "/d.txt")
        assert sorted(gfile.listdir(folder)) == ["b.txt", "d.txt", "new"]
        assert gfile.exists(folder + "/d.txt") and not gfile.exists(folder + "/c.txt")
        assert gfile.isdir(folder + "/new") and gfile.stat(folder + "/b.txt").length == 8
        assert gfile.glob(folder + "/*.txt") == [folder + "/b.txt", folder + "/d.txt"]
        gfile.remove(folder + "/d.txt")
        gfile.makedirs(folder + "/x/y")
        gfile.rmtree(folder + "/x")
        assert [sorted(part[2]) for part in gfile.walk(folder)] == [["b.txt"], ["a.txt"]]
