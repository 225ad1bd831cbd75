"""EfficientNet: one network at eight sizes, its depth, width and images growing together."""
import math

from dragon.vm.keras import layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.frame import application, channel_axis, helpers, norm

# Kernel, repetitions, widths in and out, expansion, stride.
BLOCKS = ((3, 1, 32, 16, 1, 1), (3, 2, 16, 24, 6, 2), (5, 2, 24, 40, 6, 2), (3, 3, 40, 80, 6, 2),
          (5, 3, 80, 112, 6, 1), (5, 4, 112, 192, 6, 2), (3, 1, 192, 320, 6, 1))
# Width, depth, size of images, dropout.
SIZES = ((1.0, 1.0, 224, 0.2), (1.0, 1.1, 240, 0.2), (1.1, 1.2, 260, 0.3), (1.2, 1.4, 300, 0.3),
         (1.4, 1.8, 380, 0.4), (1.6, 2.2, 456, 0.4), (1.8, 2.6, 528, 0.5), (2.0, 3.1, 600, 0.5))
CONVOLUTION = {"class_name": "VarianceScaling",
               "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}
DENSE = {"class_name": "VarianceScaling",
         "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}
STORE = "https://storage.googleapis.com/keras-applications/"
DROP_CONNECT, SQUEEZE = 0.2, 0.25


def _scaled(width, factor):
    width *= factor
    made = max(8, int(width + 4) // 8 * 8)
    return int(made + 8 if made < 0.9 * width else made)


def _conv(x, width, kernel, name, **options):
    return layers.Conv2D(width, kernel, kernel_initializer=CONVOLUTION, name=name,
                         **{"padding": "same", "use_bias": False, **options})(x)


def _active(x, bn_name, name):
    return layers.Activation("swish", name=name)(norm(x, bn_name))


def squeeze(x, width_in, width, name):
    """Return a tensor whose channels are weighted by what the whole image says."""
    shape = (1, 1, width) if channel_axis() == 3 else (width, 1, 1)
    told = layers.Reshape(shape, name=f"{name}se_reshape")(layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(x))
    told = _conv(told, max(1, int(width_in * SQUEEZE)), 1, f"{name}se_reduce", activation="swish", use_bias=True)
    told = _conv(told, width, 1, f"{name}se_expand", activation="sigmoid", use_bias=True)
    return layers.multiply([x, told], name=f"{name}se_excite")


def _block(inputs, kernel, width_in, width_out, expansion, stride, drop, name):
    width, x = width_in * expansion, inputs
    if expansion != 1:
        x = _active(_conv(x, width, 1, f"{name}expand_conv"), f"{name}expand_bn", f"{name}expand_activation")
    if stride == 2:
        x = layers.ZeroPadding2D(padding=imagenet_utils.correct_pad(x, kernel), name=f"{name}dwconv_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False,
                               depthwise_initializer=CONVOLUTION, name=f"{name}dwconv")(x)
    x = squeeze(_active(x, f"{name}bn", f"{name}activation"), width_in, width, name)
    x = norm(_conv(x, width_out, 1, f"{name}project_conv"), f"{name}project_bn")
    if stride == 1 and width_in == width_out:
        if drop > 0:
            x = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        x = layers.add([x, inputs], name=f"{name}add")
    return x


def _stem(x, weights, width):
    """Return the first convolution of images of numbers from 0 to 255."""
    x = layers.Normalization(axis=channel_axis())(layers.Rescaling(1.0 / 255.0)(x))
    if weights == "imagenet":  # these weights were trained with a division by variances
        x = layers.Rescaling([1.0 / math.sqrt(deviation) for deviation in imagenet_utils.DEVIATIONS])(x)
    x = layers.ZeroPadding2D(padding=imagenet_utils.correct_pad(x, 3), name="stem_conv_pad")(x)
    return _active(_conv(x, width, 3, "stem_conv", strides=2, padding="valid"), "stem_bn", "stem_activation")


def _make(number):
    wide, deep, size, dropout = SIZES[number]
    counts = [int(math.ceil(deep * block[1])) for block in BLOCKS]

    def make_body(weights):
        def body(x):
            x, made = _stem(x, weights, _scaled(32, wide)), 0
            for place, (kernel, _, width_in, width_out, expansion, stride) in enumerate(BLOCKS):
                width_in, width_out = _scaled(width_in, wide), _scaled(width_out, wide)
                for again in range(counts[place]):
                    x = _block(x, kernel, width_out if again else width_in, width_out, expansion,
                               1 if again else stride, DROP_CONNECT * made / float(sum(counts)),
                               f"block{place + 1}{chr(97 + again)}_")
                    made += 1
            return _active(_conv(x, _scaled(1280, wide), 1, "top_conv"), "top_bn", "top_activation")
        return body

    def head(x, classes, activation):
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = layers.Dropout(dropout, name="top_dropout")(x)
        return layers.Dense(classes, activation=activation, kernel_initializer=DENSE, name="predictions")(x)
    name = f"efficientnetb{number}"
    return application(
        f"EfficientNetB{number}", name, make_body, default_size=size, head=head,
        origin=lambda has_top: f"{STORE}{name}{'' if has_top else '_notop'}.h5")


(EfficientNetB0, EfficientNetB1, EfficientNetB2, EfficientNetB3, EfficientNetB4, EfficientNetB5, EfficientNetB6,
 EfficientNetB7) = map(_make, range(8))
decode_predictions = helpers("tf")[1]


def preprocess_input(x, data_format=None):
    """Return the images as they are: the network scales them itself."""
    return x
