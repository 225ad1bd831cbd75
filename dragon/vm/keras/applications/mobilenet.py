"""MobileNet: convolutions of single channels, each followed by one of single places."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import DOC, STORE, channel_axis, helpers, network, norm

BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))
SIZES = (128, 160, 192, 224)
ALPHAS = {0.25: "2_5", 0.50: "5_0", 0.75: "7_5", 1.0: "1_0"}


def axis():
    """Return the axis of channels as this network's norms are told it."""
    return -1 if channel_axis() == 3 else 1


def size_of(input_shape, sizes):
    """Return the size that weights are there for: the images', or 224."""
    if input_shape is None:
        return 224
    rows, columns = input_shape[:2] if channel_axis() == 3 else input_shape[1:]
    return rows if rows == columns and rows in sizes else 224


def rows_of(input_shape):
    """Return the number of rows of images."""
    return input_shape[0 if channel_axis() == 3 else 1]


def _relu6(x, name):
    return layers.ReLU(6.0, name=name)(x)


def _block(x, width, stride, multiplier, number):
    if stride == 2:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = layers.DepthwiseConv2D((3, 3), padding="same" if stride == 1 else "valid", depth_multiplier=multiplier,
                               strides=(stride, stride), use_bias=False, name=f"conv_dw_{number}")(x)
    x = _relu6(norm(x, f"conv_dw_{number}_bn", axis=axis()), f"conv_dw_{number}_relu")
    x = layers.Conv2D(width, (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{number}")(x)
    return _relu6(norm(x, f"conv_pw_{number}_bn", axis=axis()), f"conv_pw_{number}_relu")


def MobileNet(input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3, include_top=True, weights="imagenet",
              input_tensor=None, pooling=None, classes=1000, classifier_activation="softmax", name=None):
    if weights == "imagenet" and (depth_multiplier != 1 or alpha not in ALPHAS):
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1 and alpha one of `0.25`, "
                         f"`0.50`, `0.75` or `1.0`.  Received depth_multiplier={depth_multiplier}, alpha={alpha}")

    def body(x):
        x = layers.Conv2D(int(32 * alpha), (3, 3), padding="same", use_bias=False, strides=(2, 2), name="conv1")(x)
        x = _relu6(norm(x, "conv1_bn", axis=axis()), "conv1_relu")
        for number, (width, stride) in enumerate(BLOCKS, 1):
            x = _block(x, int(width * alpha), stride, depth_multiplier, number)
        return x

    def head(x, classes, activation):
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        return layers.Activation(activation=activation, name="predictions")(x)
    size = size_of(input_shape, SIZES)
    return network(
        body, name=name or (lambda shape: f"mobilenet_{alpha:0.2f}_{rows_of(shape)}"), include_top=include_top,
        weights=weights, input_tensor=input_tensor, input_shape=input_shape, pooling=pooling, classes=classes,
        classifier_activation=classifier_activation, default_size=size, head=head, pool_names=(None, None),
        origin=lambda has_top: (f"{STORE}/mobilenet/mobilenet_{ALPHAS[alpha]}_{size}_tf"
                                f"{'' if has_top else '_no_top'}.h5"))


MobileNet.__doc__ = DOC.format(
    title="MobileNet; `alpha` scales widths, `depth_multiplier` channels of depthwise layers")
preprocess_input, decode_predictions = helpers("tf")
