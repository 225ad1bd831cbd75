"""Images without channels, and none at all, are resized to images like them."""

from dragon.vm import keras, tensorflow as tf
from dragon.vm.shared.images.resizing import METHODS
from harness.subresults import each


@each("antialias", [False, True])
@each("method", METHODS)
@each("shape", [(2, 6, 5, 0), (0, 6, 5, 3)])
def test_nothing_is_resized_to_nothing(shape, method, antialias):
    made = tf.image.resize(tf.zeros(shape), (3, 9), method=method, antialias=antialias)
    assert tuple(made.shape) == (shape[0], 3, 9, shape[3])
    if method in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
        made = keras.ops.image.resize(tf.zeros(shape), (3, 9), interpolation=method, antialias=antialias)
        assert tuple(made.shape) == (shape[0], 3, 9, shape[3])
