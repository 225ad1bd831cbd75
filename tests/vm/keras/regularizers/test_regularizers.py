"""Regularizers against genuine Keras: penalties, configurations, errors."""
import numpy as np
import pytest
from harness import genuine

from dragon.vm.keras import regularizers

WEIGHT = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
ROWS = [("L1", {}), ("L1", {"l1": 0.3}), ("L2", {}), ("L2", {"l2": 0.3}), ("L1L2", {}),
        ("L1L2", {"l1": 0.1, "l2": 0.2}), ("OrthogonalRegularizer", {}),
        ("OrthogonalRegularizer", {"factor": 0.5, "mode": "columns"})]


@pytest.mark.parametrize("name, arguments", ROWS, ids=range(len(ROWS)))
def test_penalties(name, arguments):
    """Values, and what is saved."""
    ours, theirs = (getattr(module, name)(**arguments) for module in (regularizers, genuine.keras.regularizers))
    np.testing.assert_allclose(ours(WEIGHT).numpy(), theirs(genuine.tf.constant(WEIGHT)).numpy(), rtol=1e-5, atol=1e-7)
    assert ours.get_config() == pytest.approx(theirs.get_config()) or ours.get_config() == theirs.get_config()
    again = regularizers.deserialize(regularizers.serialize(ours))
    assert type(again) is type(ours) and again.get_config() == ours.get_config()


def test_names():
    """Every name that genuine Keras knows; all public names."""
    assert genuine.keras  # or the test is skipped
    from keras.src.regularizers import ALL_OBJECTS_DICT
    for name, thing in ALL_OBJECTS_DICT.items():
        assert type(regularizers.get(name)).__name__ == thing.__name__
    assert regularizers.get(None) is None
    missing = {name for name in dir(genuine.keras.regularizers) if not name.startswith("_")} - set(dir(regularizers))
    assert not missing


@pytest.mark.parametrize("call, told", [
    (lambda: regularizers.L1(-1), "l1=-1"), (lambda: regularizers.L2("x"), "l2=x"),
    (lambda: regularizers.L1L2(l2=float("nan")), "l2=nan"),
    (lambda: regularizers.OrthogonalRegularizer(mode="x"), "mode=x"),
    (lambda: regularizers.OrthogonalRegularizer()(WEIGHT[0]), r"inputs.shape=\(3,\)"),
    (lambda: regularizers.get(3), "3"),
], ids=range(6))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}$"):
        call()
