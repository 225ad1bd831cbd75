"""Colours of images, for tensors of every dtype."""
from dragon.core.refusals import refusing
from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torchvision._pillow import Image
from dragon.vm.torchvision.transforms import _functional_tensor as F_t, functional as F1
from dragon.vm.torchvision.transforms._functional_tensor import MAXIMA, _max_value
from dragon.vm.torchvision.transforms.v2.functional._utils import functional


def value_bits(dtype):
    """Return how many bits of a whole number hold its value."""
    name = str(dtype).rpartition(".")[2]
    if name not in MAXIMA:
        raise TypeError(f"Number of value bits is only defined for integer dtypes, but got {dtype}.")
    return MAXIMA[name].bit_length()


def to_dtype_image(image, dtype=torch.float, scale=False):
    """Return an image as another dtype, with values scaled to its range if asked for."""
    if image.dtype == dtype:
        return image
    if not scale or (image.is_floating_point() and dtype.is_floating_point):
        return image.to(dtype)
    if image.is_floating_point():
        if dtype == torch.int64 or (image.dtype == torch.float32 and dtype == torch.int32):
            raise RuntimeError(f"The conversion from {image.dtype} to {dtype} cannot be performed safely.")
        return image.mul(float(_max_value(dtype)) + 1.0 - 1e-3).to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype).mul_(1.0 / _max_value(image.dtype))
    before, after = value_bits(image.dtype), value_bits(dtype)
    if before > after:
        return image.bitwise_right_shift(before - after).to(dtype)
    return image.to(dtype).bitwise_left_shift(after - before)


def _check(image):
    if image.shape[-3] not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {image.shape[-3]}")


def _grey(image):
    r, g, b = image.unbind(dim=-3)
    return r.mul(0.2989).add_(g, alpha=0.587).add_(b, alpha=0.114).unsqueeze(dim=-3)


def rgb_to_grayscale_image(image, num_output_channels=1):
    """Return an image in grey, in 1 or 3 channels."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")
    shape = (*image.shape[:-3], num_output_channels, *image.shape[-2:])
    return (image.clone() if image.shape[-3] == 1 else _grey(image).to(image.dtype)).expand(shape)


def grayscale_to_rgb_image(image):
    """Return an image in three channels."""
    return image if image.shape[-3] >= 3 else rgb_to_grayscale_image(image, 3)


def _blend(image1, image2, ratio):
    ratio = float(ratio)
    mixed = image1.mul(ratio).add_(image2, alpha=1.0 - ratio)
    return mixed.clamp_(0, _max_value(image1.dtype)).to(image1.dtype)


def adjust_brightness_image(image, brightness_factor):
    """Return an image mixed with black."""
    F_t._check_factor(brightness_factor, "brightness_factor")
    _check(image)
    if F_t.in_one_pass(image):
        return ops.blend_colours(image, float(brightness_factor), "black")
    return image.mul(brightness_factor).clamp_(0, _max_value(image.dtype)).to(image.dtype)


def _work_grey(image):
    if image.shape[-3] == 1:
        return image if image.is_floating_point() else image.to(torch.float32)
    return _grey(image) if image.is_floating_point() else _grey(image).floor()


def adjust_contrast_image(image, contrast_factor):
    """Return an image mixed with its mean grey."""
    F_t._check_factor(contrast_factor, "contrast_factor")
    _check(image)
    if F_t.in_one_pass(image):
        return ops.blend_colours(image, float(contrast_factor), "mean")
    return _blend(image, _work_grey(image).mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation_image(image, saturation_factor):
    """Return an image mixed with its grey form."""
    F_t._check_factor(saturation_factor, "saturation_factor")
    _check(image)
    if image.shape[-3] == 1:
        return image
    if F_t.in_one_pass(image):
        return ops.blend_colours(image, float(saturation_factor), "grey")
    return _blend(image, _work_grey(image), saturation_factor)


def adjust_hue_image(image, hue_factor):
    """Return an image with its hues turned by a share of the circle."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    _check(image)
    if image.shape[-3] == 1 or image.numel() == 0:
        return image
    if F_t.in_one_pass(image):
        return ops.turn_hue(image, float(hue_factor))
    h, s, v = F_t._rgb2hsv(to_dtype_image(image, torch.float32, scale=True)).unbind(dim=-3)
    turned = torch.stack(((h + hue_factor).remainder(1.0), s, v), dim=-3)
    return to_dtype_image(F_t._hsv2rgb(turned), image.dtype, scale=True)


@refusing
def adjust_gamma_image(image, gamma, gain=1.0):
    """Return an image with its values raised to a power."""
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    output = (image if image.is_floating_point() else to_dtype_image(image, torch.float32, scale=True)).pow(gamma)
    return to_dtype_image(output if gain == 1.0 else output.mul(gain).clamp(0.0, 1.0), image.dtype, scale=True)


