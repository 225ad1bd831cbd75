"""Cards and images of tensors: every dtype and shape, bounded work, and nobody's text runs."""
import struct
import time
import zlib

import numpy
import pytest

import dragon
from dragon.core.pictures.image import encode_png
from harness.subresults import each
from seeing.pages import HOSTILE, check_html, check_page

NUMBERS = [3.0, [], [[]], [1.5, float("nan"), float("inf")], [[True, False]], [1 + 2j], [[1, 2], [3, 4]],
           numpy.zeros((0, 3), numpy.float32), numpy.arange(120.0).reshape(2, 3, 4, 5)]


@each("numbers", NUMBERS, ids=lambda numbers: str(numpy.shape(numbers)))
def test_cards_of_every_form(numbers):
    x = dragon.tensor(numbers)
    text = x._repr_html_()
    check_html(text)
    assert str(tuple(x.shape)) in text and x.dtype.name in text


def test_a_card_tells_figures_and_gradients():
    x = dragon.tensor([1.0, 2.0, float("nan"), 6.0], requires_grad=True)
    text = x._repr_html_()
    for part in ("min</span> 1", "mean</span> 3", "max</span> 6", "NaN</span> 1", "requires_grad</span> True"):
        assert part in text
    assert "grad_fn</span> mul" in (x * 2)._repr_html_().lower()
    assert "true</span> 1 of 2" in dragon.tensor([True, False])._repr_html_()


def test_a_card_shows_a_corner_only():
    text = dragon.ones((100, 100))._repr_html_()
    assert text.count("<tr>") == 7 and text.count("…") == 7 and len(text) < 10_000


def test_a_card_of_a_giant_is_cheap():
    giant = dragon.ops.broadcast_to(dragon.ones((1, 1)), (1 << 20, 1 << 20))
    begin = time.process_time()
    text = giant._repr_html_()
    assert time.process_time() - begin < 1 and "mean" not in text and "(1048576, 1048576)" in text


def test_the_other_faces():
    from dragon.vm import keras, tensorflow, torch
    assert "torch.Tensor" in torch.ones(2)._repr_html_()
    assert "Parameter" in torch.nn.Parameter(torch.ones(2))._repr_html_()
    assert "meta" in torch.empty(3, device="meta")._repr_html_()
    assert "bfloat16" in torch.ones(2, dtype=torch.bfloat16)._repr_html_()
    assert "tf.Tensor" in tensorflow.constant([1])._repr_html_()
    assert "tf.Variable" in tensorflow.Variable(1.0)._repr_html_()
    variable = keras.Variable(numpy.ones((2, 2)), name="weights")
    assert "weights" in variable._repr_html_() and "trainable" in variable._repr_html_()
    text = tensorflow.constant([[HOSTILE.replace("\ud800", "")]])._repr_html_()
    check_html(text)
    assert "<script" not in text and "&lt;script" in text
    inside = []
    torch.func.vmap(lambda x: (inside.append(x._repr_html_()), x)[1])(torch.ones(2, 3))
    check_html(inside[0])


def test_looking_leaves_no_trace():
    x = dragon.ones((3,), requires_grad=True)
    with dragon.profile() as found:
        x._repr_html_()
    assert x.grad is None and not [event for event in found.events if event.is_node]


def read_png(data):
    """Return the pixels of a PNG that `encode_png` made."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed, size = 8, b"", None
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length:place + 12 + length])[0] == zlib.crc32(kind + body)
        size, packed = (struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else size, packed + body * (kind == b"IDAT"))
        place += 12 + length
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[size[3]]
    rows = numpy.frombuffer(zlib.decompress(packed), numpy.uint8).reshape(size[1], 1 + size[0] * channels)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(size[1], size[0], channels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png(channels):
    pixels = numpy.random.default_rng(0).integers(0, 256, (5, 7, channels), numpy.uint8)
    assert (read_png(encode_png(pixels)) == pixels).all()


def test_images():
    x = dragon.tensor([[0.0, 0.5], [1.0, float("nan")]])
    assert read_png(dragon.seeing.image(x).png())[:, :, 0].tolist() == [[0, 128], [255, 0]]
    assert read_png(dragon.seeing.image(x, low=0, high=0.5).png())[:, :, 0].tolist() == [[0, 255], [255, 0]]
    assert dragon.seeing.image(numpy.array([[-1.5e308, 0, 1.5e308]])).pixels.tolist() == [[0, 128, 255]]
    assert dragon.seeing.image(dragon.ones((3, 4, 5))).pixels.shape == (4, 5, 3)
    assert dragon.seeing.image(dragon.ones((4, 5, 3))).pixels.shape == (4, 5, 3)
    assert dragon.seeing.image(dragon.ones((7, 4, 5))).pixels.shape == (14, 17)
    assert dragon.seeing.image(dragon.ones((4, 3, 8, 8))).pixels.shape == (17, 17, 3)
    picture = dragon.seeing.image(x, title=HOSTILE)
    assert check_html(picture._repr_html_()).tags.count("script") == 0
    check_html(picture.html())


@pytest.mark.parametrize("numbers, error", [
    (dragon.ones((3,)), ValueError), (dragon.zeros((0, 3)), ValueError), (dragon.tensor([[1j]]), TypeError),
    (dragon.ones((2, 5, 6, 7)), ValueError)])
def test_what_is_no_image_says_so(numbers, error):
    with pytest.raises(error, match="image: got"):
        dragon.seeing.image(numbers)


def test_show_writes_text_where_there_is_no_screen(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DRAGON_BROWSER", "0")
    shown = dragon.show(dragon.ones((2, 2)))
    assert "Tensor" in capsys.readouterr().out
    check_page(shown, 0)
    dragon.show(dragon.ones((3, 8, 8))).save(tmp_path / "x.png")
    assert read_png((tmp_path / "x.png").read_bytes()).shape == (8, 8, 3)
    with pytest.raises(TypeError, match="show: got int"):
        dragon.show(3)
    with pytest.raises(ValueError, match="ends in .html"):
        shown.save(tmp_path / "x.jpg")
