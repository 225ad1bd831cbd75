"""InceptionResNetV2: branches side by side, whose sum is added to what they saw."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, channel_axis, helpers, norm, stored
from dragon.vm.keras.layers.layer import Layer

# The branches of the residual blocks: widths and kernels.
BRANCHES = {
    "block35": (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
    "block17": (((192, 1),), ((128, 1), (160, [1, 7]), (192, [7, 1]))),
    "block8": (((192, 1),), ((192, 1), (224, [1, 3]), (256, [3, 1]))),
}


class CustomScaleLayer(Layer):
    """Add a part of the second input to the first.

    Parameters
    ----------
    scale : float
        How much of it.

    """

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs):
        """Return the sum."""
        return inputs[0] + inputs[1] * self.scale


def _conv(x, width, kernel, stride=1, padding="same", name=None):
    x = layers.Conv2D(width, kernel, strides=stride, padding=padding, use_bias=False, name=name)(x)
    x = norm(x, name and f"{name}_bn", scale=False)
    return layers.Activation("relu", name=name and f"{name}_ac")(x)


def _chain(x, *steps):
    """Return what convolutions one behind the other make; a step of three numbers has a stride and no padding."""
    for width, kernel, *stride in steps:
        x = _conv(x, width, kernel, *stride, **({"padding": "valid"} if stride else {}))
    return x


def _join(branches, name):
    return layers.Concatenate(axis=channel_axis(), name=name)(branches)


def _pool(x):
    return layers.MaxPooling2D(3, strides=2, padding="valid")(x)


def _block(x, scale, kind, number, is_last=False):
    name = f"{kind}_{number}"
    mixed = _join([_chain(x, *steps) for steps in BRANCHES[kind]], f"{name}_mixed")
    up = layers.Conv2D(x.shape[channel_axis()], 1, strides=1, padding="same", use_bias=True, name=f"{name}_conv")(mixed)
    x = CustomScaleLayer(scale)([x, up])
    return x if is_last else layers.Activation("relu", name=f"{name}_ac")(x)


def _make_body(weights):
    def body(x):
        x = _conv(x, 32, 3, 2, "valid")
        x = _conv(_conv(x, 32, 3, padding="valid"), 64, 3)
        x = layers.MaxPooling2D(3, strides=2)(x)
        x = _conv(_conv(x, 80, 1, padding="valid"), 192, 3, padding="valid")
        x = layers.MaxPooling2D(3, strides=2)(x)
        first = [_conv(x, 96, 1), _chain(x, (48, 1), (64, 5)), _chain(x, (64, 1), (96, 3), (96, 3))]
        average = layers.AveragePooling2D(3, strides=1, padding="same")(x)
        x = _join([*first, _conv(average, 64, 1)], "mixed_5b")
        for number in range(1, 11):
            x = _block(x, 0.17, "block35", number)
        x = _join([_chain(x, (384, 3, 2)), _chain(x, (256, 1), (256, 3), (384, 3, 2)), _pool(x)], "mixed_6a")
        for number in range(1, 21):
            x = _block(x, 0.1, "block17", number)
        x = _join([_chain(x, (256, 1), (384, 3, 2)), _chain(x, (256, 1), (288, 3, 2)),
                   _chain(x, (256, 1), (288, 3), (320, 3, 2)), _pool(x)], "mixed_7a")
        for number in range(1, 10):
            x = _block(x, 0.2, "block8", number)
        return _conv(_block(x, 1.0, "block8", 10, True), 1536, 1, name="conv_7b")
    return body


InceptionResNetV2 = application(
    "InceptionResNetV2", "inception_resnet_v2", _make_body, default_size=299, min_size=75, pool_names=(None, None),
    origin=stored("inception_resnet_v2", "inception_resnet_v2"))
preprocess_input, decode_predictions = helpers("tf")
