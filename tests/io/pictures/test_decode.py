"""Pixels of JPEG files are Pillow's to the bit, whole or in part; what is wrong with a file is said."""
import io
import pickle
import struct
import zlib

import numpy as np
import pytest

from dragon import _C
from dragon.io.errors import DataError
from dragon.io.pictures import decode, encode, jpeg_library, kind_of, read_size, turn_upright
from dragon.io.pictures import files, library
from harness.photographs import jpeg, photograph, pillow_pixels
from harness.subresults import each

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
SIZES = [(67, 101), (33, 17), (16, 16), (8, 8), (1, 1), (5, 3), (120, 160)]

needs_library = pytest.mark.skipif(jpeg_library() is None, reason="no libjpeg is found")


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("progressive", [False, True])
def test_whole_pictures_and_regions_are_those_of_pillow(subsampling, progressive):
    draw = np.random.default_rng(0)
    for height, width in SIZES:
        data = jpeg(photograph(height, width), subsampling=subsampling, progressive=progressive)
        expected = pillow_pixels(data)
        np.testing.assert_array_equal(decode(data), expected)
        for _ in range(25):
            rows, columns = int(draw.integers(1, height + 1)), int(draw.integers(1, width + 1))
            top, left = int(draw.integers(height - rows + 1)), int(draw.integers(width - columns + 1))
            np.testing.assert_array_equal(decode(data, (top, left, rows, columns)),
                                          expected[top:top + rows, left:left + columns])


def test_channels():
    data = jpeg(photograph(40, 50))
    grey = Image.open(io.BytesIO(data))
    grey.draft("L", grey.size)
    np.testing.assert_array_equal(decode(data, channels=1)[:, :, 0], np.asarray(grey))
    four = decode(data, channels=4)
    np.testing.assert_array_equal(four[:, :, :3], pillow_pixels(data))
    assert (four[:, :, 3] == 255).all()
    of_grey = jpeg(photograph(40, 50)[:, :, 0])
    assert decode(of_grey, channels=0).shape == (40, 50, 1) and decode(data, channels=0).shape == (40, 50, 3)
    np.testing.assert_array_equal(decode(of_grey), pillow_pixels(of_grey, "RGB"))
    with pytest.raises(ValueError, match="channels=2"):
        decode(data, channels=2)


def test_inks_become_colours():
    inks = np.concatenate((photograph(30, 40), photograph(30, 40, 1)[:, :, :1]), 2)
    data = jpeg(inks, "CMYK")
    np.testing.assert_array_equal(decode(data), pillow_pixels(data, "RGB"))
    np.testing.assert_array_equal(decode(data, channels=1)[:, :, 0],
                                  np.asarray(Image.fromarray(pillow_pixels(data, "RGB")).convert("L")))
    np.testing.assert_array_equal(decode(data, (3, 4, 5, 6)), pillow_pixels(data, "RGB")[3:8, 4:10])
    assert (decode(data, channels=4)[:, :, 3] == 255).all()


