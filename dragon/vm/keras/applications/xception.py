"""Xception: convolutions that treat channels and places apart."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, channel_axis, helpers, norm, stored


def _axis():
    return -1 if channel_axis() == 3 else 1


def _relu(x, name):
    return layers.Activation("relu", name=name)(x)


def _separable(x, width, name):
    x = layers.SeparableConv2D(width, (3, 3), padding="same", use_bias=False, name=name)(x)
    return norm(x, f"{name}_bn", axis=_axis())


def _projection(x, width):
    x = layers.Conv2D(width, (1, 1), strides=(2, 2), padding="same", use_bias=False)(x)
    return norm(x, axis=_axis())


def _entry(x, block, widths, begins_with_relu=True):
    """Return a block that halves the size, with a projection around it."""
    residual = _projection(x, widths[-1])
    for number, width in enumerate(widths, 1):
        name = f"block{block}_sepconv{number}"
        if begins_with_relu or number > 1:
            x = _relu(x, f"{name}_act")
        x = _separable(x, width, name)
    x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")(x)
    return layers.add([x, residual])


def _make_body(weights):
    def body(x):
        for number, (width, stride) in enumerate(((32, 2), (64, 1)), 1):
            name = f"block1_conv{number}"
            x = layers.Conv2D(width, (3, 3), strides=(stride, stride), use_bias=False, name=name)(x)
            x = _relu(norm(x, f"{name}_bn", axis=_axis()), f"{name}_act")
        for block, width in ((2, 128), (3, 256), (4, 728)):
            x = _entry(x, block, (width, width), block > 2)
        for block in range(5, 13):
            residual = x
            for number in (1, 2, 3):
                name = f"block{block}_sepconv{number}"
                x = _separable(_relu(x, f"{name}_act"), 728, name)
            x = layers.add([x, residual])
        x = _entry(x, 13, (728, 1024))
        for number, width in enumerate((1536, 2048), 1):
            name = f"block14_sepconv{number}"
            x = _relu(_separable(x, width, name), f"{name}_act")
        return x
    return body


Xception = application("Xception", "xception", _make_body, default_size=299, min_size=71, pool_names=(None, None),
                       origin=stored("xception", "xception"))
preprocess_input, decode_predictions = helpers("tf")
