"""The operations on images that are tensors (..., C, H, W)."""

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torchvision.transforms._geometry import apply_grid, affine_grid, perspective_grid

F = torch.nn.functional
MAXIMA = {"uint8": 255, "int8": 127, "int16": 32767, "uint16": 65535, "int32": 2147483647,
          "int64": 9223372036854775807}
FLOATS = (torch.float32, torch.float64)


def _is_tensor_a_torch_image(x):
    return x.ndim >= 2


def _assert_image_tensor(img):
    if not isinstance(img, torch.Tensor) or img.ndim < 2:
        raise TypeError("Tensor is not a torch image." if isinstance(img, torch.Tensor) else
                        f"Input img should be Tensor image. Got {type(img)}")


def get_dimensions(img):
    """Return [channels, height, width]."""
    _assert_image_tensor(img)
    return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]


def get_image_size(img):
    """Return [width, height]."""
    _assert_image_tensor(img)
    return [img.shape[-1], img.shape[-2]]


def get_image_num_channels(img):
    """Return the number of channels."""
    return get_dimensions(img)[0]


def _max_value(dtype):
    return MAXIMA.get(str(dtype).rpartition(".")[2], 1)


def _assert_channels(img, permitted):
    channels = get_dimensions(img)[0]
    if channels not in permitted:
        raise TypeError(f"Input image tensor permitted channel values are {permitted}, but found {channels}")


def _check_colours(img, permitted=(1, 3), least=2):
    _assert_image_tensor(img)
    if img.ndim < least:
        raise TypeError(f"Input image tensor should have at least {least} dimensions, but found {img.ndim}")
    _assert_channels(img, list(permitted))


