"""Layers that change shapes beside the genuine ones."""
import pytest
from harness import genuine
from harness.keras_layer import check_layer, guest
from harness.subresults import each

IMAGE = {1: (2, 6, 3), 2: (2, 6, 7, 3), 3: (1, 5, 6, 7, 2)}
FORMATS = [{}, {"data_format": "channels_first"}]
ROWS = [
    ("Reshape", {"target_shape": (3, 4)}, (2, 12)),
    ("Reshape", {"target_shape": (-1, 2)}, (2, 3, 4)),
    ("Reshape", {"target_shape": [-1]}, (2, 3, 4)),
    ("Permute", {"dims": (2, 1)}, (2, 3, 4)),
    ("Permute", {"dims": (3, 1, 2)}, (2, 3, 4, 5)),
    ("Flatten", {}, (2, 3, 4)),
    ("Flatten", {"data_format": "channels_first"}, (2, 3, 4, 5)),
    ("Flatten", {}, (2,)),
    ("RepeatVector", {"n": 3}, (2, 4)),
    ("Cropping1D", {}, IMAGE[1]),
    ("Cropping1D", {"cropping": (2, 0)}, IMAGE[1]),
    ("UpSampling1D", {"size": 3}, IMAGE[1]),
    *[("Cropping2D", {"cropping": crop, **more}, IMAGE[2]) for more in FORMATS for crop in (1, ((2, 0), (0, 1)))],
    ("Cropping2D", {}, IMAGE[2]),
    ("Cropping2D", {"cropping": (1, 2)}, IMAGE[2]),
    ("Cropping3D", {}, IMAGE[3]),
    ("Cropping3D", {"cropping": ((0, 1), (1, 0), (2, 2))}, IMAGE[3]),
    *[("ZeroPadding1D", {"padding": pad, **more}, IMAGE[1]) for more in FORMATS for pad in (2, (0, 1))],
    *[("ZeroPadding2D", {"padding": pad, **more}, IMAGE[2])
      for more in FORMATS for pad in (1, (1, 2), ((1, 0), (0, 3)))],
    *[("ZeroPadding3D", {"padding": pad, **more}, IMAGE[3])
      for more in FORMATS for pad in (1, ((1, 0), (0, 3), (1, 1)))],
    *[("UpSampling2D", {"size": size, **more}, IMAGE[2]) for more in FORMATS for size in (2, (3, 1))],
    ("UpSampling2D", {"size": 2, "interpolation": "bilinear"}, IMAGE[2]),
    ("UpSampling2D", {"size": (2, 3), "interpolation": "bicubic"}, IMAGE[2]),
    *[("UpSampling3D", {"size": size, **more}, IMAGE[3]) for more in FORMATS for size in (2, (1, 2, 3))],
]


@each("name, config, shape", ROWS)
def test_reshaping(name, config, shape):
    """All of them."""
    check_layer(name, shape, config)


def test_unknown_sizes():
    """Shapes with sizes that are not known."""
    for name, config, shape in [
            ("Reshape", {"target_shape": (-1, 2)}, (None, None, 4)), ("Flatten", {}, (None, None, 4)),
            ("Permute", {"dims": (2, 1)}, (None, None, 4)), ("Cropping2D", {"cropping": 1}, (None, None, None, 3)),
            ("ZeroPadding2D", {}, (None, None, None, 3)), ("UpSampling2D", {}, (None, None, 5, 3))]:
        found = [tuple(getattr(keras.layers, name)(**config)(keras.KerasTensor(shape)).shape)
                 for keras in (guest("keras"), genuine.keras)]
        assert found[0] == found[1], name


BAD = [
    ("Reshape", {"target_shape": (-1, -1)}, ValueError), ("Reshape", {"target_shape": (-2, 1)}, ValueError),
    ("Permute", {"dims": (1, 3)}, ValueError), ("RepeatVector", {"n": 0}, ValueError),
    ("RepeatVector", {"n": 1.5}, TypeError), ("UpSampling1D", {"size": 0}, ValueError),
    ("UpSampling1D", {"size": True}, TypeError), ("Cropping2D", {"cropping": -1}, ValueError),
    ("Cropping2D", {"cropping": (1, 2, 3)}, ValueError), ("Cropping3D", {"cropping": 1.5}, ValueError),
    ("ZeroPadding2D", {"padding": (1, 2, 3)}, ValueError), ("ZeroPadding1D", {"padding": (1, -2)}, ValueError),
]


@each("name, config, kind", BAD)
def test_bad_arguments(name, config, kind):
    """Errors of the same kind that tell what was received."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(kind):
            getattr(keras.layers, name)(**config)
    with pytest.raises(kind, match="Received"):
        getattr(guest("keras").layers, name)(**config)


def test_too_much():
    """More cut off than there is, another number of elements."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(ValueError, match="cropping"):
            keras.layers.Cropping2D(3)(keras.KerasTensor((None, 6, 9, 1)))
        with pytest.raises(ValueError, match="total size"):
            keras.layers.Reshape((5,))(keras.KerasTensor((None, 6)))
