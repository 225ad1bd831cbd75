"""What the suites of augmentations share: shifts, whose reach is told in pixels or as a part of the picture."""
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
