"""Schedules against genuine Keras: rates over many steps, configurations, errors."""
import numpy as np
import pytest
from harness import genuine
from harness.subresults import each

from dragon.vm.keras.optimizers import schedules

ROWS = [
    ("ExponentialDecay", dict(initial_learning_rate=0.1, decay_steps=7, decay_rate=0.9)),
    ("ExponentialDecay", dict(initial_learning_rate=0.1, decay_steps=7, decay_rate=0.9, staircase=True)),
    ("InverseTimeDecay", dict(initial_learning_rate=0.1, decay_steps=7, decay_rate=0.5)),
    ("InverseTimeDecay", dict(initial_learning_rate=0.1, decay_steps=7, decay_rate=0.5, staircase=True)),
    ("PiecewiseConstantDecay", dict(boundaries=[5, 20], values=[0.3, 0.2, 0.1])),
    ("PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=20)),
    ("PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=9, power=0.5, cycle=True)),
    ("CosineDecay", dict(initial_learning_rate=0.1, decay_steps=20, alpha=0.1)),
    ("CosineDecay", dict(initial_learning_rate=0.0, decay_steps=20, warmup_target=0.2, warmup_steps=6)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=6)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=6, t_mul=1.0, m_mul=0.8, alpha=0.1)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=6, t_mul=1.5, m_mul=0.8, name="mine")),
]


@each("name, arguments", ROWS, ids=range(len(ROWS)))
def test_rates(name, arguments):
    """Rates of the first steps, and much later."""
    ours, theirs = (getattr(module, name)(**arguments) for module in (schedules, genuine.keras.optimizers.schedules))
    for step in (*range(0, 40, 3), 1000):
        np.testing.assert_allclose(float(ours(step)), float(theirs(step)), rtol=2e-5, atol=1e-7, err_msg=str(step))
    assert ours.get_config() == theirs.get_config()
    again = schedules.deserialize(schedules.serialize(ours))
    assert type(again) is type(ours) and again.get_config() == ours.get_config()
    assert schedules.serialize(ours) == genuine.keras.optimizers.schedules.serialize(theirs)


@pytest.mark.parametrize("call, told", [
    (lambda: schedules.ExponentialDecay(0.1, 0, 0.5), "decay_steps=0"),
    (lambda: schedules.CosineDecayRestarts(0.1, 0), "first_decay_steps=0"),
    (lambda: schedules.PiecewiseConstantDecay([1], [1.0]), "length 1."),
], ids=range(3))
def test_wrong_arguments(call, told):
    """Errors end in what was received."""
    with pytest.raises(ValueError, match=rf"{told}$"):
        call()
    with pytest.raises(NotImplementedError):
        schedules.LearningRateSchedule()(1)
