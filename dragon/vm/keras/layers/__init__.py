"""Keras's layers, each imported when its name is first asked for."""
from dragon.vm.guest import lookup

# Where names live, by folder or file: a layer is found without any other being read.
PLACES = {
    "activations": "Activation ELU LeakyReLU PReLU ReLU Softmax",
    "attention": "AdditiveAttention Attention GroupQueryAttention MultiHeadAttention",
    "convolutional": "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D "
                     "Convolution1DTranspose Convolution2D Convolution2DTranspose Convolution3D "
                     "Convolution3DTranspose DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D "
                     "SeparableConvolution1D SeparableConvolution2D",
    "core": "Dense EinsumDense Embedding Lambda Masking ReversibleEmbedding",
    "core.identity": "Identity",
    "core.input_layer": "Input InputLayer",
    "core.module_wrapper": "TorchModuleWrapper",
    "core.wrapper": "Wrapper",
    "input_spec": "InputSpec",
    "layer": "Layer",
    "merging": "Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate dot maximum "
               "minimum multiply subtract",
    "normalization": "BatchNormalization GroupNormalization LayerNormalization RMSNormalization "
                     "SpectralNormalization UnitNormalization",
    "pooling": "AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D "
               "AdaptiveMaxPooling2D AdaptiveMaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D "
               "AvgPool1D AvgPool2D AvgPool3D GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D "
               "GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D "
               "GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D MaxPool1D MaxPool2D MaxPool3D MaxPooling1D "
               "MaxPooling2D MaxPooling3D",
    "preprocessing": "CategoryEncoding Discretization HashedCrossing Hashing IntegerLookup MelSpectrogram "
                     "Normalization Pipeline Rescaling STFTSpectrogram StringLookup TextVectorization",
    "preprocessing.image_preprocessing":
        "AugMix AutoContrast CenterCrop ContrastLimitedAdaptiveHistogramEqualization CutMix Equalization "
        "MaxNumBoundingBoxes MixUp RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter "
        "RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur "
        "RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation "
        "RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom Resizing Solarization",
    "regularization": "ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise SpatialDropout1D "
                      "SpatialDropout2D SpatialDropout3D",
    "reshaping": "Cropping1D Cropping2D Cropping3D Flatten Permute RepeatVector Reshape UpSampling1D UpSampling2D "
                 "UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D",
    "rnn": "Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D GRU GRUCell LSTM LSTMCell RNN SimpleRNN SimpleRNNCell "
           "StackedRNNCells TimeDistributed",
    "serialization": "deserialize serialize",
}
# What needs another framework at hand.
ABSENT = {"FlaxLayer": "JAX and Flax", "JaxLayer": "JAX"}
_find, __dir__ = lookup(globals(), {**{f".{place}": names for place, names in PLACES.items()},
                                    "dragon.vm.tensorflow.core.saved_model.layer": "TFSMLayer"})


def __getattr__(name):
    if name in ABSENT:
        raise AttributeError(f"keras.layers.{name} is not supported by Dragon: it needs {ABSENT[name]}")
    return _find(name)
