"""InceptionV3: blocks of branches that look at small and large surroundings side by side."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, channel_axis, helpers, norm, stored


def _conv(x, width, rows, columns, stride=1, padding="same"):
    x = layers.Conv2D(width, (rows, columns), strides=(stride, stride), padding=padding, use_bias=False)(x)
    return layers.Activation("relu")(norm(x, scale=False))


def _chain(x, *steps):
    """Return what convolutions one behind the other make; a step is a width, rows, columns, and perhaps a stride."""
    for width, rows, columns, *stride in steps:
        x = _conv(x, width, rows, columns, *stride, **({"padding": "valid"} if stride else {}))
    return x


def _average(x, width):
    return _conv(layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), width, 1, 1)


def _shrink(x):
    return layers.MaxPooling2D((3, 3), strides=(2, 2))(x)


def _join(branches, name=None):
    return layers.concatenate(branches, axis=channel_axis(), name=name)


def _small(x, width, name):
    return _join([_conv(x, 64, 1, 1), _chain(x, (48, 1, 1), (64, 5, 5)),
                  _chain(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)), _average(x, width)], name)


def _long(x, width, name):
    """Return a block whose branches see seven rows and seven columns."""
    return _join([_conv(x, 192, 1, 1), _chain(x, (width, 1, 1), (width, 1, 7), (192, 7, 1)),
                  _chain(x, (width, 1, 1), (width, 7, 1), (width, 1, 7), (width, 7, 1), (192, 1, 7)),
                  _average(x, 192)], name)


def _wide(x, number):
    """Return a block whose branches fork at their ends."""
    first = _conv(x, 320, 1, 1)
    middle = _conv(x, 384, 1, 1)
    middle = _join([_conv(middle, 384, 1, 3), _conv(middle, 384, 3, 1)], f"mixed9_{number}")
    last = _chain(x, (448, 1, 1), (384, 3, 3))
    last = _join([_conv(last, 384, 1, 3), _conv(last, 384, 3, 1)])
    return _join([first, middle, last, _average(x, 192)], f"mixed{9 + number}")


def _make_body(weights):
    def body(x):
        x = _conv(x, 32, 3, 3, 2, "valid")
        x = _conv(_conv(x, 32, 3, 3, padding="valid"), 64, 3, 3)
        x = _conv(_shrink(x), 80, 1, 1, padding="valid")
        x = _shrink(_conv(x, 192, 3, 3, padding="valid"))
        for number, width in enumerate((32, 64, 64)):
            x = _small(x, width, f"mixed{number}")
        x = _join([_chain(x, (384, 3, 3, 2)), _chain(x, (64, 1, 1), (96, 3, 3), (96, 3, 3, 2)), _shrink(x)], "mixed3")
        for number, width in enumerate((128, 160, 160, 192), 4):
            x = _long(x, width, f"mixed{number}")
        x = _join([_chain(x, (192, 1, 1), (320, 3, 3, 2)),
                   _chain(x, (192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, 2)), _shrink(x)], "mixed8")
        return _wide(_wide(x, 0), 1)
    return body


InceptionV3 = application("InceptionV3", "inception_v3", _make_body, default_size=299, min_size=75,
                          pool_names=(None, None), origin=stored("inception_v3", "inception_v3"))
preprocess_input, decode_predictions = helpers("tf")
