"""Augmentations of a magnitude, and their choice sample by sample."""
import functools
import inspect

import numpy as np

from dragon.vm.dali.core.graph import DataNode, call, constant_node
from dragon.vm.dali.core.refusals import got


class Augmentation:
    """A function of pictures with a parameter that a magnitude stands for.

    Parameters
    ----------
    function : Callable
        Takes the pictures, the parameter, and further arguments by name.
    mag_range : Union[Tuple[float, float], numpy.ndarray], optional
        The magnitudes, or the least and the greatest one; without it there is no parameter.
    randomly_negate : bool, optional, default=False
        Whether half of the samples have the magnitude negated.
    mag_to_param : Callable, optional
        Makes a parameter of a magnitude; the magnitude itself by default.
    param_device : str, optional
        Where DALI would have it.
    name : str, optional
        The augmentation's name.

    """

    def __init__(self, function, mag_range=None, randomly_negate=False, mag_to_param=None, param_device=None,
                 name=None):
        self.function, self.mag_range, self.randomly_negate = function, mag_range, bool(randomly_negate)
        self.mag_to_param, self.param_device = mag_to_param, param_device
        self.name = name or getattr(function, "__name__", "augmentation")
        functools.update_wrapper(self, function, updated=())

    def augmentation(self, mag_range=None, randomly_negate=None, mag_to_param=None, param_device=None, name=None,
                     augmentation_cls=None):
        """Return this augmentation with other settings."""
        return (augmentation_cls or type(self))(
            self.function, self.mag_range if mag_range is None else mag_range,
            self.randomly_negate if randomly_negate is None else randomly_negate,
            self.mag_to_param if mag_to_param is None else mag_to_param,
            self.param_device if param_device is None else param_device, name or self.name)

    def magnitudes(self, count):
        """Return all magnitudes."""
        if isinstance(self.mag_range, (tuple, list)) and len(self.mag_range) == 2:
            if count is None:
                raise ValueError(got(self.name, "no num_magnitude_bins", "a positive number"))
            return np.linspace(*self.mag_range, count)
        return np.asarray(self.mag_range)

    def __call__(self, data, *, magnitude_bin=None, num_magnitude_bins=None, **options):
        """Return the pictures augmented with the parameter of a magnitude."""
        parameter = None
        if self.mag_range is not None:
            if magnitude_bin is None:
                raise ValueError(got(self.name, "no magnitude_bin", "the number of a magnitude"))
            number, sign = magnitude_bin if isinstance(magnitude_bin, tuple) else (magnitude_bin, 0)
            make = self.mag_to_param or (lambda magnitude: magnitude)
            told = self.magnitudes(num_magnitude_bins)
            rows = [[np.asarray(make(one)) for one in row] for row in ((told, -told) if self.randomly_negate
                                                                       else (told, told))]
            if self.mag_to_param is None or rows[0][0].dtype == np.float64:
                rows = [[one.astype(np.float32) for one in row] for row in rows]
            parameter = call("_parameter", (_scalar(number), _scalar(sign)), {"table": rows})
        known = inspect.signature(self.function).parameters
        anything = any(one.kind is one.VAR_KEYWORD for one in known.values())
        return self.function(data, parameter, **{key: value for key, value in options.items()
                                                 if value is not None and (anything or key in known)})

    def __repr__(self):
        return f"Augmentation({self.name!r}, mag_range={self.mag_range!r}, randomly_negate={self.randomly_negate})"


def _scalar(value):
    return value if isinstance(value, DataNode) else constant_node(np.asarray(int(value), np.int32))


def coin(probability, seed=None):
    """Return ones and zeros, a one with some probability."""
    return call("random.coin_flip", (), {"probability": probability, "seed": seed})


def below(count, seed=None):
    """Return random whole numbers below one."""
    return call("random.choice", (np.int32(count),), {"seed": seed})


def pick(number, results):
    """Return for each sample the one of several results that its number says; the others are not computed."""
    made = results[-1]()
    for place in reversed(range(len(results) - 1)):
        test = call("_arithmetic", (number,), {"operation": "eq", "operands": (None, np.int32(place))})
        made = call("_conditional.merge", (test, results[place](), made), {})
    return made


def apply_one(augmentations, number, data, magnitude, bins, seed, options):
    """Return the pictures, each augmented by the augmentation of its number."""
    sign = coin(0.5, seed)
    return pick(number, [functools.partial(one, data, magnitude_bin=(magnitude, sign), num_magnitude_bins=bins,
                                           **options) for one in augmentations])


def excluding(augmentations, excluded):
    """Return augmentations without those of some names."""
    excluded = excluded or ()
    names = {one.name for one in augmentations}
    for name in excluded:
        if name not in names:
            raise Exception(got("excluded", name, f"one of {sorted(names)}"))
    return [one for one in augmentations if one.name not in excluded]