def convert_image_dtype(image, dtype=torch.float):
    """Return the image as another dtype, with values scaled to its range."""
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        if dtype == torch.int64 or (image.dtype == torch.float32 and dtype == torch.int32):
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        # Just below the next integer, so that all integers get equal shares of [0, 1].
        return image.mul(float(_max_value(dtype)) + 1.0 - 1e-3).to(dtype)
    before, after = _max_value(image.dtype), _max_value(dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / float(before)
    if before > after:
        return torch.div(image, (before + 1) // (after + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((after + 1) // (before + 1))


def vflip(img):
    """Return the image with top and bottom exchanged."""
    _assert_image_tensor(img)
    return img.flip(-2)


def hflip(img):
    """Return the image with left and right exchanged."""
    _assert_image_tensor(img)
    return img.flip(-1)


def crop(img, top, left, height, width):
    """Return a part of the image; what lies outside is zero."""
    _, h, w = get_dimensions(img)
    right, bottom = left + width, top + height
    if left >= 0 and top >= 0 and right <= w and bottom <= h:
        return img[..., top:bottom, left:right]
    margins = [max(-left + min(0, right), 0), max(-top + min(0, bottom), 0), max(right - max(w, left), 0),
               max(bottom - max(h, top), 0)]
    return pad(img[..., max(top, 0):max(bottom, 0), max(left, 0):max(right, 0)], margins, fill=0)


def rgb_to_grayscale(img, num_output_channels=1):
    """Return the image in grey, in 1 or 3 channels."""
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    _assert_channels(img, [1, 3])
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if img.shape[-3] == 3:
        r, g, b = img.unbind(dim=-3)
        grey = (0.2989 * r + 0.587 * g + 0.114 * b).to(img.dtype).unsqueeze(dim=-3)
    else:
        grey = img.clone()
    return grey.expand(*img.shape[:-3], 3, *img.shape[-2:]) if num_output_channels == 3 else grey


def _blend(img1, img2, ratio):
    ratio = float(ratio)
    return (ratio * img1 + (1.0 - ratio) * img2).clamp(0, _max_value(img1.dtype)).to(img1.dtype)


def _check_factor(value, name):
    if value < 0:
        raise ValueError(f"{name} ({value}) is not non-negative.")


def _working_dtype(img):
    return img.dtype if img.is_floating_point() else torch.float32


def is_recorded(img):
    """Return whether a gradient will want to know how something was computed."""
    return img.requires_grad and torch.is_grad_enabled()


def in_one_pass(img):
    """Return whether there are operators that change the colours of an image in one pass."""
    return img.dtype == torch.uint8 or img.dtype == torch.float32 and not is_recorded(img)


def adjust_brightness(img, brightness_factor):
    """Return the image mixed with black."""
    _check_factor(brightness_factor, "brightness_factor")
    _check_colours(img)
    return _blend(img, torch.zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Return the image mixed with its mean grey."""
    _check_factor(contrast_factor, "contrast_factor")
    _check_colours(img, (3, 1))
    grey = rgb_to_grayscale(img) if get_dimensions(img)[0] == 3 else img
    return _blend(img, grey.to(_working_dtype(img)).mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Return the image mixed with its grey form."""
    _check_factor(saturation_factor, "saturation_factor")
    _check_colours(img)
    return img if get_dimensions(img)[0] == 1 else _blend(img, rgb_to_grayscale(img), saturation_factor)


def adjust_hue(img, hue_factor):
    """Return the image with its hues turned by a share of the circle."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    _check_colours(img)
    if get_dimensions(img)[0] == 1:
        return img
    values = convert_image_dtype(img, torch.float32)
    if values.numel() and not is_recorded(values):
        return convert_image_dtype(ops.turn_hue(values, float(hue_factor)), img.dtype)
    h, s, v = _rgb2hsv(values).unbind(dim=-3)
    return convert_image_dtype(_hsv2rgb(torch.stack(((h + hue_factor) % 1.0, s, v), dim=-3)), img.dtype)


def adjust_gamma(img, gamma, gain=1):
    """Return the image with its values raised to a power."""
    _check_colours(img)
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    values = img if img.is_floating_point() else convert_image_dtype(img, torch.float32)
    return convert_image_dtype((gain * values.pow(gamma)).clamp(0, 1), img.dtype)


def _rgb2hsv(img):
    r, g, b = img.unbind(dim=-3)
    high, low = img.amax(dim=-3), img.amin(dim=-3)
    grey, span, one = high == low, high - low, torch.ones_like(high)
    # Grey pixels have no hue; a divisor of 1 keeps them finite.
    divisor = torch.where(grey, one, span)
    rc, gc, bc = (high - r) / divisor, (high - g) / divisor, (high - b) / divisor
    h = ((high == r) * (bc - gc) + ((high == g) & (high != r)) * (2.0 + rc - bc)
         + ((high != g) & (high != r)) * (4.0 + gc - rc))
    return torch.stack((torch.fmod(h / 6.0 + 1.0, 1.0), span / torch.where(grey, one, high), high), dim=-3)


def _hsv2rgb(img):
    h, s, v = img.unbind(dim=-3)
    sector = torch.floor(h * 6.0)
    f = h * 6.0 - sector
    p, q, t = ((v * (1.0 - s * part)).clamp(0.0, 1.0) for part in (1.0, f, 1.0 - f))
    sector = sector.to(torch.int64).remainder(6).unsqueeze(-3)
    pick = [torch.stack(values, dim=-3).gather(-3, sector)
            for values in ((v, q, p, p, t, v), (t, v, v, q, p, p), (p, p, t, v, v, q))]
    return torch.cat(pick, dim=-3)


def _parse_pad_padding(padding):
    if isinstance(padding, int):
        return [padding] * 4
    if len(padding) == 1:
        return [padding[0]] * 4
    left, top, right, bottom = padding if len(padding) == 4 else (*padding, *padding)
    return [left, right, top, bottom]


def _pad_symmetric(img, margins):
    if img.ndim not in (3, 4):
        raise RuntimeError("Symmetric padding of N-D tensors are not supported yet")
    left, right, top, bottom = margins
    for dim, before, after in ((-1, left, right), (-2, top, bottom)):
        length = img.shape[dim]
        if before < 0 or after < 0:
            start, stop = -min(before, 0), length + min(after, 0)
            img = img.narrow(dim, start, stop - start)
            length, before, after = stop - start, max(before, 0), max(after, 0)
        order = [*range(before - 1, -1, -1), *range(length), *(length - 1 - step for step in range(after))]
        img = img.index_select(dim, torch.tensor(order, dtype=torch.int64, device=img.device))
    return img


def pad(img, padding, fill=0, padding_mode="constant"):
    """Return the image with a margin; negative margins cut."""
    _assert_image_tensor(img)
    fill = 0 if fill is None else fill
    if not isinstance(padding, (int, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if not isinstance(fill, (int, float)):
        raise TypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    if isinstance(padding, (tuple, list)) and len(padding) not in (1, 2, 4):
        raise ValueError("Padding must be an int or a 1, 2, or 4 element tuple, not a "
                         f"{len(padding)} element tuple")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    margins = _parse_pad_padding(padding)
    if padding_mode == "symmetric":
        return _pad_symmetric(img, margins)
    batch = img.unsqueeze(0) if img.ndim < 4 else img
    if padding_mode == "constant":
        padded = F.pad(batch, margins, mode="constant", value=float(fill))
    else:
        batch = batch if batch.dtype in FLOATS else batch.to(torch.float32)
        padded = F.pad(batch, margins, mode={"edge": "replicate"}.get(padding_mode, padding_mode)).to(img.dtype)
    return padded.squeeze(0) if img.ndim < 4 else padded


def _cast_squeeze_in(img, wanted):
    batch = img.unsqueeze(0) if img.ndim < 4 else img
    return batch if batch.dtype in wanted else batch.to(wanted[0])


def _cast_squeeze_out(batch, img):
    batch = batch.squeeze(0) if img.ndim < 4 else batch
    if batch.dtype == img.dtype:
        return batch
    return (batch if img.is_floating_point() or img.dtype == torch.bool else torch.round(batch)).to(img.dtype)


def resize(img, size, interpolation="bilinear", antialias=True):
    """Return the image in another size (height, width)."""
    _assert_image_tensor(img)
    smooth = interpolation in ("bilinear", "bicubic")
    batch = F.interpolate(_cast_squeeze_in(img, FLOATS), size=list(size), mode=interpolation,
                          align_corners=False if smooth else None, antialias=bool(antialias) and smooth)
    if interpolation == "bicubic" and img.dtype == torch.uint8:
        batch = batch.clamp(min=0, max=255)
    return _cast_squeeze_out(batch, img)


def _check_warp(img, interpolation, fill, matrix=None, coeffs=None):
    _assert_image_tensor(img)
    if matrix is not None and not isinstance(matrix, list):
        raise TypeError("Argument matrix should be a list")
    if matrix is not None and len(matrix) != 6:
        raise ValueError("Argument matrix should have 6 float values")
    if coeffs is not None and len(coeffs) != 8:
        raise ValueError("Argument coeffs should have 8 float values")
    if fill is not None and not isinstance(fill, (int, float, tuple, list)):
        warnings.warn("Argument fill should be either int, float, tuple or list")
    channels = get_dimensions(img)[0]
    if isinstance(fill, (tuple, list)) and 1 < len(fill) != channels:
        raise ValueError("The number of elements in 'fill' cannot broadcast to match the number of channels of the "
                         f"image ({len(fill)} != {channels})")
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{interpolation}' is unsupported with Tensor input")


def _warp(img, grid, mode, fill):
    return _cast_squeeze_out(apply_grid(_cast_squeeze_in(img, [grid.dtype]), grid, mode, fill), img)


def affine(img, matrix, interpolation="nearest", fill=None):
    """Return the image read at places that a matrix gives."""
    _check_warp(img, interpolation, fill, matrix)
    h, w = img.shape[-2:]
    return _warp(img, affine_grid(matrix, w, h, w, h, _working_dtype(img)), interpolation, fill)


def _compute_affine_output_size(matrix, w, h):
    corners = torch.tensor([[x * w, y * h, 1.0] for x, y in ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5))])
    places = torch.matmul(corners, torch.tensor(matrix, dtype=torch.float).view(2, 3).T)
    half, tolerance = torch.tensor((w * 0.5, h * 0.5)), 1e-4
    high = torch.ceil(((places.amax(0) + half) / tolerance).trunc() * tolerance)
    low = torch.floor(((places.amin(0) + half) / tolerance).trunc() * tolerance)
    width, height = (high - low).tolist()
    return int(width), int(height)


def rotate(img, matrix, interpolation="nearest", expand=False, fill=None):
    """Return the image turned by a matrix."""
    _check_warp(img, interpolation, fill, matrix)
    h, w = img.shape[-2:]
    ow, oh = _compute_affine_output_size(matrix, w, h) if expand else (w, h)
    return _warp(img, affine_grid(matrix, w, h, ow, oh, _working_dtype(img)), interpolation, fill)


def perspective(img, perspective_coeffs, interpolation="bilinear", fill=None):
    """Return the image read at places that a projection gives."""
    _check_warp(img, interpolation, fill, coeffs=perspective_coeffs)
    h, w = img.shape[-2:]
    return _warp(img, perspective_grid(perspective_coeffs, w, h, _working_dtype(img)), interpolation, fill)


def _create_identity_grid(size):
    ys, xs = (torch.linspace((1 - length) / length, (length - 1) / length, length) for length in size)
    shape = tuple(size)
    return torch.stack([xs[None, :].expand(shape), ys[:, None].expand(shape)], -1).unsqueeze(0)


def elastic_transform(img, displacement, interpolation="bilinear", fill=None):
    """Return the image read at places shifted by a displacement."""
    if not isinstance(img, torch.Tensor):
        raise TypeError(f"img should be Tensor. Got {type(img)}")
    return _warp(img, _create_identity_grid(list(img.shape[-2:])) + displacement, interpolation, fill)


def _get_gaussian_kernel1d(kernel_size, sigma, dtype, device):
    half = (kernel_size - 1) * 0.5
    x = torch.linspace(-half, half, steps=kernel_size, dtype=dtype, device=device)
    bell = torch.exp(-0.5 * (x / sigma).pow(2))
    return bell / bell.sum()


def gaussian_blur(img, kernel_size, sigma):
    """Return the image blurred by a bell."""
    _assert_image_tensor(img)
    dtype = _working_dtype(img)
    return blurred_by_bells(img, *(_get_gaussian_kernel1d(*item, dtype, img.device)
                                   for item in zip(kernel_size, sigma)))


def blurred_by_bells(img, across, down):
    """Return each channel weighed across and down, edges mirrored."""
    if img.dtype == torch.uint8 or img.is_floating_point() and not is_recorded(img):
        batch = img.unsqueeze(0) if img.ndim < 4 else img
        blurred = ops.blur(batch, across.tolist(), down.tolist())
        return blurred.squeeze(0) if img.ndim < 4 else blurred
    kernel = torch.mm(down[:, None], across[None, :])
    x, y = len(across) // 2, len(down) // 2
    batch = F.pad(_cast_squeeze_in(img, [kernel.dtype]), [x, x, y, y], mode="reflect")
    batch = F.conv2d(batch, kernel.expand(img.shape[-3], 1, *kernel.shape), groups=img.shape[-3])
    return _cast_squeeze_out(batch, img)


def invert(img):
    """Return the negative."""
    _check_colours(img, least=3)
    return _max_value(img.dtype) - img


def _require_bytes(img):
    if img.dtype != torch.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


def posterize(img, bits):
    """Return the image with fewer bits per channel."""
    _assert_image_tensor(img)
    if img.ndim >= 3:
        _require_bytes(img)
    _check_colours(img, least=3)
    return img & (256 - 2 ** (8 - bits))


def solarize(img, threshold):
    """Return the image with values from a threshold on inverted."""
    _check_colours(img, least=3)
    if threshold > _max_value(img.dtype):
        raise TypeError("Threshold should be less than bound of img.")
    return torch.where(img >= threshold, invert(img), img)


def lightly_blurred(batch):
    """Return images without their margins, each pixel five thirteenths itself and eight its neighbours."""
    if batch.dtype in FLOATS and not is_recorded(batch):
        thirteenth = 1.0 / 13.0
        blurred = ops.blur(batch, [thirteenth] * 3, [1.0] * 3).add_(batch, alpha=4 * thirteenth)
        return blurred[..., 1:-1, 1:-1]
    kernel = torch.full((3, 3), 1.0 / 13.0, dtype=batch.dtype, device=batch.device)
    kernel[1, 1] = 5.0 / 13.0
    channels = batch.shape[-3]
    return F.conv2d(batch, kernel.expand(channels, 1, 3, 3), groups=channels)


def _blurred_degenerate_image(img):
    blurred = lightly_blurred(_cast_squeeze_in(img, [_working_dtype(img)]))
    result = img.clone()
    result[..., 1:-1, 1:-1] = _cast_squeeze_out(blurred, img)
    return result


def adjust_sharpness(img, sharpness_factor):
    """Return the image mixed with its blurred form."""
    _check_factor(sharpness_factor, "sharpness_factor")
    _check_colours(img)
    if img.shape[-1] <= 2 or img.shape[-2] <= 2:
        return img
    return _blend(img, _blurred_degenerate_image(img), sharpness_factor)


def autocontrast(img):
    """Return the image stretched from black to white."""
    _check_colours(img, least=3)
    bound, dtype = _max_value(img.dtype), _working_dtype(img)
    low, high = img.amin(dim=(-2, -1), keepdim=True).to(dtype), img.amax(dim=(-2, -1), keepdim=True).to(dtype)
    scale = bound / (high - low)
    flat = ~torch.isfinite(scale)
    return ((img - low.masked_fill(flat, 0)) * scale.masked_fill(flat, 1)).clamp(0, bound).to(img.dtype)


def _scale_channel(channel):
    places = channel.to(torch.int64)
    counts = torch.bincount(places.reshape(-1), minlength=256)
    used = counts[counts != 0]
    step = int(used[:-1].sum()) // 255
    if step == 0:
        return channel
    table = torch.div(torch.cumsum(counts, 0) + step // 2, step, rounding_mode="floor")
    return F.pad(table, [1, 0])[:-1].clamp(0, 255).to(torch.uint8)[places]


def equalize(img):
    """Return the image with its histogram flattened."""
    _assert_image_tensor(img)
    if not 3 <= img.ndim <= 4:
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {img.ndim}")
    _require_bytes(img)
    _assert_channels(img, [1, 3])
    if img.ndim == 4:
        return torch.stack([equalize(item) for item in img])
    return torch.stack([_scale_channel(channel) for channel in img])


def normalize(tensor, mean, std, inplace=False):
    """Return the image with each channel's mean taken off and divided by its deviation."""
    _assert_image_tensor(tensor)
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError("Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
                         f"{tensor.size()}")
    mean, std = (torch.as_tensor(value, dtype=tensor.dtype, device=tensor.device) for value in (mean, std))
    if bool((std == 0).any()):
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    mean, std = (value.view(-1, 1, 1) if value.ndim == 1 else value for value in (mean, std))
    return tensor.sub_(mean).div_(std) if inplace else tensor.sub(mean).div_(std)


def erase(img, i, j, h, w, v, inplace=False):
    """Return the image with a rectangle overwritten."""
    _assert_image_tensor(img)
    img = img if inplace else img.clone()
    img[..., i:i + h, j:j + w] = v
    return img
