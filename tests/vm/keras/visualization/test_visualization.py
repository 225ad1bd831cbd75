"""Boxes and masks in images, and galleries: masks as genuine Keras draws them, boxes where they belong."""
import keras as genuine
import numpy as np
import pytest

from dragon.vm import keras

pytest.importorskip("matplotlib").use("Agg")
IMAGES = np.random.RandomState(0).uniform(0, 255, (3, 20, 24, 3)).astype("float32")
MASKS = np.random.RandomState(1).randint(0, 3, (3, 20, 24, 1))
BOXES = {"boxes": np.array([[[4, 3, 15, 12], [0, 0, 5, 5]]] * 3, "float32"), "labels": np.array([[1, -1]] * 3),
         "confidences": np.array([[0.5, 0.1]] * 3)}


@pytest.mark.parametrize("arguments", [
    {}, {"num_classes": 2}, {"alpha": 0.3, "ignore_index": 1}, {"blend": False},
    {"color_mapping": {0: (1, 2, 3), 1: (200, 0, 0)}}])
def test_masks_are_those_of_genuine_keras(arguments):
    mine, theirs = (side.visualization.draw_segmentation_masks(IMAGES, MASKS, **arguments) for side in (keras, genuine))
    assert str(mine.dtype) == ("float32" if arguments.get("blend") is False else "uint8")
    np.testing.assert_allclose(np.asarray(mine, "float32"), np.asarray(theirs, "float32"), atol=1)


def test_boxes_are_drawn_where_they_are():
    made = keras.visualization.draw_bounding_boxes(IMAGES, BOXES, "xyxy", color=(255, 0, 9), line_thickness=1)
    assert made.dtype == np.uint8 and made.shape == IMAGES.shape
    edge = np.zeros((20, 24), bool)
    edge[[3, 12], 4:16] = edge[3:13, [4, 15]] = True
    assert (made[:, edge] == (255, 0, 9)).all()
    np.testing.assert_array_equal(made[:, ~edge], IMAGES.astype("uint8")[:, ~edge])  # -1 is no box
    first = keras.visualization.draw_bounding_boxes(np.moveaxis(IMAGES, -1, 1), BOXES, "xyxy", color=(255, 0, 9),
                                                    line_thickness=1, data_format="channels_first")
    np.testing.assert_array_equal(np.moveaxis(first, 1, -1), made)
    gray = keras.visualization.draw_bounding_boxes(IMAGES[..., :1], BOXES, "xyxy", color=(255, 0, 9))
    assert gray.shape == (3, 20, 24, 1) and (gray[:, 3, 4:16] == 255).all()
    named = keras.visualization.draw_bounding_boxes(IMAGES, BOXES, "xyxy", {1: "cat"}, (255, 0, 9), 1, font_scale=0.5)
    assert (named != made).any()


def test_what_does_not_fit():
    draw = keras.visualization.draw_bounding_boxes
    with pytest.raises(ValueError, match="must be batched 4D"):
        draw(IMAGES[0], BOXES, "xyxy")
    with pytest.raises(TypeError, match="should be a dict"):
        draw(IMAGES, BOXES["boxes"], "xyxy")
    with pytest.raises(ValueError, match="'boxes' and 'labels'"):
        draw(IMAGES, {"boxes": BOXES["boxes"]}, "xyxy")
    with pytest.raises(TypeError, match="must be in integer dtype"):
        keras.visualization.draw_segmentation_masks(IMAGES, MASKS.astype("float32"))
    with pytest.raises(ValueError, match="`label_map` must also"):
        keras.visualization.plot_image_gallery(IMAGES, y_true=[0, 1, 2])
    with pytest.raises(ValueError, match="either `path`"):
        keras.visualization.plot_image_gallery(IMAGES, path="a.png", show=True)
    with pytest.raises(ValueError, match="Only pass `legend`"):
        keras.visualization.plot_bounding_box_gallery(IMAGES, "xyxy", legend=True, legend_handles=[1])


def test_galleries_are_written(tmp_path):
    image = pytest.importorskip("PIL.Image")
    show = keras.visualization
    show.plot_image_gallery(IMAGES, y_true=[0, 1, 2], y_pred=[0, 0, 9], label_map={0: "a", 1: "b"},
                            path=tmp_path / "a.png")
    show.plot_bounding_box_gallery(IMAGES, "xyxy", BOXES, BOXES, legend=True, path=tmp_path / "b.png")
    show.plot_segmentation_mask_gallery(IMAGES, 3, y_true=MASKS, y_pred=MASKS, path=tmp_path / "c.png")
    for name in "abc":
        assert np.asarray(image.open(tmp_path / f"{name}.png")).std() > 0
