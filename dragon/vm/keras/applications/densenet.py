"""Dense networks: every convolution sees what all before it in its block made."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, channel_axis, helpers, norm, stored
from dragon.vm.keras.core import config

EPSILON, GROWTH = 1.001e-5, 32


def _ready(x, name):
    return layers.Activation("relu", name=f"{name}relu")(norm(x, f"{name}bn", epsilon=EPSILON))


def _grow(x, name):
    """Return a tensor with the channels of one more pair of convolutions."""
    new = layers.Conv2D(4 * GROWTH, 1, use_bias=False, name=f"{name}_1_conv")(_ready(x, f"{name}_0_"))
    new = layers.Conv2D(GROWTH, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(_ready(new, f"{name}_1_"))
    return layers.Concatenate(axis=channel_axis(), name=f"{name}_concat")([x, new])


def _shrink(x, name):
    """Return a tensor with half the channels and half the size."""
    x = _ready(x, f"{name}_")
    x = layers.Conv2D(int(x.shape[channel_axis()] * 0.5), 1, use_bias=False, name=f"{name}_conv")(x)
    return layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _make(counts, depth):
    def make_body(weights):
        def body(x):
            if config.image_data_format() == "channels_first":
                raise ValueError("DenseNet does not support the `channels_first` image data format. Received: "
                                 "image_data_format=channels_first")
            x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)))(x)
            x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
            x = _ready(x, "conv1_")
            x = layers.MaxPooling2D(3, strides=2, name="pool1")(layers.ZeroPadding2D(padding=((1, 1), (1, 1)))(x))
            for block, count in enumerate(counts, 2):
                for number in range(1, count + 1):
                    x = _grow(x, f"conv{block}_block{number}")
                x = _shrink(x, f"pool{block}") if block < 5 else x
            return _ready(x, "")
        return body
    name = f"densenet{depth}"
    return application(f"DenseNet{depth}", name, make_body, origin=stored("densenet", name))


DenseNet121 = _make((6, 12, 24, 16), 121)
DenseNet169 = _make((6, 12, 32, 32), 169)
DenseNet201 = _make((6, 12, 48, 32), 201)
preprocess_input, decode_predictions = helpers("torch")
