"""EfficientNetV2: the first stages convolve all channels at once, the later ones as EfficientNet does."""
import math

from dragon.vm.keras import initializers, layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.efficientnet import CONVOLUTION, DENSE, STORE, squeeze
from dragon.vm.keras.applications.frame import DOC, channel_axis, network, norm

decode_predictions = imagenet_utils.decode_predictions

# Of each stage: repetitions, width in, width out, expansion, stride, whether all channels are convolved at once.
_B = ((1, 32, 16, 1, 1, 1), (2, 16, 32, 4, 2, 1), (2, 32, 48, 4, 2, 1), (3, 48, 96, 4, 2, 0), (5, 96, 112, 6, 1, 0),
      (8, 112, 192, 6, 2, 0))
STAGES = {
    "s": ((2, 24, 24, 1, 1, 1), (4, 24, 48, 4, 2, 1), (4, 48, 64, 4, 2, 1), (6, 64, 128, 4, 2, 0),
          (9, 128, 160, 6, 1, 0), (15, 160, 256, 6, 2, 0)),
    "m": ((3, 24, 24, 1, 1, 1), (5, 24, 48, 4, 2, 1), (5, 48, 80, 4, 2, 1), (7, 80, 160, 4, 2, 0),
          (14, 160, 176, 6, 1, 0), (18, 176, 304, 6, 2, 0), (5, 304, 512, 6, 1, 0)),
    "l": ((4, 32, 32, 1, 1, 1), (7, 32, 64, 4, 2, 1), (7, 64, 96, 4, 2, 1), (10, 96, 192, 4, 2, 0),
          (19, 192, 224, 6, 1, 0), (25, 224, 384, 6, 2, 0), (7, 384, 640, 6, 1, 0)),
    "b0": _B, "b1": _B, "b2": _B, "b3": _B,
}
# Width, depth, size of images.
SIZES = {"b0": (1.0, 1.0, 224), "b1": (1.0, 1.1, 240), "b2": (1.1, 1.2, 260), "b3": (1.2, 1.4, 300),
         "s": (1.0, 1.0, 384), "m": (1.0, 1.0, 480), "l": (1.0, 1.0, 480)}
DROPOUT, DROP_CONNECT = 0.2, 0.2


def preprocess_input(x, data_format=None):
    """Return the images as they are: the network scales them itself."""
    return x


def _scaled(width, factor):
    return int(max(8, int(width * factor + 4) // 8 * 8))


def _conv(x, width, kernel, name, stride=1):
    return layers.Conv2D(width, kernel_size=kernel, strides=stride, kernel_initializer=CONVOLUTION, padding="same",
                         use_bias=False, name=name)(x)


def _norm(x, name):
    return norm(x, name, momentum=0.9)


def _active(x, bn_name, name):
    return layers.Activation("swish", name=name)(_norm(x, bn_name))


def _block(inputs, width_in, width_out, expansion, stride, is_fused, drop, name):
    x, width = inputs, width_in * expansion
    if is_fused:
        if expansion != 1:
            x = _conv(x, width, 3, f"{name}expand_conv", stride)
            x = _active(x, f"{name}expand_bn", f"{name}expand_activation")
        x = _conv(x, width_out, 1 if expansion != 1 else 3, f"{name}project_conv", 1 if expansion != 1 else stride)
        x = _norm(x, f"{name}project_bn")
        if expansion == 1:
            x = layers.Activation("swish", name=f"{name}project_activation")(x)
    else:
        if expansion != 1:
            x = _active(_conv(x, width, 1, f"{name}expand_conv"), f"{name}expand_bn", f"{name}expand_activation")
        x = layers.DepthwiseConv2D(kernel_size=3, strides=stride, depthwise_initializer=CONVOLUTION, padding="same",
                                   use_bias=False, name=f"{name}dwconv2")(x)
        x = squeeze(_active(x, f"{name}bn", f"{name}activation"), width_in, width, name)
        x = _norm(_conv(x, width_out, 1, f"{name}project_conv"), f"{name}project_bn")
    if stride == 1 and width_in == width_out:
        if drop:
            x = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        x = layers.add([x, inputs], name=f"{name}add")
    return x


def _preprocess(x, kind):
    """Return images of numbers from 0 to 255 as the network was trained with them."""
    if kind.startswith("b") and x.shape[channel_axis()] == 3:
        x = layers.Rescaling(scale=1.0 / 255)(x)
        return layers.Normalization(mean=imagenet_utils.MEANS, variance=[d ** 2 for d in imagenet_utils.DEVIATIONS],
                                    axis=channel_axis())(x)
    return layers.Rescaling(scale=1.0 / 128.0, offset=-1)(x)


def _make(kind):
    wide, deep, size = SIZES[kind]
    stages = STAGES[kind]

    def head(x, classes, activation):
        x = layers.Dropout(DROPOUT, name="top_dropout")(layers.GlobalAveragePooling2D(name="avg_pool")(x))
        return layers.Dense(classes, activation=activation, kernel_initializer=DENSE,
                            bias_initializer=initializers.Constant(0.0), name="predictions")(x)

    def build(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", include_preprocessing=True, name=f"efficientnetv2-{kind}"):
        def body(x):
            x = _preprocess(x, kind) if include_preprocessing else x
            x = _conv(x, _scaled(stages[0][1], wide), 3, "stem_conv", 2)
            x, made = _active(x, "stem_bn", "stem_activation"), 0
            for place, (count, width_in, width_out, expansion, stride, is_fused) in enumerate(stages, 1):
                width_in, width_out = _scaled(width_in, wide), _scaled(width_out, wide)
                for again in range(int(math.ceil(deep * count))):
                    drop = DROP_CONNECT * made / float(sum(stage[0] for stage in stages))
                    x = _block(x, width_out if again else width_in, width_out, expansion, 1 if again else stride,
                               is_fused, drop, f"block{place}{chr(97 + again)}_")
                    made += 1
            return _active(_conv(x, _scaled(1280, wide), 1, "top_conv"), "top_bn", "top_activation")
        return network(
            body, name=name, include_top=include_top, weights=weights, input_tensor=input_tensor,
            input_shape=input_shape, pooling=pooling, classes=classes, classifier_activation=classifier_activation,
            default_size=size, head=head, origin=lambda has_top: (
                f"{STORE.replace('storage.googleapis.com/', 'storage.googleapis.com/tensorflow/')}efficientnet_v2/"
                f"efficientnetv2-{kind}{'' if has_top else '_notop'}.h5"))
    build.__name__ = build.__qualname__ = f"EfficientNetV2{kind.upper()}"
    build.__doc__ = DOC.format(title=build.__name__)
    return build


(EfficientNetV2B0, EfficientNetV2B1, EfficientNetV2B2, EfficientNetV2B3, EfficientNetV2S, EfficientNetV2M,
 EfficientNetV2L) = map(_make, ("b0", "b1", "b2", "b3", "s", "m", "l"))
