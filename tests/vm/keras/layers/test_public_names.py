"""The names of layers and of their arguments are genuine Keras's."""
import inspect

from harness import genuine
from harness.keras_layer import guest
from harness.subresults import each

# What needs another framework at hand.
MISSING = {"FlaxLayer", "JaxLayer"}
FAMILIES = ("rnn", "attention", "preprocessing", "preprocessing.image_preprocessing")


def ours():
    """Return the names of layers in recurrent, attention and preprocessing families."""
    layers = guest("keras").layers
    return [name for family in FAMILIES for name in layers.PLACES[family].split()]


def public(module):
    """Return the names of a module without its machinery."""
    return {name for name in dir(module) if not name.startswith("_")}


def test_names():
    """All layers but those of other frameworks."""
    theirs = public(genuine.keras.layers)
    found = {name for name in theirs - MISSING if hasattr(guest("keras").layers, name)}
    assert theirs - found == MISSING


@each("name", ours())
@each("method", ["__init__", "call"])
def test_arguments(name, method):
    """The same arguments in the same order, with the same defaults."""
    found = []
    for keras in (guest("keras"), genuine.keras):
        given = inspect.signature(getattr(getattr(keras.layers, name), method)).parameters.values()
        found.append([(one.name, one.default) for one in given if one.kind is not one.VAR_KEYWORD])
    assert found[0] == found[1]
