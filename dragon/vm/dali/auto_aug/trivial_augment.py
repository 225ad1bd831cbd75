"""TrivialAugment: one augmentation, of any magnitude."""
from dragon.vm.dali.auto_aug.suites import suite as _suite
from dragon.vm.dali.auto_aug.suites import translations as _translations
from dragon.vm.dali.core.augmenting import apply_one as _apply_one
from dragon.vm.dali.core.augmenting import below as _below
from dragon.vm.dali.core.augmenting import excluding as _excluding


def trivial_augment_wide(data, num_magnitude_bins=31, shape=None, fill_value=128, interp_type=None,
                         max_translate_abs=None, max_translate_rel=None, seed=None, excluded=None):
    """Augment pictures by TrivialAugment, with its wide magnitudes.

    Parameters
    ----------
    data : DataNode
        The pictures, bytes in layout HWC.
    num_magnitude_bins : int, optional, default=31
        How many magnitudes there are.
    shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed, excluded : optional
        As for `rand_augment.rand_augment`.

    """
    suite = _excluding(get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel),
                       excluded)
    return apply_trivial_augment(suite, data, num_magnitude_bins, seed, shape=shape, fill_value=fill_value,
                                 interp_type=interp_type)


def apply_trivial_augment(augmentations, data, num_magnitude_bins=31, seed=None, **kwargs):
    """Augment each picture by one of one's own augmentations.

    Parameters
    ----------
    augmentations : Sequence[Augmentation]
        What is chosen from.
    data : DataNode
        The pictures.
    num_magnitude_bins, seed : optional
        As for `trivial_augment_wide`.
    kwargs : Any
        Arguments of the augmentations.

    """
    if not augmentations:
        raise Exception("The `augmentations` list cannot be empty. Got empty list in `apply_trivial_augment` call.")
    return _apply_one(augmentations, _below(len(augmentations), seed), data, _below(num_magnitude_bins, seed),
                      num_magnitude_bins, seed, kwargs)


def get_trivial_augment_wide_suite(use_shape=False, max_translate_abs=None, max_translate_rel=None):
    """Return TrivialAugment's augmentations.

    Parameters
    ----------
    use_shape : bool, optional, default=False
        Whether shifts are parts of the picture.
    max_translate_abs, max_translate_rel : optional
        As for `rand_augment.rand_augment`.

    """
    shifts = _translations(use_shape, 32, 1.0, max_translate_abs, max_translate_rel)
    return _suite(shifts, 0.99, 135, (0.01, 0.99), True, (8, 2))