def adjust_sharpness_image(image, sharpness_factor):
    """Return an image mixed with its blurred form."""
    _check(image)
    F_t._check_factor(sharpness_factor, "sharpness_factor")
    if image.numel() == 0 or min(image.shape[-2:]) <= 2:
        return image
    output = image.to(F_t._working_dtype(image)).reshape(-1, *image.shape[-3:]).clone()
    blurred = F_t.lightly_blurred(output)
    blurred = blurred if image.is_floating_point() else blurred.round()
    inner = output[..., 1:-1, 1:-1].clone()
    output[..., 1:-1, 1:-1] = inner + (blurred - inner) * (1.0 - sharpness_factor)
    return output.clamp(0, _max_value(image.dtype)).to(image.dtype).reshape(image.shape)


def posterize_image(image, bits):
    """Return an image with fewer bits per channel."""
    if not isinstance(bits, int) or not 0 <= bits <= 8:
        raise TypeError(f"bits must be a positive integer in the range [0, 8], got {bits} instead.")
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor().clamp(0, levels - 1).mul(1.0 / levels)
    have = value_bits(image.dtype)
    return image if bits >= have else image & (((1 << bits) - 1) << (have - bits))


def invert_image(image):
    """Return the negative."""
    if image.is_floating_point():
        return 1.0 - image
    return image.bitwise_xor((1 << value_bits(image.dtype)) - 1)


def solarize_image(image, threshold):
    """Return an image with values from a threshold on inverted."""
    if threshold > _max_value(image.dtype):
        raise TypeError(f"Threshold should be less or equal the maximum value of the dtype, but got {threshold}")
    return torch.where(image >= threshold, invert_image(image), image)


def autocontrast_image(image):
    """Return an image stretched from black to white."""
    _check(image)
    if image.numel() == 0:
        return image
    bound, values = _max_value(image.dtype), image.to(F_t._working_dtype(image))
    low, high = values.amin(dim=(-2, -1), keepdim=True), values.amax(dim=(-2, -1), keepdim=True)
    flat, span = high == low, (high - low).mul(1.0 / bound)
    return (values - low.masked_fill(flat, 0.0)).div(span.masked_fill(flat, 1.0)).clamp(0, bound).to(image.dtype)


def equalize_image(image):
    """Return an image with its histogram flattened."""
    if image.numel() == 0:
        return image
    pixels = to_dtype_image(image, torch.uint8, scale=True)
    planes = pixels.reshape(-1, *pixels.shape[-2:])
    made = torch.stack([F_t._scale_channel(plane) for plane in planes]).reshape(pixels.shape)
    return to_dtype_image(made, image.dtype, scale=True)


def permute_channels_image(image, permutation):
    """Return an image with its channels in another order."""
    if len(permutation) != image.shape[-3]:
        raise ValueError("Length of permutation does not match number of channels: "
                         f"{len(permutation)} != {image.shape[-3]}")
    return image.index_select(-3, torch.as_tensor(permutation, dtype=torch.int64))


def grayscale_to_rgb_image_pil(image):
    """Return an image of Pillow in three channels."""
    return image.convert(mode="RGB")


def _permute_channels_image_pil(image, permutation):
    return F1.to_pil_image(permute_channels_image(F1.pil_to_tensor(image), permutation))


def _to_dtype_other(mask, dtype=torch.float, scale=False):
    return mask.to(dtype)


_rgb_to_grayscale_image_pil = F1.rgb_to_grayscale
rgb_to_grayscale = functional("rgb_to_grayscale", rgb_to_grayscale_image, _rgb_to_grayscale_image_pil, video=False)
grayscale_to_rgb = functional("grayscale_to_rgb", grayscale_to_rgb_image, grayscale_to_rgb_image_pil, video=False)
permute_channels = functional("permute_channels", permute_channels_image, _permute_channels_image_pil)
for _name in """adjust_brightness adjust_contrast adjust_saturation adjust_hue adjust_gamma adjust_sharpness posterize
                invert solarize autocontrast equalize""".split():  # images of Pillow are done with as in version 1
    _pillow = globals()[f"_{_name}_image_pil"] = getattr(F1, _name)
    globals()[_name] = functional(_name, globals()[f"{_name}_image"], _pillow)
to_dtype = functional("to_dtype", to_dtype_image, None, _to_dtype_other, _to_dtype_other, _to_dtype_other)


def to_grayscale(inpt, num_output_channels=1):
    """Return an image in grey, in 1 or 3 channels."""
    return rgb_to_grayscale(inpt, num_output_channels=num_output_channels)


def convert_image_dtype(image, dtype=torch.float32):
    """Return an image as another dtype, with values scaled to its range."""
    return to_dtype_image(image, dtype=dtype, scale=True)


def is_pillow(inpt):
    """Return whether a thing is an image of Pillow."""
    return isinstance(inpt, Image.Image)
