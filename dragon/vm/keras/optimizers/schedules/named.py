"""Schedules by name."""
from dragon.vm.keras.core import registry
from dragon.vm.keras.optimizers.schedules import schedule

TABLE = {cls.__name__: cls for cls in (
    schedule.LearningRateSchedule, schedule.ExponentialDecay, schedule.InverseTimeDecay,
    schedule.PiecewiseConstantDecay, schedule.PolynomialDecay, schedule.CosineDecay, schedule.CosineDecayRestarts)}


def serialize(learning_rate_schedule):
    """Return the configuration of a schedule."""
    return registry.serialize(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """Return the schedule that a configuration describes.

    Parameters
    ----------
    config : dict
        What `serialize` returned.
    custom_objects : Dict[str, Any], optional
        More things that are known by name.

    """
    return registry.deserialize(config, TABLE, custom_objects)
