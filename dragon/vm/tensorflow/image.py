"""`tf.image`: pictures resized, cut, turned, coloured, compared, read and written."""
from dragon.vm.tensorflow.core import coloring as _coloring
from dragon.vm.tensorflow.core.coloring import (  # noqa: F401
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_jpeg_quality, adjust_saturation,
    grayscale_to_rgb, hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, yiq_to_rgb, yuv_to_rgb)
from dragon.vm.tensorflow.core.imaging import (  # noqa: F401
    central_crop, convert_image_dtype, crop_to_bounding_box, draw_bounding_boxes, extract_patches, flip_left_right,
    flip_up_down, image_gradients, pad_to_bounding_box, per_image_standardization, resize_with_crop_or_pad, rot90,
    sobel_edges, total_variation, transpose)
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr
from dragon.vm.tensorflow.core.resampling import (  # noqa: F401
    ResizeMethod, crop_and_resize, resize, resize_with_pad)
from dragon.vm.tensorflow.core.scoring import (  # noqa: F401
    combined_non_max_suppression, non_max_suppression, non_max_suppression_overlaps, non_max_suppression_padded,
    non_max_suppression_with_scores, psnr, ssim, ssim_multiscale)

globals().update((_name, _value) for _name, _value in vars(_coloring).items()
                 if _name.startswith(("random_", "stateless_random_")))
__getattr__ = _module_getattr("tensorflow.image", globals(), {_name: "dragon.vm.tensorflow.io" for _name in (
    "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png", "decode_webp",
    "encode_jpeg", "encode_png", "extract_jpeg_shape", "is_jpeg")})
