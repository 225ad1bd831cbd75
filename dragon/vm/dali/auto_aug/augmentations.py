"""The usual augmentations, each of a magnitude."""
import numpy as _np

from dragon.vm.dali import fn as _fn
from dragon.vm.dali import types as _types
from dragon.vm.dali.auto_aug.core import augmentation
from dragon.vm.dali.fn import experimental as _experimental
from dragon.vm.dali.fn import reductions as _reductions
from dragon.vm.dali.fn import transforms as _transforms

_ONE = _types.Constant(1, dtype=_types.UINT8)


def warp_x_param(magnitude):
    """Return a magnitude along x."""
    return [magnitude, 0]


def warp_y_param(magnitude):
    """Return a magnitude along y."""
    return [0, magnitude]


def _warp(data, matrix, fill_value, interp_type):
    return _fn.warp_affine(data, matrix, fill_value=fill_value, interp_type=interp_type, inverse_map=False)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(data, shear, fill_value=128, interp_type=None):
    """Shear along x."""
    return _warp(data, _transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(data, shear, fill_value=128, interp_type=None):
    """Shear along y."""
    return _warp(data, _transforms.shear(shear=shear), fill_value, interp_type)


def _shift_part(data, rel_offset, shape, fill_value, interp_type):
    height, width = (shape[1], shape[0]) if isinstance(shape, (tuple, list)) else (shape[1], shape[0])
    offset = _fn.stack(*(_fn.cast(side * rel_offset[place], dtype=_types.FLOAT)
                         for place, side in ((0, height), (1, width))))
    return _warp(data, _transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(data, rel_offset, shape, fill_value=128, interp_type=None):
    """Shift along x, by a part of the width."""
    return _shift_part(data, rel_offset, shape, fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x")
def translate_x_no_shape(data, offset, fill_value=128, interp_type=None):
    """Shift along x, by pixels."""
    return _warp(data, _transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(data, rel_offset, shape, fill_value=128, interp_type=None):
    """Shift along y, by a part of the height."""
    return _shift_part(data, rel_offset, shape, fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y")
def translate_y_no_shape(data, offset, fill_value=128, interp_type=None):
    """Shift along y, by pixels."""
    return _warp(data, _transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(data, angle, fill_value=128, interp_type=None, rotate_keep_size=True):
    """Rotate by degrees."""
    return _fn.rotate(data, angle=angle, fill_value=fill_value, interp_type=interp_type, keep_size=rotate_keep_size)


def shift_enhance_range(magnitude):
    """Return a factor about 1."""
    return 1 + magnitude


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data, parameter):
    """Scale all values."""
    return _fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data, parameter):
    """Scale distances to the mean of the luma."""
    gray = _fn.color_space_conversion(data, image_type=_types.RGB, output_type=_types.GRAY)
    return _fn.contrast(data, contrast=parameter, contrast_center=_reductions.mean(gray))


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data, parameter):
    """Scale saturation."""
    return _fn.saturation(data, saturation=parameter)


def sharpness_kernel(magnitude):
    """Return a filter that sharpens, or blurs if the magnitude is negative."""
    blur = _np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], _np.float32) / 13
    plain = _np.zeros((3, 3), _np.float32)
    plain[1, 1] = 1
    return ((1 + magnitude) * plain - magnitude * blur).astype(_np.float32)


def sharpness_kernel_shifted(magnitude):
    """Return the filter of a magnitude about 1."""
    return sharpness_kernel(magnitude - 1)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel)
def sharpness(data, kernel):
    """Sharpen or blur."""
    return _experimental.filter(data, kernel)


def poster_mask_uint8(magnitude):
    """Return the mask of the bits that are kept."""
    bits = int(_np.clip(_np.round(magnitude), 1, 8))
    return _np.array(255 ^ (1 << (8 - bits)) - 1, _np.uint8)


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8)
def posterize(data, mask):
    """Keep the first bits of each value."""
    return data & mask


@augmentation(mag_range=(256, 0))
def solarize(data, threshold):
    """Invert values from a threshold on."""
    bright = data >= threshold
    return _fn.cast_like(bright * (_types.Constant(255, dtype=_types.UINT8) - data) + (bright ^ True) * data, data)


def solarize_add_shift(shift):
    """Return a shift as a byte."""
    if shift >= 128:
        raise Exception("The solarize_add augmentation accepts shifts from 0 to 128")
    return _np.uint8(shift)


@augmentation(mag_range=(0, 110), mag_to_param=solarize_add_shift)
def solarize_add(data, shift):
    """Add to values below 128."""
    dark = data < 128
    return dark * (data + shift) + (dark ^ True) * data


@augmentation
def invert(data, _):
    """Invert all values."""
    return _types.Constant(255, dtype=_types.UINT8) - data


@augmentation
def equalize(data, _):
    """Spread the values of each channel evenly."""
    return _experimental.equalize(data)


@augmentation
def auto_contrast(data, _):
    """Stretch each channel over all values."""
    low = _reductions.min(data, axis_names="HW", keep_dims=True)
    span = _reductions.max(data, axis_names="HW", keep_dims=True) - low
    flat = span == 0
    scale = 255 / (span + flat * _ONE)
    return _fn.cast_like(((data - (flat ^ True) * low) * ((flat ^ True) * scale + flat * 1.0)), data)


@augmentation
def identity(data, _):
    """Change nothing."""
    return data
