"""The parts that networks have in common: their arguments, their inputs, their heads, the numbers of a file."""
import os

from dragon.vm.keras import layers
from dragon.vm.keras.applications import imagenet_utils
from dragon.vm.keras.core import config
from dragon.vm.keras.core.graph_files import get_source_inputs
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.models.functional import Functional

DOC = """Return {title}.

    Parameters
    ----------
    include_top : bool, optional, default=True
        Whether the classifier is there.
    weights : str, optional, default="imagenet"
        None for weights that are drawn, a path of a file of weights, or "imagenet", which is downloaded.
    input_tensor : KerasTensor, optional
        What the network begins with.
    input_shape : Sequence[int], optional
        The shape of images without the batch.
    pooling : str, optional
        Without the classifier: "avg" or "max" pools the features, None leaves their map.
    classes : int, optional, default=1000
        How many classes there are.
    classifier_activation : Union[str, Callable], optional, default="softmax"
        What follows the classifier's sum.
    name : str, optional
        The name of the model.

    """


def channel_axis():
    """Return the axis of channels, as norms and joins are told it."""
    return 3 if config.image_data_format() == "channels_last" else 1


def norm(x, name=None, axis=None, **options):
    """Return a batch norm of a tensor over its channels."""
    return layers.BatchNormalization(axis=channel_axis() if axis is None else axis, name=name, **options)(x)


def classify(x, classes, activation, **options):
    """Return the usual head: an average over places, and a dense layer."""
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    return layers.Dense(classes, activation=activation, name="predictions", **options)(x)


def check_arguments(include_top, weights, classes, activation):
    """Raise ValueError unless the arguments fit the weights."""
    if weights not in ("imagenet", None) and not os.path.exists(weights):
        raise ValueError("The `weights` argument should be either `None` (random initialization), 'imagenet' "
                         "(pre-training on ImageNet), or the path to the weights file to be loaded.  Received: "
                         f"weights={weights}")
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError("If using `weights='imagenet'` with `include_top=True`, `classes` should be 1000.  "
                         f"Received classes={classes}")
    if weights is not None and include_top and activation not in (None, "softmax", "linear"):
        raise ValueError("Only `None` and `softmax` activations are allowed for the `classifier_activation` argument "
                         "when using pretrained weights, with `include_top=True`; Received: "
                         f"classifier_activation={activation}")


def network(body, *, name, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
            default_size=224, min_size=32, head=classify, pool_names=("avg_pool", "max_pool"), origin=None,
            is_open=False, tail=None):
    """Return a network.

    Parameters
    ----------
    body : Callable
        Makes features of images: takes a symbolic tensor.
    name : Union[str, Callable]
        The name of the model, or what makes it of the shape of images.
    default_size : int, optional, default=224
        The size that the network was made for.
    min_size : int, optional, default=32
        The least size.
    head : Callable, optional
        Makes classes of features: takes them, the number of classes and an activation.
    pool_names : Tuple[str, str], optional
        The names of pools without a classifier.
    origin : Callable, optional
        Takes `include_top`, returns where weights of ImageNet are.
    is_open : bool, optional, default=False
        Whether the head takes images of all sizes.
    tail : Layer, optional
        What comes last.
    include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation : Any
        What the user asked for.

    """
    check_arguments(include_top, weights, classes, classifier_activation)
    input_shape = imagenet_utils.obtain_input_shape(
        input_shape, default_size, min_size, config.image_data_format(), include_top and not is_open, weights)
    if isinstance(input_tensor, KerasTensor):
        image = input_tensor
    else:
        image = layers.Input(shape=input_shape, tensor=input_tensor)
    x = body(image)
    if include_top:
        x = head(x, classes, classifier_activation)
    elif pooling == "avg":
        x = layers.GlobalAveragePooling2D(name=pool_names[0])(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D(name=pool_names[1])(x)
    if tail is not None:
        x = tail(x)
    inputs = image if input_tensor is None else get_source_inputs(input_tensor)
    model = Functional(inputs, x, name=name(input_shape) if callable(name) else name)
    if weights == "imagenet":
        url = origin(include_top)
        model.load_weights(imagenet_utils.fetch(url.rpartition("/")[2], url))
    elif weights is not None:
        model.load_weights(weights)
    return model


def application(title, name, make_body, **fixed):
    """Return a function that makes a network.

    Parameters
    ----------
    title : str
        The name of the function.
    name : str
        The name of its models.
    make_body : Callable
        Takes the argument `weights`, returns the body.
    **fixed : Any
        Further arguments of `network`.

    """
    def build(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", name=name):
        return network(make_body(weights), name=name, include_top=include_top, weights=weights,
                       input_tensor=input_tensor, input_shape=input_shape, pooling=pooling, classes=classes,
                       classifier_activation=classifier_activation, **fixed)
    build.__name__ = build.__qualname__ = title
    build.__doc__ = DOC.format(title=title)
    return build


def helpers(mode):
    """Return the two functions that a network's module has besides: `preprocess_input` and `decode_predictions`."""
    def preprocess_input(x, data_format=None):
        return imagenet_utils.preprocess_input(x, data_format=data_format, mode=mode)
    preprocess_input.__doc__ = "Return images of numbers from 0 to 255 as the network was trained with them."
    return preprocess_input, imagenet_utils.decode_predictions


STORE = "https://storage.googleapis.com/tensorflow/keras-applications"


def stored(folder, stem):
    """Return what tells where weights of ImageNet are."""
    return lambda include_top: (f"{STORE}/{folder}/{stem}_weights_tf_dim_ordering_tf_kernels"
                                f"{'' if include_top else '_notop'}.h5")
