"""Images as networks of ImageNet want them, and their answers in words."""
import json

from dragon.core import warnings
from dragon.vm.keras import ops
from dragon.vm.keras.core import config
from dragon.vm.keras.core.convert import convert_to_numpy

CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
CAFFE, MEANS, DEVIATIONS = [103.939, 116.779, 123.68], [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def preprocess_input(x, data_format=None, mode="caffe"):
    """Return images of numbers from 0 to 255 as a network was trained with them.

    Parameters
    ----------
    x : Union[numpy.ndarray, Tensor]
        One image or a batch; an array of floats is changed in place.
    data_format : str, optional
        "channels_last" or "channels_first"; the global one without it.
    mode : str, optional, default="caffe"
        "caffe" exchanges red and blue and subtracts means, "tf" scales to -1 to 1, "torch" normalises colours.

    """
    import numpy as np
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}")
    if data_format not in (None, "channels_first", "channels_last"):
        raise ValueError("Expected data_format to be one of `channels_first` or `channels_last`. "
                         f"Received: data_format={data_format}")
    is_array = isinstance(x, np.ndarray)
    if is_array and not issubclass(x.dtype.type, np.floating):
        x = x.astype(config.floatx())
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    axis = len(x.shape) - 3 if config.standardize_data_format(data_format) == "channels_first" else len(x.shape) - 1
    shape = [3 if number == axis else 1 for number in range(len(x.shape))]
    means = CAFFE if mode == "caffe" else MEANS
    if not is_array:
        return _preprocess_tensor(x, mode, axis, shape, means)
    if mode == "torch":
        x /= 255.0
    else:
        x = x[tuple(slice(None, None, -1) if number == axis else slice(None) for number in range(x.ndim))]
    x -= np.array(means, dtype=x.dtype).reshape(shape)
    if mode == "torch":
        x /= np.array(DEVIATIONS, dtype=x.dtype).reshape(shape)
    return x


def _preprocess_tensor(x, mode, axis, shape, means):
    if mode == "torch":
        x = x / 255.0
    else:
        x = ops.flip(x, axis=axis)
    x = x - ops.reshape(ops.convert_to_tensor(means, dtype=x.dtype), shape)
    return x / ops.reshape(ops.convert_to_tensor(DEVIATIONS, dtype=x.dtype), shape) if mode == "torch" else x


_classes = []


def decode_predictions(preds, top=5):
    """Return the likeliest classes of ImageNet as (identifier, word, probability).

    Parameters
    ----------
    preds : Union[numpy.ndarray, Tensor]
        Probabilities of 1000 classes for each image.
    top : int, optional, default=5
        How many classes.

    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError("`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape "
                         f"(samples, 1000)). Received array with shape: {tuple(preds.shape)}")
    if not _classes:
        with open(fetch("imagenet_class_index.json", CLASSES, "c2c37ea517e94d9795004a39431a14cb"),
                  encoding="utf-8") as file:
            _classes.append(json.load(file))
    answers = []
    for row in convert_to_numpy(preds):
        best = row.argsort()[-top:][::-1]
        answers.append([(*_classes[0][str(number)], row[number]) for number in best])
    return answers


def fetch(file_name, origin, file_hash=None):
    """Return the path of a file of ImageNet's, downloaded if it is not there."""
    from dragon.vm.keras import utils
    try:
        get_file = utils.get_file
    except AttributeError:
        raise NotImplementedError(f"Downloads are not there yet in Dragon: fetch {origin} by yourself and pass its "
                                  f"path as `weights`. Received: {file_name}") from None
    return get_file(file_name, origin, cache_subdir="models", file_hash=file_hash)


def obtain_input_shape(input_shape, default_size, min_size, data_format, require_flatten, weights=None):
    """Return the shape of a network's images, checked.

    Parameters
    ----------
    input_shape : Optional[Sequence[int]]
        What was asked for.
    data_format : str
        "channels_last" or "channels_first".
    require_flatten : bool
        Whether sizes must be known.
    weights : str, optional
        "imagenet" for images of three colours.

    """
    is_first = data_format == "channels_first"

    def shape_of(channels, size):
        return (channels, size, size) if is_first else (size, size, channels)
    default = shape_of(3, default_size)
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[0 if is_first else -1]
        if channels not in (1, 3):
            warnings.warn("This model usually expects 1 or 3 input channels. However, it was passed an input_shape "
                          f"with {channels} input channels.")
        default = shape_of(channels, default_size)
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and tuple(input_shape) != default:
            raise ValueError("When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                             f"{default}.  Received: input_shape={input_shape}")
        return default
    if input_shape:
        _check_shape(input_shape, is_first, min_size, weights)
    else:
        input_shape = default if require_flatten else shape_of(3, None)
    if require_flatten and None in input_shape:
        raise ValueError("If `include_top` is True, you should specify a static `input_shape`. "
                         f"Received: input_shape={input_shape}")
    return input_shape


def _check_shape(input_shape, is_first, min_size, weights):
    if len(input_shape) != 3:
        raise ValueError(f"`input_shape` must be a tuple of three integers. Received: input_shape={input_shape}")
    if input_shape[0 if is_first else -1] != 3 and weights == "imagenet":
        raise ValueError(f"The input must have 3 channels; Received `input_shape={input_shape}`")
    sizes = input_shape[1:] if is_first else input_shape[:2]
    if any(size is not None and size < min_size for size in sizes):
        raise ValueError(f"Input size must be at least {min_size}x{min_size}; Received: input_shape={input_shape}")


def correct_pad(inputs, kernel_size):
    """Return the padding that makes a convolution of stride 2 begin at the first pixel, for even and odd sizes."""
    first = 2 if config.image_data_format() == "channels_first" else 1
    height, width = inputs.shape[first:first + 2]
    rows, columns = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    even = (1, 1) if height is None else (1 - height % 2, 1 - width % 2)
    return (rows // 2 - even[0], rows // 2), (columns // 2 - even[1], columns // 2)
