"""MobileNetV2: narrow tensors between blocks that widen them, convolve single channels, and narrow them again."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.frame import DOC, STORE, channel_axis, helpers, network, norm
from dragon.vm.keras.applications.mobilenet import axis, rows_of, size_of

BLOCKS = ((16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1), (64, 1), (96, 1), (96, 1),
          (96, 1), (160, 2), (160, 1), (160, 1), (320, 1))
SIZES, ALPHAS = (96, 128, 160, 192, 224), (0.35, 0.50, 0.75, 1.0, 1.3, 1.4)


def make_divisible(value, divisor, least=None):
    """Return a number near another one that can be divided, and is not much smaller."""
    made = max(least or divisor, int(value + divisor / 2) // divisor * divisor)
    return made + divisor if made < 0.9 * value else made


def _norm(x, name):
    return norm(x, name, axis=axis(), epsilon=1e-3, momentum=0.999)


def _relu6(x, name):
    return layers.ReLU(6.0, name=name)(x)


def _block(inputs, width, stride, alpha, number):
    channels = inputs.shape[channel_axis()]
    width = make_divisible(int(width * alpha), 8)
    x, prefix = inputs, f"block_{number}_" if number else "expanded_conv_"
    if number:
        x = layers.Conv2D(6 * channels, kernel_size=1, padding="same", use_bias=False, activation=None,
                          name=f"{prefix}expand")(x)
        x = _relu6(_norm(x, f"{prefix}expand_BN"), f"{prefix}expand_relu")
    if stride == 2:
        x = layers.ZeroPadding2D(padding=imagenet_utils.correct_pad(x, 3), name=f"{prefix}pad")(x)
    x = layers.DepthwiseConv2D(kernel_size=3, strides=stride, activation=None, use_bias=False,
                               padding="same" if stride == 1 else "valid", name=f"{prefix}depthwise")(x)
    x = _relu6(_norm(x, f"{prefix}depthwise_BN"), f"{prefix}depthwise_relu")
    x = layers.Conv2D(width, kernel_size=1, padding="same", use_bias=False, activation=None,
                      name=f"{prefix}project")(x)
    x = _norm(x, f"{prefix}project_BN")
    return layers.Add(name=f"{prefix}add")([inputs, x]) if channels == width and stride == 1 else x


def _head(x, classes, activation):
    x = layers.GlobalAveragePooling2D()(x)
    return layers.Dense(classes, activation=activation, name="predictions")(x)


def MobileNetV2(input_shape=None, alpha=1.0, include_top=True, weights="imagenet", input_tensor=None, pooling=None,
                classes=1000, classifier_activation="softmax", name=None):
    if weights == "imagenet" and alpha not in ALPHAS:
        raise ValueError("If imagenet weights are being loaded, alpha must be one of `0.35`, `0.50`, `0.75`, `1.0`, "
                         f"`1.3` or `1.4` only; Received `alpha={alpha}`")

    def body(x):
        x = layers.Conv2D(make_divisible(32 * alpha, 8), kernel_size=3, strides=(2, 2), padding="same",
                          use_bias=False, name="Conv1")(x)
        x = _relu6(_norm(x, "bn_Conv1"), "Conv1_relu")
        for number, (width, stride) in enumerate(BLOCKS):
            x = _block(x, width, stride, alpha, number)
        last = make_divisible(1280 * alpha, 8) if alpha > 1.0 else 1280
        x = layers.Conv2D(last, kernel_size=1, use_bias=False, name="Conv_1")(x)
        return _relu6(_norm(x, "Conv_1_bn"), "out_relu")
    if input_shape is None and input_tensor is not None:
        size = size_of(tuple(input_tensor.shape)[1:], SIZES)
    else:
        size = size_of(input_shape, SIZES)
    return network(
        body, name=name or (lambda shape: f"mobilenetv2_{alpha:0.2f}_{rows_of(shape)}"), include_top=include_top,
        weights=weights, input_tensor=input_tensor, input_shape=input_shape, pooling=pooling, classes=classes,
        classifier_activation=classifier_activation, default_size=size, head=_head, pool_names=(None, None),
        origin=lambda has_top: (f"{STORE}/mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{float(alpha)}_"
                                f"{size}{'' if has_top else '_no_top'}.h5"))


MobileNetV2.__doc__ = DOC.format(title="MobileNetV2; `alpha` scales widths")
preprocess_input, decode_predictions = helpers("tf")
