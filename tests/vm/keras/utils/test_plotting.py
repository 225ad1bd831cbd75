"""Pictures of models, and containers of named values."""
import copy
import xml.etree.ElementTree as Tree

import pytest

import dragon.vm.keras as keras
from dragon.vm.keras.utils.plotting import collect
from harness import genuine


def build(module):
    """Return a model with branches and a model within."""
    layers = module.layers
    inner = module.Sequential([module.Input((8,)), layers.Dense(8), layers.Dense(4)], name="inner")
    x = module.Input((6,), name="first")
    y, z = layers.Dense(8, name="left", activation="relu")(x), layers.Dense(8, name="right")(x)
    out = layers.Concatenate(name="joined")([inner(layers.Add(name="sum")([y, z])), y])
    return module.Model(x, [out, layers.Dense(1, name="last")(out)], name="branches")


@pytest.mark.parametrize("expand, count, edges", [(False, 7, 8), (True, 8, 9)])
def test_boxes_and_lines(expand, count, edges):
    operations, pairs = collect(build(keras), expand)
    assert (len(operations), len(pairs)) == (count, edges)
    assert {layer.name for pair in pairs for layer in pair} <= {layer.name for layer in operations}


def test_svg(tmp_path):
    keras.utils.plot_model(build(keras), tmp_path / "model.svg", show_shapes=True, show_layer_names=True)
    texts = [node.text for node in Tree.parse(tmp_path / "model.svg").iter() if node.tag.endswith("text")]
    assert {"left (Dense)", "Input shape: (None, 6)", "joined (Concatenate)"} <= set(texts)


@pytest.mark.parametrize("name", ["model.png", "model.jpg", "model"])
def test_pictures(tmp_path, name):
    image = pytest.importorskip("PIL.Image")
    keras.utils.plot_model(build(keras), str(tmp_path / name), show_dtype=True, show_trainable=True, dpi=96,
                           show_layer_activations=True, expand_nested=True)
    picture = image.open(tmp_path / name)
    assert picture.size[1] > picture.size[0] > 100 and len(picture.getcolors(1 << 20)) > 3


@pytest.mark.parametrize("call, kind", [
    (lambda model: keras.utils.plot_model(model, rankdir="LR"), NotImplementedError),
    (lambda model: keras.utils.plot_model(model, color="red"), ValueError),
    (lambda model: keras.utils.plot_model(keras.Sequential([keras.layers.Dense(2)])), ValueError),
])
def test_errors_tell_what_was_received(call, kind):
    with pytest.raises(kind, match="Received"):
        call(build(keras))


def use(config):
    """Return what is seen of a container that is used."""
    config.seed, config["rate"] = 3, 0.5
    config.update({"name": "x"})
    seen = [list(config), len(config), config.to_json(), config.as_dict(), config.get("no", 7), "seed" in config,
            config.pop("name"), repr(config), sorted(config.keys()), config.frozen]
    config.freeze()
    for change in (lambda: setattr(config, "seed", 4), lambda: config.pop("seed"), lambda: config.update(a=1)):
        with pytest.raises(ValueError, match="frozen"):
            change()
    with pytest.raises(AttributeError, match="Did you mean 'seed'"):
        config.sed
    config.unfreeze()
    del config["seed"]
    return [*seen, config.as_dict(), copy.deepcopy(config).as_dict()]


def test_config():
    assert use(keras.utils.Config(momentum=0.9)) == use(genuine.keras.utils.Config(momentum=0.9))