@needs_library
@pytest.mark.parametrize("is_adobe", [True, False])
def test_shares_of_ink_are_cut_as_tensorflow_does(is_adobe):
    """Of files without Adobe's segment 255 is all of an ink there, and none of it to Pillow."""
    data = jpeg(np.concatenate((photograph(30, 40), photograph(30, 40, 1)[:, :, :1]), 2), "CMYK")
    if not is_adobe:
        place = data.index(b"\xff\xee")
        data = data[:place] + data[place + 2 + int.from_bytes(data[place + 2:place + 4], "big"):]
    light = np.asarray(Image.open(io.BytesIO(data))).astype(int) ^ (255 if is_adobe else 0)
    np.testing.assert_array_equal(decode(data, cut_inks=True), light[:, :, :3] * light[:, :, 3:] // 255)
    np.testing.assert_array_equal(decode(data), pillow_pixels(data, "RGB"))


@each("orientation", range(1, 9))
@each("order", ["<", ">"])
def test_pictures_are_turned_upright(orientation, order):
    mark = b"II" if order == "<" else b"MM"
    tiff = mark + struct.pack(f"{order}HIH", 42, 8, 1) + struct.pack(f"{order}HHIHHI", 0x0112, 3, 1, orientation, 0, 0)
    data = jpeg(photograph(20, 30), exif=b"Exif\0\0" + tiff)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    np.testing.assert_array_equal(decode(data, upright=True), expected)
    np.testing.assert_array_equal(decode(data, (2, 3, 10, 12), upright=True), expected[2:12, 3:15])
    np.testing.assert_array_equal(decode(data), pillow_pixels(data))
    np.testing.assert_array_equal(turn_upright(decode(data), orientation), expected)


@pytest.mark.parametrize("shrink", [2, 4, 8])
def test_shrunken_pictures_are_the_drafts_of_pillow(shrink):
    data = jpeg(photograph(123, 157))
    draft = Image.open(io.BytesIO(data))
    draft.draft("RGB", (157 // shrink, 123 // shrink))
    expected = np.asarray(draft)
    np.testing.assert_array_equal(decode(data, shrink=shrink), expected)
    region = decode(data, (17, 33, 60, 81), shrink=shrink)
    assert region.shape == (-(-77 // shrink) - 17 // shrink, -(-114 // shrink) - 33 // shrink, 3)
    top, left = 17 // shrink, 33 // shrink
    np.testing.assert_array_equal(region, expected[top:top + region.shape[0], left:left + region.shape[1]])


def test_plain_colours_and_quick_transforms_differ_a_little():
    data = jpeg(photograph(60, 80))
    exact = decode(data).astype(int)
    assert 0 < np.abs(decode(data, quick=True) - exact).max() <= 12
    assert 0 < np.abs(decode(data, fancy=False) - exact).mean() < 12


@needs_library
def test_a_region_by_itself_sees_nothing_around():
    data = jpeg(photograph(60, 80), subsampling="4:2:0")
    region = 8, 16, 20, 23
    alone, within = decode(data, region, around=False).astype(int), decode(data, region).astype(int)
    np.testing.assert_array_equal(alone[:, 1:-1], within[:, 1:-1])
    assert (alone[:, [0, -1]] != within[:, [0, -1]]).any()


@needs_library
@pytest.mark.parametrize("progressive", [False, True])
def test_what_is_cut_off_may_be_read_as_far_as_it_goes(progressive):
    data = jpeg(photograph(120, 160), progressive=progressive, quality=95)
    cut, whole = decode(data[:len(data) * 2 // 3], recover=True), decode(data)
    assert cut.shape == whole.shape
    if not progressive:
        np.testing.assert_array_equal(cut[:16], whole[:16])
    np.testing.assert_array_equal(decode(data[:-2], recover=True), whole)
    with pytest.raises(DataError):
        decode(data[:60], recover=True)  # no more than a part of the head
    if not progressive:
        part = decode(data[:len(data) * 2 // 3], enough=0.3)
        rows = part.any((1, 2)).sum()
        assert 36 <= rows < 120 and not part[rows:].any()
        np.testing.assert_array_equal(part[:rows], whole[:rows])
        with pytest.raises(DataError, match="truncated"):
            decode(data[:len(data) * 2 // 3], enough=0.9)
    with pytest.raises(DataError, match="truncated"):
        decode(data[:len(data) * 2 // 3])


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "WEBP", "TIFF"])
def test_other_formats_are_read_by_pillow(kind):
    pixels = photograph(21, 34)
    data = encode(pixels, kind)
    expected = pillow_pixels(data, "RGB")
    assert read_size(data) == (21, 34)
    np.testing.assert_array_equal(decode(data), expected)
    np.testing.assert_array_equal(decode(data, (4, 5, 6, 7)), expected[4:10, 5:12])
    with pytest.raises(DataError, match="shrink"):
        decode(data, shrink=2)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"quality": 50, "exact": True}])
@pytest.mark.parametrize("channels", [3, 4])
def test_sizes_of_every_kind_of_webp(options, channels):
    pixels = np.concatenate((photograph(21, 34), photograph(21, 34, 1)), 2)[:, :, :channels]
    assert read_size(encode(pixels, "WEBP", **options)) == (21, 34)


def test_files_are_written_and_read_again():
    pixels = photograph(20, 30)
    np.testing.assert_array_equal(decode(encode(pixels, "PNG")), pixels)
    np.testing.assert_array_equal(decode(encode(pixels[:, :, 0], "PNG"), channels=0)[:, :, 0], pixels[:, :, 0])
    assert kind_of(encode(pixels, quality=50)) == "JPEG"
    with pytest.raises(ValueError, match="float32"):
        encode(pixels.astype("float32"))
    with pytest.raises(ValueError, match=r"\(20, 30, 2\)"):
        encode(pixels[:, :, :2])
    with pytest.raises(ValueError, match="4 channels"):
        encode(np.zeros((2, 2, 4), np.uint8), "JPEG")


def test_deep_and_paletted_pictures():
    deep = (np.arange(600).reshape(20, 30) * 100).astype(np.uint16)
    file = io.BytesIO()
    Image.fromarray(deep).save(file, "PNG")
    np.testing.assert_array_equal(decode(file.getvalue(), channels=1)[:, :, 0], deep >> 8)
    file = io.BytesIO()
    paletted = Image.fromarray(photograph(20, 30)).quantize(16)
    paletted.save(file, "PNG")
    np.testing.assert_array_equal(decode(file.getvalue()), np.asarray(paletted.convert("RGB")))


def test_bytes_of_any_kind_are_taken():
    data = jpeg(photograph(20, 30))
    for given in (bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        np.testing.assert_array_equal(decode(given), pillow_pixels(data))
        assert read_size(given) == (20, 30)


def lying(width, height, data=None):
    """Return a JPEG file whose head tells another size."""
    data = bytearray(data or jpeg(photograph(16, 16)))
    place = data.index(b"\xff\xc0")
    data[place + 5:place + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def test_a_file_that_is_cut_off_anywhere_is_refused():
    for options in ({}, {"progressive": True}, {"restart_marker_blocks": 2}):
        data = jpeg(photograph(24, 24), **options)
        for length in range(len(data) - 2):
            with pytest.raises((DataError, ValueError)):
                decode(data[:length])


@needs_library
def test_too_large_pictures_are_refused_before_memory_is_taken():
    with pytest.raises(DataError, match="60000 x 60000 pixels, expected at most 178956970"):
        decode(lying(60000, 60000))
    with pytest.raises(DataError, match="101 x 10 pixels, expected at most 1000"):
        decode(jpeg(photograph(10, 101)), most_pixels=1000)
    with pytest.raises(ValueError, match="60000 x 60000"):
        jpeg_library().decode(lying(60000, 60000), bytearray(3))
    chunk = b"IHDR" + struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    with pytest.raises(DataError, match="60000 x 60000 pixels|Pillow"):
        decode(bomb)


def test_sizes_that_lie():
    few = jpeg(photograph(16, 16), progressive=True)
    with pytest.raises(DataError, match="truncated bytes: [0-9]+ of them for 9000 x 9000 pixels|Pillow"):
        decode(few.replace(struct.pack(">HH", 16, 16), struct.pack(">HH", 9000, 9000), 1))
    solid = jpeg(np.zeros((3000, 3000, 3), np.uint8), optimize=True, quality=1)  # as few bytes as there can be
    assert (decode(solid, (2000, 2000, 10, 10)) == 1).all() and len(solid) < 70000
    with pytest.raises(DataError, match="truncated|size"):
        decode(lying(0, 16))
    with pytest.raises(DataError):
        decode(lying(16, 0))
    wide = decode(jpeg(np.zeros((2, 65500, 3), np.uint8)), (0, 65000, 2, 400))
    assert wide.shape == (2, 400, 3)


@needs_library
def test_what_is_not_decoded_says_so():
    data = bytearray(jpeg(photograph(16, 16)))
    data[data.index(b"\xff\xc0") + 4] = 12
    with pytest.raises(DataError, match="samples of 12 bits, expected 8 bits"):
        decode(bytes(data))
    data = bytearray(jpeg(photograph(16, 16)))
    data[data.index(b"\xff\xc0") + 1] = 0xcb  # lossless and arithmetic, which nobody writes
    with pytest.raises(DataError, match="JPEG"):
        decode(bytes(data))
    data = jpeg(photograph(16, 16), progressive=True)
    with pytest.raises(ValueError, match="more scans than a progressive file may have"):
        jpeg_library().decode(data, bytearray(16 * 16 * 3), most_scans=1)
    with pytest.raises(ValueError, match="JPEG: "):
        jpeg_library().decode(jpeg(photograph(600, 600), progressive=True), bytearray(600 * 600 * 3),
                              most_memory=200000)


def test_wrong_calls():
    data = jpeg(photograph(16, 16))
    for region in ((0, 0, 17, 4), (-1, 0, 4, 4), (0, 0, 0, 4), (2**31, 0, 1, 1)):
        with pytest.raises(ValueError, match="region"):
            decode(data, region)
    with pytest.raises(ValueError, match="shrink=3"):
        decode(data, shrink=3)
    with pytest.raises(DataError, match="Pillow does not read"):
        decode(b"no picture at all")
    for broken in (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n\0", b"GIF89a", data[:30]):
        with pytest.raises(DataError):
            read_size(broken)
    if jpeg_library() is not None:
        with pytest.raises(ValueError, match="5 bytes to write to, expected 16 x 16 pixels"):
            jpeg_library().decode(data, bytearray(5))
        with pytest.raises(BufferError):
            jpeg_library().decode(data, bytes(16 * 16 * 3))
    error = pickle.loads(pickle.dumps(DataError("decode: words", "a.jpg", 3)))
    assert (str(error), error.path, error.offset) == ("decode: words (byte 3 of a.jpg)", "a.jpg", 3)


def test_libraries_of_all_layouts_give_the_same_pixels():
    data, found = jpeg(photograph(45, 67)), set()
    for path in library.list_candidates():
        try:
            made = _C.JpegLibrary(path)
        except RuntimeError:
            continue
        found.add(made.version)
        out = np.empty((45, 67, 3), np.uint8)
        made.decode(data, out)
        assert np.abs(out.astype(int) - pillow_pixels(data)).max() <= 1
        four = np.empty((20, 30, 4), np.uint8)
        made.decode(data, four, 4, (10, 20, 20, 30))
        np.testing.assert_array_equal(four[:, :, :3], out[10:30, 20:50])
    assert found <= {62, 80}


def test_what_is_no_libjpeg_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="could not be loaded"):
        _C.JpegLibrary(str(tmp_path / "libjpeg.so.62"))
    with pytest.raises(RuntimeError, match="functions of it are missing"):
        _C.JpegLibrary("libc.so.6")


def test_pillow_decodes_where_there_is_no_library(monkeypatch):
    data = jpeg(photograph(45, 67))
    whole, part, small = decode(data), decode(data, (4, 5, 20, 30)), decode(data, shrink=2)
    monkeypatch.setattr(files, "jpeg_library", lambda: None)
    np.testing.assert_array_equal(decode(data), whole)
    np.testing.assert_array_equal(decode(data, (4, 5, 20, 30)), part)
    np.testing.assert_array_equal(decode(data, shrink=2), small)
    with pytest.raises(DataError):
        decode(data[:-40])
    for options in ({"fancy": False}, {"quick": True}, {"recover": True}, {"enough": 0.5}):
        with pytest.raises(NotImplementedError, match="no libjpeg"):
            decode(data, **options)
