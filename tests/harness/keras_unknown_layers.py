"""Keras layers and the shapes that they are called with, for what is inferred where sizes are unknown."""

IMAGE, SERIES, VOLUME, ROWS = (2, 8, 8, 4), (2, 8, 4), (2, 4, 4, 4, 3), (2, 6)


class LayerRow:
    """A layer, and the shapes of its arguments.

    Parameters
    ----------
    name : str
        The class.
    *shapes
        Of the inputs; a list where there are several.
    dtype : str, optional, default="float32"
        Of the inputs.
    **kwargs
        Arguments of the class.

    """

    def __init__(self, name, *shapes, dtype="float32", **kwargs):
        self.name, self.shapes, self.dtype, self.kwargs = name, shapes, dtype, kwargs

    def __repr__(self):
        shown = [str(shape).replace(" ", "") for shape in self.shapes]
        shown += [name if callable(value) else f"{name}={value}" for name, value in self.kwargs.items()]
        return f"{self.name}({','.join(shown)})"

    def make(self, keras):
        """Return the layer."""
        made = {name: value(keras) if callable(value) else value for name, value in self.kwargs.items()}
        return getattr(keras.layers, self.name)(**made)


def _each(names, *shapes, **kwargs):
    return [LayerRow(name, *shapes, **kwargs) for name in names.split()]


def _pools(kind):
    return [row for rank, shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)) for row in (
        LayerRow(f"{kind}Pooling{rank}D", shape, pool_size=2),
        LayerRow(f"{kind}Pooling{rank}D", shape, pool_size=2, padding="same", strides=1),
        LayerRow(f"Global{kind}Pooling{rank}D", shape), LayerRow(f"Global{kind}Pooling{rank}D", shape, keepdims=True))]


_CONVOLUTIONS = [row for rank, shape in ((1, SERIES), (2, IMAGE), (3, VOLUME)) for row in (
    LayerRow(f"Conv{rank}D", shape, filters=5, kernel_size=3),
    LayerRow(f"Conv{rank}D", shape, filters=5, kernel_size=3, strides=2, padding="same"),
    LayerRow(f"Conv{rank}DTranspose", shape, filters=5, kernel_size=3, strides=2),
    LayerRow(f"Conv{rank}DTranspose", shape, filters=5, kernel_size=2, strides=2, padding="same"),
    LayerRow(f"UpSampling{rank}D", shape, size=2), LayerRow(f"ZeroPadding{rank}D", shape),
    LayerRow(f"Cropping{rank}D", shape), *([] if rank == 3 else [
        LayerRow(f"DepthwiseConv{rank}D", shape, kernel_size=3, depth_multiplier=2),
        LayerRow(f"SeparableConv{rank}D", shape, filters=5, kernel_size=3, padding="same")]))]
_MERGES = [row for name in "Add Subtract Multiply Average Maximum Minimum".split() for row in (
    LayerRow(name, [SERIES, SERIES]), LayerRow(name, [SERIES, (2, 1, 4)]), LayerRow(name, [SERIES, (1, 8, 1)]))]
