"""RandAugment: some augmentations in a row, all of one magnitude."""
from dragon.vm.dali.auto_aug.suites import suite as _suite
from dragon.vm.dali.auto_aug.suites import translations as _translations
from dragon.vm.dali.core.augmenting import apply_one as _apply_one
from dragon.vm.dali.core.augmenting import below as _below
from dragon.vm.dali.core.augmenting import excluding as _excluding


def rand_augment(data, n, m, num_magnitude_bins=31, shape=None, fill_value=128, interp_type=None,
                 max_translate_abs=None, max_translate_rel=None, seed=None, monotonic_mag=True, excluded=None):
    """Augment pictures by RandAugment.

    Parameters
    ----------
    data : DataNode
        The pictures, bytes in layout HWC.
    n : int
        How many augmentations each sample goes through.
    m : int
        The number of their magnitude.
    num_magnitude_bins : int, optional, default=31
        How many magnitudes there are.
    shape : Union[DataNode, Tuple[int, int]], optional
        The pictures' shapes; shifts are parts of them then.
    fill_value : int, optional, default=128
        What comes from outside.
    interp_type : DALIInterpType, optional
        How pixels are made of their neighbours.
    max_translate_abs, max_translate_rel : optional
        The greatest shift, in pixels or as a part: one number, or height's and width's.
    seed : int, optional
        Where random numbers start from.
    monotonic_mag : bool, optional, default=True
        Whether a greater magnitude changes more.
    excluded : Sequence[str], optional
        Names of augmentations that are left out.

    """
    suite = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    return apply_rand_augment(_excluding(suite(shape is not None, max_translate_abs, max_translate_rel), excluded),
                              data, n, m, num_magnitude_bins, seed, shape=shape, fill_value=fill_value,
                              interp_type=interp_type)


def apply_rand_augment(augmentations, data, n, m, num_magnitude_bins=31, seed=None, **kwargs):
    """Augment pictures by some of one's own augmentations, all of one magnitude.

    Parameters
    ----------
    augmentations : Sequence[Augmentation]
        What is chosen from.
    data : DataNode
        The pictures.
    n, m, num_magnitude_bins, seed : optional
        As for `rand_augment`.
    kwargs : Any
        Arguments of the augmentations.

    """
    if n < 0 or not 0 <= m < num_magnitude_bins:
        raise Exception(f"rand_augment: got n={n} and m={m}, expected at least 0, and 0 to {num_magnitude_bins - 1}")
    if not augmentations:
        raise Exception("The `augmentations` list cannot be empty, unless n is 0.")
    for _ in range(n):
        data = _apply_one(augmentations, _below(len(augmentations), seed), data, m, num_magnitude_bins, seed, kwargs)
    return data


def get_rand_augment_suite(use_shape=False, max_translate_abs=None, max_translate_rel=None):
    """Return RandAugment's augmentations, whose greater magnitudes change more.

    Parameters
    ----------
    use_shape : bool, optional, default=False
        Whether shifts are parts of the picture.
    max_translate_abs, max_translate_rel : optional
        As for `rand_augment`.

    """
    shifts = _translations(use_shape, 100, 100 / 224, max_translate_abs, max_translate_rel)
    return _suite(shifts, 0.3, 30, (0, 0.9), True, (8, 4))


def get_rand_augment_non_monotonic_suite(use_shape=False, max_translate_abs=None, max_translate_rel=None):
    """Return RandAugment's augmentations with AutoAugment's magnitudes.

    Parameters
    ----------
    use_shape : bool, optional, default=False
        Whether shifts are parts of the picture.
    max_translate_abs, max_translate_rel : optional
        As for `rand_augment`.

    """
    shifts = _translations(use_shape, 100, 100 / 224, max_translate_abs, max_translate_rel)
    return _suite(shifts, 0.3, 30, (0.1, 1.9), False, (0, 4), (0, 256))
