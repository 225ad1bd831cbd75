"""Layers at inputs of unusual dtypes and sizes, beside the genuine ones: numbers, dtypes, shapes, masks, refusals."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, dtype_name, flat, guest
from harness.subresults import each

RNG = np.random.default_rng(0)
STEPS = RNG.integers(0, 4, (2, 3, 2))
IMAGES = RNG.standard_normal((2, 3, 3, 2)).astype("float32")
MASK = np.array([[True, True, False], [True, False, True]])
CELL = {"units": 2}


def sides():
    """Return (keras, tensorflow) of Dragon and of the genuine ones."""
    return (guest("keras"), guest("tensorflow")), (genuine.keras, genuine.tf)


def made(keras, tf, name, config, inputs, mask=None, **call):
    """Return dtype, shape and numbers of a layer's results, with weights that both sides share, and masks."""
    layer = getattr(keras.layers, name)(**config)
    tensors = [tf.convert_to_tensor(x) for x in (inputs if isinstance(inputs, list) else [inputs])]
    if mask is not None:
        tensors[0]._keras_mask = tf.convert_to_tensor(mask)
    layer(tensors if isinstance(inputs, list) else tensors[0], **call)
    rng = np.random.default_rng(1)
    layer.set_weights([abs(rng.standard_normal(tuple(w.shape))) / 4 for w in layer.weights])
    results = flat(layer(tensors if isinstance(inputs, list) else tensors[0], **call))
    return ([(dtype_name(x), tuple(x.shape)) for x in results], [array(x) for x in results],
            [getattr(x, "_keras_mask", None) is not None for x in results])


def check(*args, **call):
    """Compare a layer's results with the genuine one's."""
    (told, numbers, masks), (wanted, theirs, their_masks) = (made(*side, *args, **call) for side in sides())
    assert told == wanted and masks == their_masks
    for one, other in zip(numbers, theirs):
        np.testing.assert_allclose(one, other, rtol=1e-2 if "float16" in str(told) else 1e-4, atol=1e-5)


@each("dtype", ["int32", "bool"])
@each("name, config", [
    ("GRU", CELL), ("GRU", {**CELL, "dtype": "mixed_bfloat16"}), ("GRU", {**CELL, "use_cudnn": False}),
    ("GRU", {**CELL, "activation": "relu"}), ("GRU", {**CELL, "activation": "relu", "reset_after": False}),
    ("LSTM", CELL), ("LSTM", {**CELL, "activation": "relu"}),
    ("LSTM", {**CELL, "activation": "relu", "implementation": 1}),
    ("SimpleRNN", CELL), ("SimpleRNN", {**CELL, "activation": "gelu"})])
def test_recurrent_layers_of_integers(name, config, dtype):
    """Integers meet the weights in their dtype, whichever way the steps are taken."""
    check(name, config, STEPS.astype(dtype))


@pytest.mark.parametrize("name, config", [
    ("Attention", {"use_scale": True}), ("Attention", {"score_mode": "concat"}), ("AdditiveAttention", {})])
def test_attention_of_integers(name, config):
    """Weights of attention are numbers with fractions, values are not."""
    check(name, config, [STEPS, STEPS], return_attention_scores=True)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float16"])
def test_means_of_integers(dtype):
    """Quotients are TensorFlow's: those of wide integers are in float64."""
    x = STEPS.astype(dtype)
    check("Average", {}, [x, x])
    check("GlobalAveragePooling1D", {}, x, MASK)
    check("GlobalAveragePooling1D", {"keepdims": True}, x)


@each("dtype", ["int32", "bool", "float16", "float64"])
@each("name, config", [
    ("LayerNormalization", {}), ("GroupNormalization", {"groups": 1}), ("RMSNormalization", {})])
def test_normalizations_keep_the_dtype_of_their_inputs(name, config, dtype):
    """What is no fraction stays none, before it is brought to the dtype of the layer."""
    check(name, config, (IMAGES * 4).astype(dtype))


@pytest.mark.parametrize("axis", [-2, [1, -1], [1, 2], [2, 3], [-1]])
def test_scale_of_root_mean_squares(axis):
    """The scale lies along the last axes, wherever the mean was taken."""
    images = IMAGES.repeat(2, -1)[..., :3]
    check("RMSNormalization", {"axis": axis}, images)
    found = [array(keras.ops.rms_normalization(images, np.float32([2, 5, 3]), axis=axis)) for keras, _ in sides()]
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


