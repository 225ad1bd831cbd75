"""Networks that people know: layers, names, shapes and weights in genuine Keras's order, and the same numbers."""
import numpy as np
import pytest
from harness.keras_programs import check, weights_of
from harness.subresults import each

SMALL = {
    "VGG16": 32, "VGG19": 32, "ResNet50": 32, "ResNet50V2": 32, "MobileNet": 32, "MobileNetV2": 32,
    "EfficientNetB0": 32, "DenseNet121": 32, "Xception": 71,
    "InceptionV3": 75, "MobileNetV3Small": 32, "MobileNetV3Large": 32,
    "InceptionResNetV2": 75, "NASNetMobile": 32, "EfficientNetV2B0": 32, "EfficientNetV2B2": 32, "EfficientNetV2S": 32,
    "ConvNeXtTiny": 32,
}


def describe(model):
    """Return what can be told of a model without numbers."""
    return [model.name, [(layer.name, type(layer).__name__) for layer in model.layers],
            [(weight.path, tuple(weight.shape)) for weight in model.weights], model.output_shape, model.count_params()]


QUICK = ("MobileNet", "MobileNetV3Small")  # the genuine ones of the others take seconds to make


@each("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
               for name in SMALL], size=4)
@pytest.mark.long("whole networks are built, by genuine Keras as well")
def test_structure(name):
    size = SMALL[name]

    def program(keras):
        make = getattr(keras.applications, name)
        return describe(make(weights=None, include_top=False, input_shape=(size, size, 3), pooling="avg"))
    check(program)


@pytest.mark.slow
def test_heads():
    def program(keras):
        make = keras.applications.MobileNetV2
        return [describe(make(weights=None, input_shape=(32, 32, 3), classes=7)),
                describe(make(weights=None, alpha=0.35, include_top=False)),
                describe(keras.applications.MobileNet(weights=None, input_shape=(32, 32, 3), classes=3, alpha=0.25)),
                describe(keras.applications.MobileNetV3Small(weights=None, classes=3, minimalistic=True, alpha=0.75))]
    check(program)


def test_numbers():
    x = np.random.RandomState(0).rand(1, 32, 32, 3).astype("float32")

    def program(keras):
        model = keras.applications.MobileNetV2(weights=None, alpha=0.35, input_shape=(32, 32, 3), classes=5)
        rng = np.random.RandomState(0)
        model.set_weights([rng.rand(*weight.shape) * 0.2 for weight in model.weights])
        return model(keras.ops.convert_to_tensor(x))
    check(program)


@pytest.mark.parametrize("module, mode", [("vgg16", "caffe"), ("densenet", "torch"), ("mobilenet_v2", "tf"),
                                          ("efficientnet", "none")])
def test_preprocessing(module, mode):
    x = np.random.RandomState(0).randint(0, 255, (2, 4, 5, 3))

    def program(keras):
        preprocess = getattr(keras.applications, module).preprocess_input
        return [preprocess(x.copy()), preprocess(x.astype("float32")),
                preprocess(keras.ops.convert_to_tensor(x.astype("float32"))), preprocess(x[0].astype("float32"))]
    check(program)


ERRORS = {
    "weights": lambda keras: keras.applications.VGG16(weights="nowhere.h5"),
    "classes": lambda keras: keras.applications.VGG16(classes=3),
    "size": lambda keras: keras.applications.ResNet50(weights=None, input_shape=(8, 8, 3)),
    "axes": lambda keras: keras.applications.ResNet50(weights=None, input_shape=(8, 8)),
    "mode": lambda keras: keras.applications.imagenet_utils.preprocess_input(np.zeros((2, 2, 3)), mode="nonsense"),
    "decode": lambda keras: keras.applications.vgg16.decode_predictions(np.zeros((2, 3))),
    "open": lambda keras: keras.applications.ResNet50(weights=None, input_shape=(None, None, 3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    assert isinstance(check(ERRORS[name]), ValueError)


def test_a_file_of_weights(tmp_path):
    from dragon.vm import keras
    options = {"include_top": False, "alpha": 0.35, "input_shape": (32, 32, 3)}
    model = weights_of(keras.applications.MobileNetV2(weights=None, **options))
    path = str(tmp_path / "net.weights.h5")
    model.save_weights(path)
    again = keras.applications.MobileNetV2(weights=path, **options)
    for one, other in zip(again.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(one, other)
