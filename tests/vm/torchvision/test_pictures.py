"""Files of images, and pictures of tensors."""
import zlib

import genuine
import numpy
import pytest
import torch
from compare import mine, same

tv = genuine.load()
from PIL import Image  # noqa: E402

from dragon.vm import torch as dt  # noqa: E402
from dragon.vm.torchvision import io, utils  # noqa: E402
from harness.subresults import each  # noqa: E402

generator = torch.Generator().manual_seed(1)
BYTES = torch.randint(0, 256, (3, 30, 40), dtype=torch.uint8, generator=generator)
BATCH = torch.rand(5, 3, 6, 7, generator=generator) * 3 - 1


@each("images,options", [
    (BATCH, {}), (BATCH, {"nrow": 2, "padding": 1, "pad_value": 0.5}), (BATCH, {"normalize": True}),
    (BATCH, {"normalize": True, "scale_each": True, "value_range": (-0.5, 1)}), (BATCH[:1], {}), (BATCH[0], {}),
    (BATCH[0, 0], {}), (BATCH[:, :1], {"nrow": 3}), (list(BATCH), {})])
def test_make_grid(images, options):
    same(utils.make_grid(mine(images), **options), tv.utils.make_grid(images, **options), 1e-6, 1e-7)


def test_save_image(tmp_path):
    utils.save_image(mine(BATCH), tmp_path / "a.png", normalize=True)
    tv.utils.save_image(BATCH, tmp_path / "b.png", normalize=True)
    assert Image.open(tmp_path / "a.png").tobytes() == Image.open(tmp_path / "b.png").tobytes()
    same(io.read_image(str(tmp_path / "a.png")), tv.transforms.functional.pil_to_tensor(Image.open(tmp_path / "b.png")))


BOXES = torch.tensor([[2.0, 3.0, 20.0, 25.0], [10.0, 1.0, 38.0, 12.0]])
TURNED = torch.tensor([[2.0, 8.0, 20.0, 2.0, 25.0, 20.0, 5.0, 27.0]])


@each("image", (BYTES, BYTES[:1], BYTES.float() / 255))
@each("options", [
    {}, {"colors": "red", "width": 3}, {"labels": ["a", "b"], "colors": [(1, 2, 3), "#00ff00"], "fill": True},
    {"labels": ["a", None], "fill_labels": True, "label_colors": "white", "label_background_colors": "blue"}])
def test_draw_bounding_boxes(image, options):
    wanted = tv.utils.draw_bounding_boxes(image, BOXES, **options)
    same(utils.draw_bounding_boxes(mine(image), mine(BOXES), **options), wanted,
         0, 1e-6 if image.is_floating_point() else 0)


def test_draw_others():
    same(utils.draw_bounding_boxes(mine(BYTES), mine(TURNED), colors="red"),
         tv.utils.draw_bounding_boxes(BYTES, TURNED, colors="red"))
    masks = torch.rand(2, 30, 40, generator=generator) > 0.6
    same(utils.draw_segmentation_masks(mine(BYTES), mine(masks), 0.5, ["red", (9, 8, 7)]),
         tv.utils.draw_segmentation_masks(BYTES, masks, 0.5, ["red", (9, 8, 7)]))
    points = torch.rand(2, 3, 2, generator=generator) * 30
    seen = torch.tensor([[True, False, True], [True, True, True]])
    same(utils.draw_keypoints(mine(BYTES), mine(points), [(0, 1), (1, 2)], "blue", 3, 2, mine(seen)),
         tv.utils.draw_keypoints(BYTES, points, [(0, 1), (1, 2)], "blue", 3, 2, seen))
    flow = torch.randn(2, 2, 8, 9, generator=generator)
    same(utils.flow_to_image(mine(flow)), tv.utils.flow_to_image(flow), 0, 1)
    same(utils._make_colorwheel(), tv.utils._make_colorwheel())


ERRORS = [lambda u, t: u.make_grid(3), lambda u, t: u.draw_bounding_boxes(3, t.ones(1, 4)),
          lambda u, t: u.draw_bounding_boxes(t.ones(1, 3, 4, 4), t.ones(1, 4)),
          lambda u, t: u.draw_bounding_boxes(t.ones(3, 4, 4), t.tensor([[3.0, 3, 1, 1]])),
          lambda u, t: u.draw_bounding_boxes(t.ones(3, 4, 4), t.ones(1, 4), ["a", "b"]),
          lambda u, t: u.draw_segmentation_masks(t.ones(3, 4, 4), t.ones(4, 4)),
          lambda u, t: u.draw_keypoints(t.ones(3, 4, 4), t.ones(4, 4)), lambda u, t: u.flow_to_image(t.ones(3, 4, 4))]


@pytest.mark.parametrize("call", ERRORS, ids=range(len(ERRORS)))
def test_errors(call):
    with pytest.raises(Exception) as wanted:
        call(tv.utils, torch)
    with pytest.raises(wanted.type):
        call(utils, dt)


@pytest.mark.parametrize("mode,name", (("L", "GRAY"), ("LA", "GRAY_ALPHA"), ("RGB", "RGB"), ("RGBA", "RGBA")))
def test_read_modes(mode, name, tmp_path):
    image = Image.fromarray(BYTES.permute(1, 2, 0).numpy())
    image.convert(mode).save(tmp_path / "a.png")
    wanted = numpy.asarray(image.convert(mode)).reshape(30, 40, -1).transpose(2, 0, 1)
    numpy.testing.assert_array_equal(io.read_image(tmp_path / "a.png").numpy(), wanted)
    image.save(tmp_path / "b.png")
    found = io.decode_image(io.read_file(tmp_path / "b.png"), io.ImageReadMode[name])
    numpy.testing.assert_array_equal(found.numpy(), wanted)


def test_write_and_read(tmp_path):
    pixels = mine(BYTES)
    io.write_png(pixels, str(tmp_path / "a.png"))
    same(io.read_image(str(tmp_path / "a.png")), BYTES)
    same(io.decode_png(io.encode_png(pixels)), BYTES)
    io.write_jpeg(pixels, str(tmp_path / "a.jpg"), quality=95)
    assert io.read_image(tmp_path / "a.jpg").shape == pixels.shape
    assert io.decode_jpeg(io.encode_jpeg([pixels, pixels]))[1].shape == (3, 30, 40)
    frames = [Image.fromarray(BYTES[index].numpy()) for index in range(3)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert io.read_image(tmp_path / "a.gif").shape == (3, 3, 30, 40)
    for call in (lambda: io.decode_image(dt.zeros(4, dtype=dt.uint8)), lambda: io.encode_png(dt.zeros(3, 4, 4)),
                 lambda: io.decode_png(io.read_file(tmp_path / "a.jpg"))):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        io.encode_jpeg(pixels, quality=0)
    huge = bytearray(io.encode_png(pixels).numpy().tobytes())
    huge[16:24] = (60000).to_bytes(4, "big") * 2
    huge[29:33] = zlib.crc32(huge[12:29]).to_bytes(4, "big")
    with pytest.raises(RuntimeError, match="exceeds limit"):
        io.decode_png(dt.frombuffer(huge, dtype=dt.uint8))
    with pytest.raises(NotImplementedError, match="HEIC"):
        io.decode_heic(pixels)


def test_bytes_that_are_no_gif_are_told_by_the_number_that_programs_look_for():
    from dragon.vm import torch as framework
    from dragon.vm.torchvision import io as pictures
    with pytest.raises(RuntimeError, match=r"DGifOpenFileName\(\) failed - 103"):
        pictures.decode_gif(framework.full((100,), 120, dtype=framework.uint8))
