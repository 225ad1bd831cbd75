"""MobileNetV3: the blocks of the second version, some with weighted channels, and cheaper activations."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.frame import DOC, STORE, channel_axis, network, norm
from dragon.vm.keras.applications.mobilenet import axis
from dragon.vm.keras.applications.mobilenet_v2 import make_divisible
from dragon.vm.keras.core import config

decode_predictions = imagenet_utils.decode_predictions

# Expansion, width, kernel (5: the large one), stride, whether channels are weighted, whether hard swish is used.
SMALL = ((1, 16, 3, 2, 1, 0), (72 / 16, 24, 3, 2, 0, 0), (88 / 24, 24, 3, 1, 0, 0), (4, 40, 5, 2, 1, 1),
         (6, 40, 5, 1, 1, 1), (6, 40, 5, 1, 1, 1), (3, 48, 5, 1, 1, 1), (3, 48, 5, 1, 1, 1), (6, 96, 5, 2, 1, 1),
         (6, 96, 5, 1, 1, 1), (6, 96, 5, 1, 1, 1))
LARGE = ((1, 16, 3, 1, 0, 0), (4, 24, 3, 2, 0, 0), (3, 24, 3, 1, 0, 0), (3, 40, 5, 2, 1, 0), (3, 40, 5, 1, 1, 0),
         (3, 40, 5, 1, 1, 0), (6, 80, 3, 2, 0, 1), (2.5, 80, 3, 1, 0, 1), (2.3, 80, 3, 1, 0, 1), (2.3, 80, 3, 1, 0, 1),
         (6, 112, 3, 1, 1, 1), (6, 112, 3, 1, 1, 1), (6, 160, 5, 2, 1, 1), (6, 160, 5, 1, 1, 1), (6, 160, 5, 1, 1, 1))


def preprocess_input(x, data_format=None):
    """Return the images as they are: the network scales them itself."""
    return x


def _relu(x):
    return layers.ReLU()(x)


def _hard_swish(x):
    return layers.Activation("hard_swish")(x)


def _norm(x, name):
    return norm(x, name, axis=axis(), epsilon=1e-3, momentum=0.999)


def _squeeze(inputs, width, prefix):
    x = layers.GlobalAveragePooling2D(keepdims=True, name=f"{prefix}squeeze_excite_avg_pool")(inputs)
    x = layers.Conv2D(make_divisible(width * 0.25, 8), kernel_size=1, padding="same",
                      name=f"{prefix}squeeze_excite_conv")(x)
    x = layers.ReLU(name=f"{prefix}squeeze_excite_relu")(x)
    x = layers.Conv2D(width, kernel_size=1, padding="same", name=f"{prefix}squeeze_excite_conv_1")(x)
    x = layers.ReLU(6.0)(x + 3.0) * (1.0 / 6.0)
    return layers.Multiply(name=f"{prefix}squeeze_excite_mul")([inputs, x])


def _block(inputs, expansion, width, kernel, stride, is_weighted, activation, number):
    x, channels = inputs, inputs.shape[channel_axis()]
    prefix = f"expanded_conv_{number}_" if number else "expanded_conv_"
    inner = make_divisible(channels * expansion, 8)
    if number:
        x = layers.Conv2D(inner, kernel_size=1, padding="same", use_bias=False, name=f"{prefix}expand")(x)
        x = activation(_norm(x, f"{prefix}expand_bn"))
    if stride == 2:
        x = layers.ZeroPadding2D(padding=imagenet_utils.correct_pad(x, kernel), name=f"{prefix}depthwise_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False,
                               name=f"{prefix}depthwise")(x)
    x = activation(_norm(x, f"{prefix}depthwise_bn"))
    if is_weighted:
        x = _squeeze(x, inner, prefix)
    x = layers.Conv2D(width, kernel_size=1, padding="same", use_bias=False, name=f"{prefix}project")(x)
    x = _norm(x, f"{prefix}project_bn")
    return layers.Add(name=f"{prefix}add")([inputs, x]) if stride == 1 and channels == width else x


def _default_shape(input_shape, input_tensor, include_top):
    """Return the shape of images: asked for, the tensor's, or open."""
    if input_shape is not None or input_tensor is not None:
        return input_shape if input_shape is not None else tuple(input_tensor.shape)[1:]
    return (3, None, None) if config.image_data_format() == "channels_first" else (None, None, 3)


def _make(title, blocks, last):
    def build(input_shape=None, alpha=1.0, minimalistic=False, include_top=True, weights="imagenet", input_tensor=None,
              classes=1000, pooling=None, dropout_rate=0.2, classifier_activation="softmax",
              include_preprocessing=True, name=title):
        activation = _relu if minimalistic else _hard_swish
        top = make_divisible(last * alpha, 8) if alpha > 1.0 else last

        def body(x):
            if include_preprocessing:
                x = layers.Rescaling(scale=1.0 / 127.5, offset=-1.0)(x)
            x = layers.Conv2D(16, kernel_size=3, strides=(2, 2), padding="same", use_bias=False, name="conv")(x)
            x = activation(_norm(x, "conv_bn"))
            for number, (expansion, width, kernel, stride, is_weighted, is_hard) in enumerate(blocks):
                x = _block(x, expansion, make_divisible(width * alpha, 8), 3 if minimalistic else kernel, stride,
                           is_weighted and not minimalistic, activation if is_hard else _relu, number)
            width = make_divisible(x.shape[channel_axis()] * 6, 8)
            x = layers.Conv2D(width, kernel_size=1, padding="same", use_bias=False, name="conv_1")(x)
            return activation(_norm(x, "conv_1_bn"))

        def head(x, classes, classifier_activation):
            x = layers.GlobalAveragePooling2D(keepdims=True)(x)
            x = activation(layers.Conv2D(top, kernel_size=1, padding="same", use_bias=True, name="conv_2")(x))
            x = layers.Dropout(dropout_rate)(x) if dropout_rate > 0 else x
            x = layers.Conv2D(classes, kernel_size=1, padding="same", name="logits")(x)
            return layers.Activation(activation=classifier_activation, name="predictions")(layers.Flatten()(x))
        kind = f"{title[11:].lower()}{'_minimalistic' if minimalistic else ''}_224_{alpha}_float"
        return network(
            body, name=name, include_top=include_top, weights=weights, input_tensor=input_tensor,
            input_shape=_default_shape(input_shape, input_tensor, include_top), pooling=pooling, classes=classes,
            classifier_activation=classifier_activation, head=head, is_open=True,
            origin=lambda has_top: (f"{STORE}/mobilenet_v3/weights_mobilenet_v3_{kind}"
                                    f"{'' if has_top else '_no_top_v2'}.h5"))
    build.__name__ = build.__qualname__ = title
    build.__doc__ = DOC.format(title=f"{title}; `alpha` scales widths, `minimalistic` leaves out what is dear")
    return build


MobileNetV3Small = _make("MobileNetV3Small", SMALL, 1024)
MobileNetV3Large = _make("MobileNetV3Large", LARGE, 1280)
