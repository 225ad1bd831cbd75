"""Normalizations beside the genuine ones, with what they keep from step to step."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, check_layer, guest, near
from harness.subresults import each

BATCH = [
    ({}, (4, 3)),
    ({}, (3, 5, 4)),
    ({"momentum": 0.8, "epsilon": 1e-5}, (2, 4, 5, 3)),
    ({"axis": 1}, (3, 4, 5, 2)),
    ({"axis": 2}, (3, 4, 5, 2)),
    ({"center": False}, (4, 3)),
    ({"scale": False, "center": False}, (2, 4, 5, 3)),
    ({"beta_initializer": "ones", "gamma_initializer": "zeros", "moving_mean_initializer": "ones",
      "moving_variance_initializer": "zeros", "beta_regularizer": "l2", "gamma_regularizer": "l1",
      "beta_constraint": "non_neg", "gamma_constraint": "max_norm"}, (4, 3)),
    ({"renorm": True, "renorm_clipping": {"rmax": 1.5, "rmin": 0.5, "dmax": 2.0}}, (4, 5, 3)),
    ({"renorm": True, "scale": False, "renorm_momentum": 0.9}, (4, 3)),
    ({}, (1, 3)),
    ({"axis": 0}, (3, 5)),
]


@each("config, shape", BATCH)
def test_batch_normalization(config, shape):
    """Batch norms in training and inference, and the averages that training leaves."""
    check_layer("BatchNormalization", shape, config, rtol=2e-4, atol=2e-5, symbolic=config.get("axis") != 0)


def test_masked_batch_normalization():
    """Masked steps count nothing."""
    mask = np.array([[True, True, False], [True, False, False]])
    check_layer("BatchNormalization", (2, 3, 4), masks=mask)


def test_frozen_batch_normalization():
    """A layer that is not trainable uses the averages in training too, and leaves them."""
    inputs = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    found = []
    for keras in (guest("keras"), genuine.keras):
        layer = keras.layers.BatchNormalization(trainable=False)
        found.append([array(layer(inputs, training=True)), *(array(weight) for weight in layer.weights)])
    near(*found, "frozen")


LAYER = [
    ({}, (2, 5)), ({}, (2, 3, 4)), ({"axis": 1}, (2, 3, 4)), ({"axis": [1, 2]}, (2, 3, 4)),
    ({"axis": (-2, -1), "epsilon": 1e-6}, (2, 3, 4)), ({"axis": [1, 3]}, (2, 3, 4, 5)),
    ({"center": False}, (2, 5)), ({"scale": False}, (2, 5)), ({"center": False, "scale": False}, (2, 3, 4)),
    ({"beta_initializer": "ones", "gamma_regularizer": "l2", "beta_constraint": "non_neg"}, (2, 5)),
    ({"axis": [1, -1]}, (2, 3, 4)), ({"rms_scaling": True}, (2, 3, 4)),
]


@pytest.mark.filterwarnings("ignore")
@each("config, shape", LAYER)
def test_layer_normalization(config, shape):
    """Layer norms over several axes."""
    check_layer("LayerNormalization", shape, config)


@pytest.mark.parametrize("config, shape", [
    ({"groups": 2}, (2, 5, 4)), ({"groups": -1}, (2, 5, 4)), ({"groups": 4, "axis": 1}, (2, 4, 3, 2)),
    ({"groups": 1, "scale": False}, (2, 4)), ({"groups": 2, "center": False, "axis": 2}, (2, 3, 4, 3)),
    ({"groups": 3, "gamma_initializer": "zeros", "gamma_regularizer": "l2"}, (2, 4, 5, 6))])
def test_group_normalization(config, shape):
    """Group norms, and instance norms."""
    check_layer("GroupNormalization", shape, config)


@pytest.mark.parametrize("config, shape", [
    ({}, (2, 5)), ({"axis": -1}, (2, 3, 4)), ({"axis": [1, 2], "epsilon": 1e-3}, (2, 3, 4))])
def test_rms_normalization(config, shape):
    """Root mean squares."""
    check_layer("RMSNormalization", shape, config)


@pytest.mark.parametrize("config", [{}, {"axis": 1}, {"axis": [1, 2]}])
def test_unit_normalization(config):
    """Lengths."""
    check_layer("UnitNormalization", (2, 3, 4), config)


@pytest.mark.parametrize("inner, shape", [
    (("Dense", {"units": 3}), (2, 4)), (("Conv2D", {"filters": 2, "kernel_size": 3}), (2, 5, 5, 2))])
@pytest.mark.parametrize("iterations", [1, 3])
def test_spectral_normalization(inner, shape, iterations):
    """Singular values."""
    def make(keras, more):
        layer = getattr(keras.layers, inner[0])(name="inner", **inner[1])
        return keras.layers.SpectralNormalization(layer, power_iterations=iterations, name="probe", **more)
    check_layer(make, shape, mixed=False)


BAD = [
    ("BatchNormalization", {"renorm": True, "renorm_clipping": {"top": 1}}, ValueError),
    ("BatchNormalization", {"renorm": True, "renorm_clipping": {"rmax": 1, "rmin": 2}}, ValueError),
    ("LayerNormalization", {"axis": "last"}, TypeError), ("UnitNormalization", {"axis": None}, TypeError),
    ("GroupNormalization", {"groups": 0}, ValueError), ("GroupNormalization", {"groups": 2.0}, ValueError),
]


@pytest.mark.parametrize("name, config, kind", BAD)
def test_bad_arguments(name, config, kind):
    """Errors of the same kind."""
    for keras in (guest("keras"), genuine.keras):
        with pytest.raises(kind):
            getattr(keras.layers, name)(**config)


def test_bad_groups():
    """Groups that the channels do not fill."""
    for keras in (guest("keras"), genuine.keras):
        for groups in (3, 5):
            with pytest.raises(ValueError, match=str(groups)):
                keras.layers.GroupNormalization(groups)(keras.KerasTensor((None, 4)))
