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


@pytest.mark.parametrize("name, is_shown", [("model", True), ("model.png", True), ("model.jpg", True),
                                            ("model.bmp", False), ("model.svg", False)])
def test_pictures_in_notebooks(tmp_path, name, is_shown):
    display = pytest.importorskip("IPython.display")
    pytest.importorskip("PIL")
    shown = keras.utils.plot_model(build(keras), tmp_path / name)
    assert isinstance(shown, display.Image) if is_shown else shown is None


def corners(path):
    """Return (left, top) of each box of a picture, by its first line."""
    found = {}
    for group in Tree.parse(path).iter():
        box = next((part for part in group if part.tag.endswith("rect")), None)
        if box is not None:
            text = next(part.text for part in group if part.tag.endswith("text"))
            found[text] = float(box.get("x")), float(box.get("y"))
    return found


@pytest.mark.parametrize("rankdir, axis, sign", [("TB", 1, 1), ("BT", 1, -1), ("LR", 0, 1), ("RL", 0, -1)])
def test_directions(tmp_path, rankdir, axis, sign):
    """What comes later stands further on, within the picture."""
    path = tmp_path / "model.svg"
    keras.utils.plot_model(build(keras), path, show_layer_names=True, rankdir=rankdir)
    places, root = corners(path), Tree.parse(path).getroot()
    order = [places[name][axis] * sign for name in ("first (InputLayer)", "left (Dense)", "sum (Add)",
                                                    "joined (Concatenate)", "last (Dense)")]
    assert order == sorted(set(order))
    size = float(root.get("width")), float(root.get("height"))
    assert all(0 < place[0] < size[0] and 0 < place[1] < size[1] for place in places.values())
    assert (size[0] > size[1]) == (rankdir in ("LR", "RL"))


@pytest.mark.parametrize("call, kind", [
    (lambda model: keras.utils.plot_model(model, rankdir="over"), ValueError),
    (lambda model: keras.utils.plot_model(model, color="red"), ValueError),
    (lambda model: keras.utils.plot_model(keras.Sequential([keras.layers.Dense(2)])), ValueError),
])
def test_errors_tell_what_was_received(call, kind):
    with pytest.raises(kind, match="Received|expected one of"):
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