def test_scale_that_does_not_fit_the_last_axis():
    for keras, _ in sides():
        with pytest.raises(Exception, match="shapes"):
            keras.layers.RMSNormalization(axis=1)(np.ones((2, 3, 4), "float32"))


@pytest.mark.parametrize("training", [False, True])
def test_batch_normalization_of_a_row(training):
    """Numbers of one axis are their own means."""
    check("BatchNormalization", {}, np.float32([1.0, 3.0, -2.0]), training=training)


@pytest.mark.parametrize("name, config", [
    ("MaxPooling2D", {"padding": "SAME"}), ("MaxPooling2D", {"padding": "Valid"}),
    # Maxima of no windows die in oneDNN.
    ("AveragePooling2D", {"padding": "SAME"}), ("AveragePooling2D", {"pool_size": (4, 1)}),
    ("AveragePooling2D", {"pool_size": (6, 1), "strides": 2}),
    ("AveragePooling2D", {"pool_size": (4, 2), "data_format": "channels_first"})])
def test_pools_as_tensorflow_takes_them(name, config):
    """Padding in capitals, and windows a little larger than the images, of which there are none."""
    config = {"pool_size": 2, **config}
    check(name, config, IMAGES)
    function = name.replace("Pooling2D", "_pool").lower()
    found = [array(getattr(keras.ops, function)(IMAGES, **config)) for keras, _ in sides()]
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_windows_that_are_too_large_are_refused():
    for keras, tf in sides():
        with pytest.raises(Exception, match="output size would be"):
            keras.layers.AveragePooling2D(5, strides=1)(tf.convert_to_tensor(IMAGES))


@pytest.mark.parametrize("config", [{"padding": "causal"}, {"padding": "SAME"}])
def test_paddings_of_pools_that_are_refused(config):
    for keras, tf in sides():
        layer = keras.layers.MaxPooling2D(2, **config)
        with pytest.raises(ValueError, match="padding"):
            layer.compute_output_shape((None, 4, 4, 1))
        if config["padding"] == "causal":
            with pytest.raises(Exception, match="padding"):
                layer(tf.convert_to_tensor(IMAGES))


@pytest.mark.parametrize("name, config", [
    ("Cropping1D", {"cropping": (0, 0)}), ("Cropping2D", {}), ("Cropping3D", {"cropping": 0}),
    ("Resizing", {"height": 3, "width": 3}), ("CenterCrop", {"height": 3, "width": 3})])
def test_layers_that_change_nothing_drop_the_mask(name, config):
    """Layers without a mask return another tensor than their inputs."""
    shape = (2, 3, 2) if "1D" in name else (2, 3, 3, 3, 2) if "3D" in name else (2, 3, 3, 2)
    check(name, config, np.ones(shape, "float32"), MASK)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_interpolated_crops_are_float32(dtype):
    check("CenterCrop", {"height": 4, "width": 2, "dtype": dtype}, IMAGES)


@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float64"])
def test_smart_resize(dtype, interpolation):
    """Interpolated numbers are in float32, chosen ones stay as they are."""
    images = (abs(IMAGES) * 90).astype(dtype)
    one, other = (keras.preprocessing.image.smart_resize(images, (4, 2), interpolation) for keras, _ in sides())
    assert one.dtype == other.dtype
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_masked_booleans():
    """What is masked is the integer 0, which turns booleans into integers."""
    check("Masking", {"mask_value": 0.0}, STEPS.astype(bool))


@pytest.mark.parametrize("config", [{"threshold": 0.5}, {"threshold": 2}, {"max_value": 1.5}, {"max_value": 6}])
def test_rectified_integers(config):
    """Limits are brought to the dtype of the numbers."""
    check("ReLU", config, STEPS - 1)


def test_orthogonal_in_half_precision():
    found = [array(keras.initializers.Orthogonal(seed=1)((3, 4), dtype="float16")) for keras, _ in sides()]
    assert found[0].shape == found[1].shape
    np.testing.assert_allclose(*found, atol=2e-3)
