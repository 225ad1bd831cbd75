"""`model.summary()`: line by line what genuine Keras prints."""
import pytest
from harness.keras_programs import check
from vm.keras.models.test_graphs import branches, mlp, nested, shared, subclass


def printed(model, **options):
    """Return the lines of a summary."""
    lines = []
    model.summary(print_fn=lines.append, **options)
    return "\n".join(lines).split("\n")


def convnet(keras):
    """Return a list of layers with large numbers of weights."""
    return keras.Sequential([
        keras.Input((28, 28, 1)), keras.layers.Conv2D(32, 3), keras.layers.MaxPooling2D(), keras.layers.Flatten(),
        keras.layers.Dense(1000, name="a_layer_with_a_name_that_is_longer_than_its_column"), keras.layers.Dropout(0.5),
        keras.layers.BatchNormalization(), keras.layers.Dense(10, dtype="float16")])


def frozen(keras):
    """Return a graph with an inner model that is not trained."""
    model = nested(keras)
    model.layers[1].trainable = False
    return model


def several_outputs(keras):
    """Return a graph with an inner graph that has two outputs."""
    x = keras.Input((5,), name="x")
    return keras.Model(x, branches(keras)([x, mlp(keras)(x)]))


def unbuilt(keras):
    """Return layers that have no weights yet."""
    return keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])


MODELS = {"mlp": mlp, "branches": branches, "shared": shared, "nested": nested, "convnet": convnet, "frozen": frozen,
          "several outputs": several_outputs, "unbuilt": unbuilt, "subclass": subclass}
OPTIONS = {"plain": {}, "nested": {"expand_nested": True}, "trainable": {"show_trainable": True},
           "wide": {"line_length": 120, "show_trainable": True, "expand_nested": True},
           "narrow": {"line_length": 50}}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_lines(name, options, monkeypatch):
    monkeypatch.setenv("COLUMNS", "130" if options == "wide" else "80")
    check(lambda keras: printed(MODELS[name](keras), **OPTIONS[options]))


def test_built_subclass_and_optimizer():
    def program(keras):
        model = subclass(keras)
        model(keras.ops.zeros((2, 5)))
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
        return printed(model)
    check(program)


def test_ranges_and_positions():
    check(lambda keras: printed(convnet(keras), layer_range=("max_pooling2d", "dropout")))
    check(lambda keras: printed(convnet(keras), layer_range=("nothing", "dropout")))
    check(lambda keras: printed(convnet(keras), layer_range=("conv2d",)))
    check(lambda keras: printed(mlp(keras), positions=[0.3, 0.6, 1.0]))
    check(lambda keras: printed(mlp(keras), line_length=9))
    check(lambda keras: printed(keras.Sequential()))
