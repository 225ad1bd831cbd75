"""Layers that merge beside the genuine ones: broadcasting, masks, functions."""
import numpy as np
import pytest
from harness import genuine
from harness.keras_layer import array, check_layer, guest, near, random_inputs
from harness.subresults import each

MASKS = [np.array([[True, True, False], [True, False, False]]), np.array([[True, False, False], [True, True, False]])]
SHAPES = [[(2, 3), (2, 3)], [(2, 3, 4), (2, 1, 4), (2, 3, 1)], [(2, 3, 4), (2, 4)]]


@each("shapes", SHAPES)
@each("name", ["Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"])
def test_elementwise(name, shapes):
    """Element by element, broadcasting."""
    check_layer(name, shapes[:2] if name == "Subtract" else shapes)


@each("masks", [MASKS, [MASKS[0], None], [None, MASKS[1]]])
@each("name", ["Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract", "Concatenate"])
def test_masks(name, masks):
    """Masked steps, and the masks of results."""
    check_layer(name, [(2, 3, 4), (2, 3, 4)], masks=masks)


@pytest.mark.parametrize("config, shapes", [
    ({}, [(2, 3), (2, 4)]), ({"axis": 1}, [(2, 3, 4), (2, 1, 4), (2, 2, 4)]), ({"axis": -2}, [(2, 3, 4), (2, 1, 4)])])
def test_concatenate(config, shapes):
    """One after the other."""
    check_layer("Concatenate", shapes, config)


@pytest.mark.parametrize("config, shapes", [
    ({"axes": 1}, [(2, 3), (2, 3)]), ({"axes": -1}, [(2, 3, 4), (2, 5, 4)]), ({"axes": (2, 1)}, [(2, 3, 4), (2, 4, 5)]),
    ({"axes": [1, 1], "normalize": True}, [(2, 3), (2, 3)]), ({"axes": (1, 2)}, [(2, 3, 4), (2, 5, 3)]),
    ({"axes": (-1, 1)}, [(2, 3), (2, 3, 4)]), ({"axes": (1, 2)}, [(2, 3, 4, 2), (2, 5, 3)]),
    ({"axes": 2, "normalize": True}, [(2, 3, 4), (2, 5, 4)])])
def test_dot(config, shapes):
    """Sums of products."""
    check_layer("Dot", shapes, config)


@pytest.mark.parametrize("name, more", [
    ("add", {}), ("average", {}), ("maximum", {}), ("minimum", {}), ("multiply", {}), ("subtract", {}),
    ("concatenate", {"axis": 0}), ("dot", {"axes": 1})])
def test_functions(name, more):
    """The functions do what the layers do."""
    inputs = random_inputs([(2, 3), (2, 3)])
    found = [array(getattr(keras.layers, name)(inputs, **more)) for keras in (guest("keras"), genuine.keras)]
    near([found[0]], [found[1]], name)


def test_bad_inputs():
    """Shapes and numbers of inputs that do not fit."""
    for keras in (guest("keras"), genuine.keras):
        layers, symbol = keras.layers, keras.KerasTensor
        for make, shapes in [
                (layers.Add, [(None, 3), (None, 4)]), (layers.Subtract, [(None, 3)] * 3),
                (layers.Concatenate, [(None, 3, 4), (None, 4, 4)]), (lambda: layers.Dot(1), [(None, 3), (None, 4)]),
                (lambda: layers.Dot(1), [(None, 3)] * 3), (layers.Add, [(2, 3), (3, 3)])]:
            with pytest.raises(ValueError, match="(?i)received|shapes"):
                make()([symbol(shape) for shape in shapes])
        with pytest.raises(ValueError, match="list of inputs"):
            layers.Add()(symbol((None, 3)))
        with pytest.raises(TypeError):
            layers.Dot("last")
