"""Pictures whose pixels wait, beside Pillow's own: the same bytes, the same errors, whatever is done with them."""
import copy
import io
import pickle
import random

import numpy as np
import pytest
from dragon.vm import torch, torchvision
from dragon.vm.torchvision import transforms as v1
from dragon.vm.torchvision._postponed import FILTERS, Postponed, open_picture, resize, waiting
from dragon.vm.torchvision.transforms import v2
from PIL import Image, ImageDraw, ImageFile, ImageOps
from harness.subresults import each

FLIP, UPSIDE_DOWN = Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM
KINDS = [dict(subsampling=0), dict(subsampling=1), dict(subsampling=2), dict(subsampling=2, progressive=True),
         dict(subsampling=2, restart_marker_rows=1), dict(subsampling=0, quality=100), dict(mode="L"),
         dict(mode="L", progressive=True), dict(mode="CMYK"), dict(keep_rgb=True, subsampling=0)]


def made_file(height=75, width=101, mode="RGB", seed=0, **options):
    """Return a JPEG file's bytes: smooth colours with noise."""
    chance = np.random.default_rng(seed)
    small = chance.integers(0, 256, (5, 6, 3), np.uint8)
    picture = np.asarray(Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)).astype(int)
    picture = (picture + chance.integers(-9, 9, picture.shape)).clip(0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(picture).convert(mode).save(file, "JPEG", **{"quality": 90, **options})
    return file.getvalue()


def lying():
    """Return what a camera writes that lay on its side."""
    exif = Image.Exif()
    exif[0x112] = 6
    return exif.tobytes()


def by_pillow(data):
    """Return what genuine torchvision's loader returns."""
    return Image.open(io.BytesIO(data)).convert("RGB")


EXIF_BYTES = lying()
EXIF = made_file(exif=EXIF_BYTES, dpi=(72, 72), comment=b"a word")


def assert_same(picture, expected):
    """Hold everything that can be seen of a picture beside another."""
    assert (picture.size, picture.mode, picture.info) == (expected.size, expected.mode, expected.info)
    assert picture.tobytes() == expected.tobytes()
    assert type(picture) is type(expected) is Image.Image


def random_steps(chance):
    """Return steps that change a picture, of which most can wait."""
    def part(picture):
        width, height = chance.randint(1, picture.width), chance.randint(1, picture.height)
        left, top = chance.randint(0, picture.width - width), chance.randint(0, picture.height - height)
        return picture.crop((left, top, left + width, top + height))
    size, filter = (chance.randint(1, 130), chance.randint(1, 90)), chance.choice(list(FILTERS))
    every = [part, part, lambda picture: picture.resize(size, filter), lambda picture: picture.transpose(FLIP),
             lambda picture: picture.transpose(UPSIDE_DOWN), lambda picture: picture.copy(),
             lambda picture: picture.convert("RGB"), lambda picture: picture.rotate(90, expand=True)]
    return chance.choices(every, weights=[3, 3, 5, 3, 3, 1, 1, 1], k=chance.randint(0, 5))


@each("options", KINDS, ids=str)
def test_any_steps_give_pillows_bytes(options):
    data, chance = made_file(**options), random.Random(str(options))
    waiting = type(open_picture(data)) is Postponed
    assert waiting == (options.get("mode") != "CMYK")
    for trial in range(60):
        steps, way = random_steps(chance), chance.randrange(4)
        found, expected = open_picture(data), by_pillow(data)
        place = chance.getstate()
        for step in steps:
            found = step(found)
        chance.setstate(place)
        for step in steps:
            expected = step(expected)
        if way == 0:
            planes = v2.functional.pil_to_tensor(found).numpy()
            np.testing.assert_array_equal(planes, np.asarray(expected).transpose(2, 0, 1))
        elif way == 1:
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        assert_same(found, expected)


@each("look", [
    lambda picture: picture.getpixel((3, 5)), lambda picture: repr(picture).split(" at ")[0],
    lambda picture: pickle.loads(pickle.dumps(picture)).tobytes(), lambda picture: copy.deepcopy(picture).tobytes(),
    lambda picture: np.array(picture.convert("L")).tolist(), lambda picture: picture.getbbox(),
    lambda picture: ImageOps.exif_transpose(picture).tobytes(), lambda picture: picture.crop().tobytes(),
    lambda picture: picture.resize((9, 8), box=(1, 2, 9, 7)).tobytes(),
    lambda picture: picture.resize((20, 10), reducing_gap=2.0).tobytes(),
    lambda picture: picture.crop((-3, 2, 130, 40)).tobytes(),
    lambda picture: picture.crop((1.4, 2.6, 30.5, 40)).tobytes(),
    lambda picture: picture.resize(np.array([20, 30])).tobytes(), lambda picture: picture.getexif()[0x112],
    lambda picture: [view.tobytes() for view in v1.FiveCrop(20)(picture)], lambda picture: picture.readonly,
    lambda picture: picture == by_pillow(EXIF), lambda picture: by_pillow(EXIF) == picture,
    lambda picture: picture == open_picture(EXIF), lambda picture: np.asarray(picture).flags.writeable,
    lambda picture: np.array(picture).flags.writeable, lambda picture: picture.__array_interface__["shape"],
    lambda picture: (picture.format, picture.palette, picture.getbands(), picture.has_transparency_data)])
def test_whoever_looks_sees_an_ordinary_picture(look):
    picture = open_picture(EXIF)
    assert type(picture) is Postponed and isinstance(picture, Image.Image)
    assert look(picture) == look(by_pillow(EXIF))


def test_what_is_drawn_stays():
    found, expected = (kind(EXIF) for kind in (open_picture, by_pillow))
    for picture in (found, expected):
        ImageDraw.Draw(picture).line((0, 0, 50, 40), fill=(255, 0, 0), width=3)
        picture.putpixel((7, 7), (1, 2, 3))
        picture.paste((9, 9, 9), (20, 20, 30, 30))
    assert_same(found, expected)


@each("call", [
    lambda picture: picture.crop((5, 5, 2, 9)), lambda picture: picture.resize((0, 5)),
    lambda picture: picture.resize((5, -5)), lambda picture: picture.resize((5, 5), 77),
    lambda picture: picture.resize((5, 5), box=(0, 0, 900, 5)), lambda picture: picture.crop("abcd"),
    lambda picture: picture.resize((5, 5), reducing_gap=0.5), lambda picture: picture.transpose(77),
    lambda picture: picture.convert("no mode"), lambda picture: picture.close() or picture.load()])
def test_mistakes_are_told_in_pillows_words(call):
    told = []
    for picture in (open_picture(EXIF), by_pillow(EXIF)):
        with pytest.raises(Exception) as caught:
            result = call(picture)
            raise AssertionError(f"no error, but {result}")
        told.append((caught.type, str(caught.value)))
    assert told[0] == told[1]


def broken_files():
    """Yield what is no whole JPEG file."""
    data = made_file()
    start = data.index(b"\xff\xda") + 14
    yield data[:len(data) // 2]
    yield data[:len(data) // 2] + b"\xff\xd9"
    yield data[:-2]
    yield data[:start]
    yield data[:start] + bytes(300) + data[start + 300:]
    yield data + b"behind the end" * 20
    yield data + bytes(7)
    yield data.replace(b"\xff\xc4", b"\xff\xc3", 1)
    yield data[:30] + b"\xff\xd9"
    yield b""
    progressive = made_file(progressive=True)
    yield progressive[:len(progressive) // 2] + b"\xff\xd9"
    table = progressive.index(b"\xff\xc4", progressive.index(b"\xff\xda"))
    yield progressive[:table + 5] + b"\xff" * 16 + progressive[table + 21:]  # codes of Huffman's that cannot be
    for seed in range(200):
        spoilt = bytearray(data)
        for place in random.Random(seed).choices(range(2, len(data) - 2), k=3):
            spoilt[place] ^= 0x55
        yield bytes(spoilt)


@pytest.mark.parametrize("is_lenient", (False, True))
@pytest.mark.parametrize("part", ((0, 0, 101, 75), (3, 4, 40, 12), (3, 50, 90, 75)))
def test_broken_files_are_what_they_are_to_pillow(is_lenient, part, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", is_lenient)
    ends = set()
    for data in broken_files():
        told = []
        for kind in (open_picture, by_pillow):
            try:
                told.append(np.asarray(kind(data).crop(part)).tobytes())
            except Exception as error:
                told.append((type(error), str(error).split("0x")[0]))
        assert told[0] == told[1]
        ends.add(type(told[0]))
    assert ends == {bytes, tuple}


def test_another_who_comes_finds_all_pixels_there():
    picture = open_picture(EXIF)
    first = picture.crop((1, 2, 30, 40))
    assert type(picture) is Postponed
    second = picture.crop((1, 2, 30, 40))
    assert type(picture) is Image.Image  # decoded once, and never again
    assert first.tobytes() == second.tobytes()


def test_without_a_library_or_for_other_formats_pillow_reads(monkeypatch):
    file = io.BytesIO()
    by_pillow(EXIF).save(file, "PNG")
    assert type(open_picture(file.getvalue())) is Image.Image
    monkeypatch.setattr("dragon.io.pictures.library.jpeg_library", lambda: None)
    assert_same(open_picture(EXIF), by_pillow(EXIF))


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_opened_pictures_are_read_as_transforms_want_them(options, tmp_path):
    data = made_file(exif=EXIF_BYTES, **options)
    (tmp_path / "picture.jpg").write_bytes(data)
    opened = Image.open(tmp_path / "picture.jpg")
    assert (type(waiting(opened)) is Postponed) == (opened.mode in ("RGB", "L"))
    with Image.open(tmp_path / "picture.jpg") as picture:
        v1.CenterCrop(20)(picture).info["a word"] = "of the part alone"
        assert "a word" not in picture.info
    assert waiting(opened) is opened  # once: who comes again has all of it decoded
    for steps in ([v2.RandomResizedCrop(40), v2.RandomHorizontalFlip(), v2.ToImage()], [v1.ToTensor()],
                  [v1.ColorJitter(0.5), v1.PILToTensor()], [v1.Pad(3), v1.CenterCrop(50), v1.ToTensor()]):
        whole = Image.open(io.BytesIO(data))
        whole.load()
        for source in (io.BytesIO(data), tmp_path / "picture.jpg", str(tmp_path / "picture.jpg")):
            picture, made = Image.open(source), []
            for image in (picture, whole, picture, picture):
                torch.manual_seed(3)
                made.append(v1.Compose(steps)(image))
            assert all(torch.equal(one, made[1]) for one in made)
            assert picture.tobytes() == whole.tobytes() and picture.format == "JPEG"


def test_opened_pictures_that_are_to_be_read_otherwise_are_left_to_pillow():
    drafted = Image.open(io.BytesIO(EXIF))
    drafted.draft("L", (30, 30))
    assert waiting(drafted) is drafted
    with Image.open(io.BytesIO(EXIF)) as closed:
        pass
    file = io.BytesIO(EXIF)
    shut = Image.open(file)
    file.close()
    for picture in (closed, shut):
        assert waiting(picture) is picture
        with pytest.raises((ValueError, AssertionError)):  # Pillow's
            v1.PILToTensor()(picture)
    for data in (EXIF[:len(EXIF) // 2], EXIF[:-2]):
        cut_off = Image.open(io.BytesIO(data))
        assert waiting(cut_off) is cut_off
        with pytest.raises(OSError, match="truncated"):
            v1.CenterCrop(20)(cut_off).load()


@each("mode", ("RGB", "L", "RGBA", "CMYK", "P", "I", "F", "1", "LA"))
@each("filter", FILTERS)
def test_resized_pictures_are_pillows(mode, filter):
    whole = by_pillow(made_file(75, 101)).convert(mode)
    for size in ((20, 30), (224, 140), (101, 75), (101, 20), (1, 1), (300, 1)):
        found = resize(whole, size, filter)
        assert (type(found) is Postponed) == (mode in ("RGB", "L") and size != whole.size)
        assert_same(found.transpose(FLIP), whole.resize(size, filter).transpose(FLIP))
        before = whole.copy()
        found = resize(before, size, filter)
        before.paste(0, (0, 0, *before.size))  # what is done to the first changes nothing
        assert found.tobytes() == whole.resize(size, filter).tobytes()


def test_a_folder_and_its_transforms_give_what_they_gave(tmp_path):
    for number, options in enumerate(KINDS):
        (tmp_path / str(number % 2)).mkdir(exist_ok=True)
        (tmp_path / str(number % 2) / f"{number}.jpg").write_bytes(made_file(60 + number, 90, seed=number, **options))
    for kind in (v1, v2):
        for steps in ([kind.RandomResizedCrop(40), kind.RandomHorizontalFlip(), kind.ToTensor()],
                      [kind.Resize(48), kind.CenterCrop(40), kind.ToTensor()],
                      [kind.Resize((30, 31)), kind.RandomVerticalFlip(1), kind.PILToTensor()],
                      [kind.RandomCrop(40, padding=4), kind.ColorJitter(0.4, 0.4, 0.4, 0.1), kind.ToTensor()],
                      [kind.RandomRotation(20), kind.Grayscale(), kind.ToTensor()]):
            transform, data = kind.Compose(steps), torchvision.datasets.ImageFolder(tmp_path)
            for number, (path, label) in enumerate(data.samples):
                torch.manual_seed(number)
                found = transform(data[number][0])
                torch.manual_seed(number)
                with open(path, "rb") as file:
                    assert torch.equal(found, transform(by_pillow(file.read())))
                assert data[number][1] == label
