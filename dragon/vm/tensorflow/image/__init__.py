"""`tf.image`: pictures resized, cut, turned, coloured, compared, read and written."""
from dragon.vm.guest import lookup
from dragon.vm.tensorflow.image.changes import (
    random_brightness, random_contrast, random_crop, random_flip_left_right, random_flip_up_down, random_hue,
    random_jpeg_quality, random_saturation, stateless_random_brightness, stateless_random_contrast,
    stateless_random_crop, stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_hue,
    stateless_random_jpeg_quality, stateless_random_saturation)
from dragon.vm.tensorflow.image.coloring import (
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_jpeg_quality, adjust_saturation,
    grayscale_to_rgb, hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, yiq_to_rgb, yuv_to_rgb)
from dragon.vm.tensorflow.image.framing import (
    central_crop, convert_image_dtype, crop_to_bounding_box, draw_bounding_boxes, extract_patches, flip_left_right,
    flip_up_down, image_gradients, pad_to_bounding_box, per_image_standardization, resize_with_crop_or_pad, rot90,
    sobel_edges, total_variation, transpose)
from dragon.vm.tensorflow.image.glimpses import extract_glimpse
from dragon.vm.tensorflow.image.quality import psnr, ssim, ssim_multiscale
from dragon.vm.tensorflow.image.resizing import ResizeMethod, crop_and_resize, resize, resize_with_pad
from dragon.vm.tensorflow.image.sampling import sample_distorted_bounding_box, stateless_sample_distorted_bounding_box
from dragon.vm.tensorflow.image.suppression import (
    combined_non_max_suppression, non_max_suppression, non_max_suppression_overlaps, non_max_suppression_padded,
    non_max_suppression_with_scores)

__getattr__, __dir__ = lookup(globals(), {
    "io": "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png decode_webp encode_jpeg "
          "encode_png extract_jpeg_shape is_jpeg",
})