ROWS_OF_LAYERS = [
    *_each("Activation", SERIES, activation="relu"),
    *_each("ReLU LeakyReLU ELU PReLU Softmax Identity ActivityRegularization Flatten Dropout GaussianNoise "
           "AlphaDropout GaussianDropout LayerNormalization RMSNormalization UnitNormalization "
           "BatchNormalization", SERIES),
    *_each("Flatten BatchNormalization", IMAGE),
    LayerRow("GroupNormalization", IMAGE, groups=2), LayerRow("Normalization", SERIES, mean=0.0, variance=1.0),
    LayerRow("SpectralNormalization", SERIES, layer=lambda keras: keras.layers.Dense(5)),
    *_each("SpatialDropout1D", SERIES, rate=0.1), *_each("SpatialDropout2D", IMAGE, rate=0.1),
    *_each("SpatialDropout3D", VOLUME, rate=0.1),
    LayerRow("Dense", SERIES, units=5), LayerRow("Dense", ROWS, units=5),
    LayerRow("EinsumDense", SERIES, equation="abc,cd->abd", output_shape=(None, 5)),
    LayerRow("EinsumDense", SERIES, equation="abc,cd->abd", output_shape=(8, 5)),
    LayerRow("Embedding", ROWS, dtype="int32", input_dim=9, output_dim=3),
    LayerRow("ReversibleEmbedding", ROWS, dtype="int32", input_dim=9, output_dim=3),
    LayerRow("Masking", SERIES), LayerRow("Rescaling", IMAGE, scale=2.0),
    LayerRow("Reshape", SERIES, target_shape=(4, 8)), LayerRow("Reshape", SERIES, target_shape=(-1, 2)),
    LayerRow("Permute", SERIES, dims=(2, 1)), LayerRow("RepeatVector", ROWS, n=3),
    *_CONVOLUTIONS, *_pools("Max"), *_pools("Average"), *_MERGES,
    *_each("AdaptiveAveragePooling1D AdaptiveMaxPooling1D", SERIES, output_size=2),
    *_each("AdaptiveAveragePooling2D AdaptiveMaxPooling2D", IMAGE, output_size=2),
    *_each("AdaptiveAveragePooling3D AdaptiveMaxPooling3D", VOLUME, output_size=2),
    LayerRow("Concatenate", [SERIES, SERIES]), LayerRow("Concatenate", [SERIES, (2, 3, 4)], axis=1),
    LayerRow("Dot", [SERIES, SERIES], axes=1), LayerRow("Dot", [SERIES, (2, 5, 4)], axes=2),
    *_each("Attention AdditiveAttention", [SERIES, (2, 5, 4)]),
    LayerRow("MultiHeadAttention", SERIES, (2, 5, 4), num_heads=2, key_dim=3),
    LayerRow("GroupQueryAttention", SERIES, (2, 5, 4), num_query_heads=4, num_key_value_heads=2, head_dim=3),
    *_each("LSTM GRU SimpleRNN", SERIES, units=3), *_each("LSTM GRU SimpleRNN", SERIES, units=3, return_sequences=True),
    LayerRow("LSTM", SERIES, units=3, return_state=True),
    LayerRow("Bidirectional", SERIES, layer=lambda keras: keras.layers.LSTM(3, return_sequences=True)),
    LayerRow("TimeDistributed", (2, 5, 8, 8, 3), layer=lambda keras: keras.layers.Conv2D(4, 3)),
    LayerRow("TimeDistributed", SERIES, layer=lambda keras: keras.layers.Dense(5)),
    LayerRow("ConvLSTM1D", (2, 5, 8, 3), filters=4, kernel_size=3),
    LayerRow("ConvLSTM2D", (2, 5, 8, 8, 3), filters=4, kernel_size=3, return_sequences=True),
    LayerRow("ConvLSTM3D", (2, 3, 5, 5, 5, 2), filters=2, kernel_size=3, padding="same"),
    LayerRow("Lambda", SERIES, function=lambda keras: lambda x: x * 2.0),
    LayerRow("CenterCrop", IMAGE, height=4, width=4), LayerRow("Resizing", IMAGE, height=5, width=3),
    LayerRow("RandomFlip", IMAGE), LayerRow("RandomRotation", IMAGE, factor=0.1),
    LayerRow("RandomZoom", IMAGE, height_factor=0.1), LayerRow("RandomContrast", IMAGE, factor=0.1),
    LayerRow("RandomTranslation", IMAGE, height_factor=0.1, width_factor=0.1),
    LayerRow("RandomCrop", IMAGE, height=4, width=4), LayerRow("RandomBrightness", IMAGE, factor=0.1),
    LayerRow("MelSpectrogram", (2, 4000)), LayerRow("STFTSpectrogram", (2, 40, 1), frame_length=8, frame_step=4),
    LayerRow("CategoryEncoding", ROWS, dtype="int32", num_tokens=5),
    LayerRow("Discretization", ROWS, bin_boundaries=[0.0, 1.0]), LayerRow("Hashing", ROWS, dtype="int32", num_bins=3),
    LayerRow("IntegerLookup", ROWS, dtype="int64", vocabulary=[1, 2, 3]),
    LayerRow("Pipeline", IMAGE, layers=lambda keras: [keras.layers.Rescaling(2.0)]),
]
