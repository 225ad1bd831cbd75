"""NASNet: two kinds of cells that were found by a search."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.frame import DOC, STORE, helpers, network, norm
from dragon.vm.keras.core import config
from dragon.vm.keras.core.scopes import name_scope


def _norm(x, name):
    return norm(x, name, axis=-1, momentum=0.9997, epsilon=1e-3)


def _relu(x, name=None):
    return layers.Activation("relu", name=name)(x)


def _conv(x, width, name):
    return layers.Conv2D(width, (1, 1), padding="same", use_bias=False, kernel_initializer="he_normal", name=name)(x)


def _separable(x, width, kernel, name, stride=1):
    """Return two separable convolutions one behind the other."""
    with name_scope(f"separable_conv_block_{name}"):
        x = _relu(x)
        if stride == 2:
            padding = imagenet_utils.correct_pad(x, kernel)
            x = layers.ZeroPadding2D(padding=padding, name=f"separable_conv_1_pad_{name}")(x)
        x = layers.SeparableConv2D(width, (kernel, kernel), strides=(stride, stride), name=f"separable_conv_1_{name}",
                                   padding="valid" if stride == 2 else "same", use_bias=False)(x)
        x = _relu(_norm(x, f"separable_conv_1_bn_{name}"))
        x = layers.SeparableConv2D(width, (kernel, kernel), name=f"separable_conv_2_{name}", padding="same",
                                   use_bias=False)(x)
        return _norm(x, f"separable_conv_2_bn_{name}")


def _adjust(before, x, width, name):
    """Return the result of the cell before the last one in the size and width of this one."""
    with name_scope("adjust_block"):
        if before is None:
            return x
        if before.shape[-2] != x.shape[-2]:
            with name_scope(f"adjust_reduction_block_{name}"):
                before = _relu(before, f"adjust_relu_1_{name}")
                shifted, halves = before, []
                for number in (1, 2):
                    if number == 2:
                        shifted = layers.ZeroPadding2D(padding=((0, 1), (0, 1)))(before)
                        shifted = layers.Cropping2D(cropping=((1, 0), (1, 0)))(shifted)
                    half = layers.AveragePooling2D((1, 1), strides=(2, 2), padding="valid",
                                                   name=f"adjust_avg_pool_{number}_{name}")(shifted)
                    halves.append(_conv(half, width // 2, f"adjust_conv_{number}_{name}"))
                return _norm(layers.concatenate(halves, axis=-1), f"adjust_bn_{name}")
        if before.shape[-1] != width:
            with name_scope(f"adjust_projection_block_{name}"):
                return _norm(_conv(_relu(before), width, f"adjust_conv_projection_{name}"), f"adjust_bn_{name}")
        return before


def _average(x, name):
    return layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)


def _normal(x, before, width, name):
    """Return a cell that keeps the size, and what it saw."""
    with name_scope(f"normal_A_block_{name}"):
        p = _adjust(before, x, width, name)
        h = _norm(_conv(_relu(x), width, f"normal_conv_1_{name}"), f"normal_bn_1_{name}")
        with name_scope("block_1"):
            one = layers.add([_separable(h, width, 5, f"normal_left1_{name}"),
                              _separable(p, width, 3, f"normal_right1_{name}")], name=f"normal_add_1_{name}")
        with name_scope("block_2"):
            two = layers.add([_separable(p, width, 5, f"normal_left2_{name}"),
                              _separable(p, width, 3, f"normal_right2_{name}")], name=f"normal_add_2_{name}")
        with name_scope("block_3"):
            three = layers.add([_average(h, f"normal_left3_{name}"), p], name=f"normal_add_3_{name}")
        with name_scope("block_4"):
            four = layers.add([_average(p, f"normal_left4_{name}"), _average(p, f"normal_right4_{name}")],
                              name=f"normal_add_4_{name}")
        with name_scope("block_5"):
            five = layers.add([_separable(h, width, 3, f"normal_left5_{name}"), h], name=f"normal_add_5_{name}")
        return layers.concatenate([p, one, two, three, four, five], axis=-1, name=f"normal_concat_{name}"), x


def _reduction(x, before, width, name):
    """Return a cell that halves the size, and what it saw."""
    with name_scope(f"reduction_A_block_{name}"):
        p = _adjust(before, x, width, name)
        h = _norm(_conv(_relu(x), width, f"reduction_conv_1_{name}"), f"reduction_bn_1_{name}")
        padded = layers.ZeroPadding2D(padding=imagenet_utils.correct_pad(h, 3), name=f"reduction_pad_1_{name}")(h)

        def pool(kind, place):
            return kind((3, 3), strides=(2, 2), padding="valid", name=f"reduction_{place}_{name}")(padded)
        with name_scope("block_1"):
            one = layers.add([_separable(h, width, 5, f"reduction_left1_{name}", 2),
                              _separable(p, width, 7, f"reduction_right1_{name}", 2)], name=f"reduction_add_1_{name}")
        with name_scope("block_2"):
            two = layers.add([pool(layers.MaxPooling2D, "left2"),
                              _separable(p, width, 7, f"reduction_right2_{name}", 2)], name=f"reduction_add_2_{name}")
        with name_scope("block_3"):
            three = layers.add([pool(layers.AveragePooling2D, "left3"),
                                _separable(p, width, 5, f"reduction_right3_{name}", 2)], name=f"reduction_add3_{name}")
        with name_scope("block_4"):
            four = layers.add([two, _average(one, f"reduction_left4_{name}")])
        with name_scope("block_5"):
            five = layers.add([_separable(one, width, 3, f"reduction_left4_{name}"),
                               pool(layers.MaxPooling2D, "right5")], name=f"reduction_add4_{name}")
        return layers.concatenate([two, three, four, five], axis=-1, name=f"reduction_concat_{name}"), x


def _make_body(last, count, stem, skips):
    """Return the body of a network: its last width, the cells of a stage, the width of its stem."""
    def body(x):
        width = last // 24
        x = layers.Conv2D(stem, (3, 3), strides=(2, 2), padding="valid", use_bias=False, name="stem_conv1",
                          kernel_initializer="he_normal")(x)
        x, before = _norm(x, "stem_bn1"), None
        x, before = _reduction(x, before, width // 4, "stem_1")
        x, before = _reduction(x, before, width // 2, "stem_2")
        for stage in range(3):
            if stage:
                x, seen = _reduction(x, before, width * 2 ** stage, f"reduce_{stage * count}")
                before = before if skips else seen
            for number in range(count):
                x, before = _normal(x, before, width * 2 ** stage, str(stage * count + number + (stage > 0)))
        return _relu(x)
    return body


def _head(x, classes, activation):
    x = layers.GlobalAveragePooling2D()(x)
    return layers.Dense(classes, activation=activation, name="predictions")(x)


def _make(kind, size, *options):
    def build(input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
              classifier_activation="softmax", name=f"nasnet_{kind.lower()}"):
        if config.image_data_format() == "channels_first":
            raise ValueError("NASNet does not support the `channels_first` image data format. Received: "
                             "image_data_format=channels_first")
        if kind == "Mobile" and not include_top and input_shape is None:
            input_shape = (224, 224, 3)
        return network(
            _make_body(*options), name=name, include_top=include_top, weights=weights, input_tensor=input_tensor,
            input_shape=input_shape, pooling=pooling, classes=classes, classifier_activation=classifier_activation,
            default_size=size, head=_head, pool_names=(None, None),
            origin=lambda has_top: f"{STORE}/nasnet/NASNet-{kind.lower()}{'' if has_top else '-no-top'}.h5")
    build.__name__ = build.__qualname__ = f"NASNet{kind}"
    build.__doc__ = DOC.format(title=build.__name__)
    return build


NASNetMobile = _make("Mobile", 224, 1056, 4, 32, False)
NASNetLarge = _make("Large", 331, 4032, 6, 96, True)
preprocess_input, decode_predictions = helpers("tf")
