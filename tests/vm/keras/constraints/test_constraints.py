"""Constraints against genuine Keras: weights, configurations, errors."""
import numpy as np
import pytest
from harness import genuine

from dragon.vm.keras import constraints

WEIGHT = np.random.default_rng(0).normal(size=(4, 3, 2)).astype("float32")
ROWS = [("MaxNorm", {}), ("MaxNorm", {"max_value": 0.5, "axis": (0, 1)}), ("NonNeg", {}), ("UnitNorm", {"axis": 1}),
        ("MinMaxNorm", {}), ("MinMaxNorm", {"min_value": 0.5, "max_value": 0.7, "rate": 0.3, "axis": -1})]


@pytest.mark.parametrize("name, arguments", ROWS, ids=range(len(ROWS)))
def test_weights(name, arguments):
    """Values, and what is saved."""
    ours, theirs = (getattr(module, name)(**arguments) for module in (constraints, genuine.keras.constraints))
    np.testing.assert_allclose(ours(WEIGHT).numpy(), theirs(WEIGHT).numpy(), rtol=1e-5, atol=1e-7)
    assert ours.get_config() == theirs.get_config()
    assert constraints.serialize(ours) == genuine.keras.constraints.serialize(theirs)
    again = constraints.deserialize(constraints.serialize(ours))
    assert type(again) is type(ours) and again.get_config() == ours.get_config()


def test_names():
    """Every name that genuine Keras knows; all public names."""
    assert genuine.keras  # or the test is skipped
    from keras.src.constraints import ALL_OBJECTS_DICT
    for name, thing in ALL_OBJECTS_DICT.items():
        assert type(constraints.get(name)).__name__ == thing.__name__
    assert constraints.get(None) is None
    with pytest.raises(ValueError, match="3$"):
        constraints.get(3)
    missing = {name for name in dir(genuine.keras.constraints) if not name.startswith("_")} - set(dir(constraints))
    assert not missing
