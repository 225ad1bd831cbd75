"""What automatic augmentations are made of."""
import functools as _functools

from dragon.vm.dali.core.augmenting import Augmentation


def augmentation(function=None, *, mag_range=None, randomly_negate=None, mag_to_param=None, param_device=None,
                 name=None, augmentation_cls=None):
    """Make an augmentation of a function of pictures and a parameter.

    Parameters
    ----------
    function : Callable, optional
        The function; without it a decorator is returned.
    mag_range, randomly_negate, mag_to_param, param_device, name : optional
        As for `Augmentation`.
    augmentation_cls : type, optional
        Another class than `Augmentation`.

    """
    settings = {"mag_range": mag_range, "randomly_negate": randomly_negate, "mag_to_param": mag_to_param,
                "param_device": param_device, "name": name}
    if function is None:
        return _functools.partial(augmentation, augmentation_cls=augmentation_cls, **settings)
    return (augmentation_cls or Augmentation)(function, **settings)


class Policy:
    """Short chains of augmentations, of which each sample goes through one.

    Parameters
    ----------
    name : str
        The policy's name.
    num_magnitude_bins : int
        How many magnitudes there are.
    sub_policies : Sequence[Sequence[Tuple[Augmentation, float, Optional[int]]]]
        The chains: the augmentation, with which probability, and the number of its magnitude.

    """

    def __init__(self, name, num_magnitude_bins, sub_policies):
        self.name, self.num_magnitude_bins = name, num_magnitude_bins
        self.sub_policies = [[tuple(step) for step in chain] for chain in sub_policies]
        for chain in self.sub_policies:
            for _, probability, magnitude in chain:
                if not 0 <= probability <= 1:
                    raise Exception(f"Policy: got probability {probability}, expected 0 to 1")
                if magnitude is not None and not 0 <= magnitude < num_magnitude_bins:
                    raise Exception(f"Policy: got magnitude_bin {magnitude}, expected 0 to {num_magnitude_bins - 1}")
