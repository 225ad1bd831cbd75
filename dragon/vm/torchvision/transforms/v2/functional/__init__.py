"""Functions on images, videos, masks, boxes and keypoints."""
from dragon.vm.torchvision.transforms.functional import InterpolationMode, get_image_size, pil_to_tensor, to_tensor
from dragon.vm.torchvision.transforms._scripts import leave_to_python as _leave_to_python
from dragon.vm.torchvision.transforms.v2.functional._utils import (
    FUNCTIONALS as _functionals, is_pure_tensor, register_kernel)
from dragon.vm.torchvision.transforms.v2.functional._meta import (
    clamp_bounding_boxes, clamp_keypoints, convert_bounding_box_format, get_dimensions, get_dimensions_image,
    get_dimensions_video, get_image_num_channels, get_num_channels, get_num_channels_image, get_num_channels_video,
    get_num_frames, get_num_frames_video, get_size, get_size_bounding_boxes, get_size_image, get_size_keypoints,
    get_size_mask, get_size_video)
from dragon.vm.torchvision.transforms.v2.functional._color import (
    adjust_brightness, adjust_brightness_image, adjust_contrast, adjust_contrast_image, adjust_gamma,
    adjust_gamma_image, adjust_hue, adjust_hue_image, adjust_saturation, adjust_saturation_image, adjust_sharpness,
    adjust_sharpness_image, autocontrast, autocontrast_image, convert_image_dtype, equalize, equalize_image,
    grayscale_to_rgb, grayscale_to_rgb_image, invert, invert_image, permute_channels, permute_channels_image,
    posterize, posterize_image, rgb_to_grayscale, rgb_to_grayscale_image, solarize, solarize_image, to_dtype,
    to_dtype_image, to_grayscale)
from dragon.vm.torchvision.transforms.v2.functional._boxes import (
    affine_bounding_boxes, center_crop_bounding_boxes, crop_bounding_boxes, elastic_bounding_boxes,
    horizontal_flip_bounding_boxes, pad_bounding_boxes, perspective_bounding_boxes, resize_bounding_boxes,
    resized_crop_bounding_boxes, rotate_bounding_boxes, vertical_flip_bounding_boxes)
from dragon.vm.torchvision.transforms.v2.functional._geometry import (
    affine, affine_image, affine_mask, center_crop, center_crop_image, center_crop_mask, crop, crop_image,
    crop_mask, elastic, elastic_image, elastic_mask, elastic_transform, five_crop, five_crop_image, hflip,
    horizontal_flip, horizontal_flip_image, horizontal_flip_mask, pad, pad_image, pad_mask, perspective,
    perspective_image, perspective_mask, resize, resize_image, resize_mask, resized_crop, resized_crop_image,
    resized_crop_mask, rotate, rotate_image, rotate_mask, ten_crop, ten_crop_image, vertical_flip,
    vertical_flip_image, vertical_flip_mask, vflip)
from dragon.vm.torchvision.transforms.v2.functional._augment import (
    erase, erase_image, jpeg, jpeg_image, uniform_temporal_subsample, uniform_temporal_subsample_video)
from dragon.vm.torchvision.transforms.v2.functional._misc import (
    gaussian_blur, gaussian_blur_image, gaussian_noise, gaussian_noise_image, normalize, normalize_image,
    sanitize_bounding_boxes, sanitize_keypoints, to_image, to_pil_image)
from dragon.vm.torchvision.transforms.v2.functional._points import (
    affine_keypoints, center_crop_keypoints, crop_keypoints, elastic_keypoints, horizontal_flip_keypoints,
    pad_keypoints, perspective_keypoints, resize_keypoints, resized_crop_keypoints, rotate_keypoints,
    vertical_flip_keypoints)

# Videos are images with one more axis.
globals().update({f"{_name}_video": globals()[f"{_name}_image"] for _name in """
    adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness affine autocontrast
    center_crop crop elastic equalize erase five_crop gaussian_blur gaussian_noise horizontal_flip invert jpeg normalize
    pad permute_channels perspective posterize resize resized_crop rotate solarize ten_crop to_dtype vertical_flip
""".split()})
_functionals.update(globals())
_leave_to_python(globals())
