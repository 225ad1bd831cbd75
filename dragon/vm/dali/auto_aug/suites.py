"""What the suites of augmentations share: shifts, and how strong the others are."""
from dragon.vm.dali.auto_aug import augmentations as _a


def translations(use_shape, pixels, part, max_translate_abs=None, max_translate_rel=None):
    """Return the shifts along x and y.

    Parameters
    ----------
    use_shape : bool
        Whether shifts are parts of the picture.
    pixels, part : float
        How far they reach unless it is told.
    max_translate_abs, max_translate_rel : Union[float, Tuple[float, float]], optional
        How far they reach: one number, or that of height and that of width.

    """
    given, other, name = ((max_translate_rel, max_translate_abs, "max_translate_abs") if use_shape
                          else (max_translate_abs, max_translate_rel, "max_translate_rel"))
    if other is not None:
        raise Exception(f"auto_aug: got {name} {'with' if use_shape else 'without'} shape, expected the other one: "
                        "max_translate_rel goes with shape, max_translate_abs without")
    reach = (part if use_shape else pixels) if given is None else given
    height, width = reach if isinstance(reach, (tuple, list)) else (reach, reach)
    along_x, along_y = ((_a.translate_x, _a.translate_y) if use_shape
                        else (_a.translate_x_no_shape, _a.translate_y_no_shape))
    return [along_x.augmentation((0, width), True), along_y.augmentation((0, height), True)]


def suite(shifts, shear, angle, strength, signed, bits, bright=(256, 0)):
    """Return the usual augmentations, with the greatest or all magnitudes of each.

    Those of brightness, contrast, colour and sharpness are told from 1 on, both ways, if they are `signed`.
    """
    to_factor, to_kernel = ((_a.shift_enhance_range, _a.sharpness_kernel) if signed
                            else (float, _a.sharpness_kernel_shifted))
    return shifts + [
        _a.shear_x.augmentation((0, shear), True), _a.shear_y.augmentation((0, shear), True),
        _a.rotate.augmentation((0, angle), True),
        *(one.augmentation(strength, signed, to_factor) for one in (_a.brightness, _a.contrast, _a.color)),
        _a.sharpness.augmentation(strength, signed, to_kernel),
        _a.posterize.augmentation(bits, False, _a.poster_mask_uint8), _a.solarize.augmentation(bright), _a.equalize,
        _a.auto_contrast, _a.identity]
