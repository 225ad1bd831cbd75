"""The state of a training as nested dictionaries, and the loss without state."""
import re

import numpy
import pytest

from harness.keras_models import assert_alike, compile_twins, make_mlp, make_twins, random

X, Y = random(40, 5), numpy.random.RandomState(1).randint(0, 3, 40)


def make_trained():
    """Return two models after an epoch."""
    twins = make_twins(make_mlp)
    compile_twins(twins, lambda keras: keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    for model in twins:
        model.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    return twins


def without_names(tree):
    """Return nested dictionaries with lists in the place of names that count models."""
    if not isinstance(tree, dict):
        return tree
    # dense_9 comes before dense_10: how far each side has counted depends on the tests before.
    names = sorted(tree, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])
    return [without_names(tree[name]) for name in names]


def test_trees_are_the_genuine_ones():
    ours, theirs = (model.get_state_tree("numpy_array") for model in make_trained())
    assert list(ours) == list(theirs)
    assert_alike(without_names(ours), without_names(theirs))


def test_trees_are_set_again():
    model = make_trained()[0]
    tree = model.get_state_tree("numpy_array")
    expected = model.fit(X, Y, epochs=2, shuffle=False, verbose=0).history
    model.set_state_tree(tree)
    assert_alike(model.fit(X, Y, epochs=2, shuffle=False, verbose=0).history, expected)


def test_loss_without_state():
    losses = []
    for model in make_trained():
        values = [[v.numpy() * 0.5 for v in model.trainable_variables],
                  [v.numpy() for v in model.non_trainable_variables], [v.numpy() for v in model.metrics_variables]]
        y_pred = model(X)
        loss, (_, _, metrics) = model.stateless_compute_loss(*values, x=X, y=Y, y_pred=y_pred)
        losses.append([float(loss), [numpy.asarray(value) for value in metrics]])
    assert_alike(*losses)


def test_errors_end_in_what_was_received():
    model = make_trained()[0]
    with pytest.raises(ValueError, match="Received: value_format=list"):
        model.get_state_tree("list")
    with pytest.raises(ValueError, match="Received: strange"):
        model.set_state_tree({"strange": {}})
