"""ConvNeXt: convolutions of large kernels in blocks that are built as those of transformers."""
from dragon.vm.keras import initializers, layers, ops, random
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.applications.frame import DOC, STORE, network
from dragon.vm.keras.core import config
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.models.sequential import Sequential

decode_predictions = imagenet_utils.decode_predictions

# Blocks and widths of the four stages.
KINDS = {"Tiny": ((3, 3, 9, 3), 96), "Small": ((3, 3, 27, 3), 96), "Base": ((3, 3, 27, 3), 128),
         "Large": ((3, 3, 27, 3), 192), "XLarge": ((3, 3, 27, 3), 256)}
EPSILON, SCALE = 1e-6, 1e-6


def preprocess_input(x, data_format=None):
    """Return the images as they are: the network scales them itself."""
    return x


class StochasticDepth(Layer):
    """Leave out a whole block for some images in training.

    Parameters
    ----------
    drop_path_rate : float
        How often.

    """

    def __init__(self, drop_path_rate, **kwargs):
        super().__init__(**kwargs)
        self.drop_path_rate = drop_path_rate

    def call(self, x, training=None):
        """Return the block's result, or nothing of it."""
        if not training:
            return x
        kept = 1 - self.drop_path_rate
        shape = (ops.shape(x)[0],) + (1,) * (len(x.shape) - 1)
        return (x / kept) * ops.floor(kept + random.uniform(shape, 0, 1))


class LayerScale(Layer):
    """Multiply every channel by a weight that is small at first.

    Parameters
    ----------
    init_values : float
        The first weight.
    projection_dim : int
        The channels.

    """

    def __init__(self, init_values, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape):
        """Make the weights."""
        self.gamma = self.add_weight(shape=(self.projection_dim,), trainable=True,
                                     initializer=initializers.Constant(self.init_values))

    def call(self, x):
        """Return the scaled channels."""
        return x * self.gamma


def _block(inputs, width, name):
    x = layers.Conv2D(filters=width, kernel_size=7, padding="same", groups=width, name=f"{name}_depthwise_conv")(inputs)
    x = layers.LayerNormalization(epsilon=EPSILON, name=f"{name}_layernorm")(x)
    x = layers.Activation("gelu", name=f"{name}_gelu")(layers.Dense(4 * width, name=f"{name}_pointwise_conv_1")(x))
    x = layers.Dense(width, name=f"{name}_pointwise_conv_2")(x)
    x = LayerScale(SCALE, width, name=f"{name}_layer_scale")(x)
    return inputs + layers.Activation("linear", name=f"{name}_identity")(x)


def _normalize(x, name):
    return layers.Normalization(mean=[mean * 255 for mean in imagenet_utils.MEANS],
                                variance=[(deviation * 255) ** 2 for deviation in imagenet_utils.DEVIATIONS],
                                name=f"{name}_prestem_normalization")(x)


def _entries(widths, name):
    """Return what stands before the stages: convolutions that shrink images."""
    stem = Sequential([layers.Conv2D(widths[0], kernel_size=4, strides=4, name=f"{name}_stem_conv"),
                       layers.LayerNormalization(epsilon=EPSILON, name=f"{name}_stem_layernorm")], name=f"{name}_stem")
    return [stem, *(Sequential([
        layers.LayerNormalization(epsilon=EPSILON, name=f"{name}_downsampling_layernorm_{number}"),
        layers.Conv2D(width, kernel_size=2, strides=2, name=f"{name}_downsampling_conv_{number}")],
        name=f"{name}_downsampling_block_{number}") for number, width in enumerate(widths[1:]))]


def _make(kind):
    depths, width = KINDS[kind]
    widths = [width * 2 ** number for number in range(4)]

    def build(include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None, input_shape=None,
              pooling=None, classes=1000, classifier_activation="softmax", name=f"convnext_{kind.lower()}"):
        if config.image_data_format() == "channels_first":
            raise ValueError("ConvNeXt does not support the `channels_first` image data format. Received: "
                             "image_data_format=channels_first")

        def body(x):
            if include_preprocessing and x.shape[3] == 3:
                x = _normalize(x, name)
            for stage, entry in enumerate(_entries(widths, name)):
                x = entry(x)
                for block in range(depths[stage]):
                    x = _block(x, widths[stage], f"{name}_stage_{stage}_block_{block}")
            return x

        def head(x, classes, activation):
            x = layers.GlobalAveragePooling2D(name=f"{name}_head_gap")(x)
            x = layers.LayerNormalization(epsilon=EPSILON, name=f"{name}_head_layernorm")(x)
            return layers.Dense(classes, activation=activation, name=f"{name}_head_dense")(x)
        return network(
            body, name=name, include_top=include_top, weights=weights, input_tensor=input_tensor,
            input_shape=input_shape, pooling=pooling, classes=classes, classifier_activation=classifier_activation,
            head=head, pool_names=(None, None), tail=layers.LayerNormalization(epsilon=EPSILON) if not include_top
            else None, origin=lambda has_top: f"{STORE}/convnext/{name}{'' if has_top else '_notop'}.h5")
    build.__name__ = build.__qualname__ = f"ConvNeXt{kind}"
    build.__doc__ = DOC.format(title=build.__name__)
    return build


ConvNeXtTiny, ConvNeXtSmall, ConvNeXtBase, ConvNeXtLarge, ConvNeXtXLarge = map(_make, KINDS)
