"""`tf.image` beside genuine one."""
import pytest
from harness.expressions import check
from harness.subresults import each

F = "tf.reshape(tf.sin(tf.range(2 * 7 * 9 * 3.)) * 0.5 + 0.5, [2, 7, 9, 3])"
U = "tf.cast(tf.reshape(tf.range(7 * 9 * 3) * 37 % 256, [7, 9, 3]), tf.uint8)"
BOXES = "[[0., 0., 1., 1.], [0., 0.1, 1., 1.1], [0., -0.1, 1., 0.9], [0., 10., 1., 11.], [0.2, 10.1, 1., 11.]]"
SCORES = "[0.9, 0.75, 0.6, 0.95, 0.5]"
CLASSES = "[[[.9, .1], [.7, .8], [.2, .3], [.4, .95], [.5, .6]]]"
EXPRESSIONS = [f"tf.image.resize({F}, {size}, {method!r}, antialias={antialias})"
               for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                              "mitchellcubic")
               for size, antialias in (("[4, 5]", False), ("[12, 20]", False), ("[3, 4]", True))] + f"""
tf.image.resize({U}, [5, 5])
tf.image.resize({U}, [5, 5], "nearest")
tf.image.resize({U}, [5, 100], preserve_aspect_ratio=True)
tf.image.resize({U}, [5], "bilinear")
tf.image.resize({U}, [5, 5], "what")
tf.image.resize([1., 2.], [5, 5])
tf.image.resize_with_pad({F}, 10, 10)
tf.image.resize_with_pad({U}, 5, 12)
tf.image.resize_with_crop_or_pad({F}, 4, 12)
tf.image.resize_with_crop_or_pad({U}, 10, 5)
tf.image.resize_with_crop_or_pad({U}, 5, 6)
tf.image.central_crop({F}, 0.5)
tf.image.central_crop({U}, 0.8)
tf.image.central_crop({U}, 2.)
tf.image.crop_to_bounding_box({F}, 1, 2, 3, 4)
tf.image.crop_to_bounding_box({F}, 6, 2, 3, 4)
tf.image.pad_to_bounding_box({U}, 1, 2, 9, 12)
tf.image.pad_to_bounding_box({U}, 1, 2, 3, 12)
tf.image.flip_left_right({F})
tf.image.flip_up_down({U})
tf.image.transpose({F})
tf.image.rot90({U})
tf.image.rot90({F}, 3)
tf.image.convert_image_dtype({U}, tf.float32)
tf.image.convert_image_dtype({F}, tf.uint8)
tf.image.convert_image_dtype({F} * 2., tf.uint8, saturate=True)
tf.image.convert_image_dtype({U}, tf.int32)
tf.image.convert_image_dtype(tf.cast({U}, tf.int32) * 1000000, tf.uint8)
tf.image.per_image_standardization({F})
tf.image.per_image_standardization({U})
tf.image.rgb_to_grayscale({F})
tf.image.rgb_to_grayscale({U})
tf.image.grayscale_to_rgb({F}[..., :1])
tf.image.grayscale_to_rgb({F})
tf.image.rgb_to_hsv({F})
tf.image.hsv_to_rgb({F})
tf.image.rgb_to_yiq({F})
tf.image.yiq_to_rgb({F})
tf.image.rgb_to_yuv({F})
tf.image.yuv_to_rgb({F})
tf.image.adjust_brightness({F}, 0.2)
tf.image.adjust_brightness({U}, 0.2)
tf.image.adjust_contrast({F}, 1.7)
tf.image.adjust_contrast({U}, 0.5)
tf.image.adjust_gamma({F}, 2., 0.5)
tf.image.adjust_gamma({F}, -1.)
tf.image.adjust_hue({F}, 0.3)
tf.image.adjust_hue({U}, -0.2)
tf.image.adjust_saturation({F}, 0.5)
tf.image.adjust_saturation({U}, 2.)
tf.image.extract_patches({F}, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
tf.image.extract_patches({F}, [1, 3, 3, 1], [1, 3, 2, 1], [1, 2, 1, 1], "SAME")
tf.image.image_gradients({F})
tf.image.sobel_edges({F})
tf.image.total_variation({F})
tf.image.total_variation({F}[0])
tf.image.draw_bounding_boxes({F}, [[[0.1, 0.2, 0.7, 0.9]], [[0., 0., 1., 1.]]], [[1., 0., 0.]])
tf.image.crop_and_resize({F}, [[0., 0., 1., 1.], [0.2, 0.3, 0.9, 1.4]], [0, 1], [4, 5])
tf.image.crop_and_resize({F}, [[0.2, 0.3, 0.9, 1.4]], [1], [3, 3], "nearest", 7.)
tf.image.psnr({F}, {F} * 0.9, 1.)
tf.image.psnr({U}, {U} // 2, 255)
tf.image.ssim(tf.tile({F}, [1, 2, 2, 1]), tf.tile({F}, [1, 2, 2, 1]) ** 2., 1.)
tf.image.ssim({F}, {F} ** 2., 1., filter_size=5, return_index_map=True)
tf.image.ssim({F}, {F}, 1.)
tf.image.ssim_multiscale(tf.tile({F}, [1, 8, 8, 1]), tf.tile({F}, [1, 8, 8, 1]) ** 1.2, 1., filter_size=4)
tf.image.non_max_suppression({BOXES}, {SCORES}, 3)
tf.image.non_max_suppression({BOXES}, {SCORES}, 5, 0.9, 0.55)
tf.image.non_max_suppression({BOXES}, {SCORES}, 5, 1.5)
tf.image.non_max_suppression_with_scores({BOXES}, {SCORES}, 5, soft_nms_sigma=0.5)
tf.image.non_max_suppression_padded({BOXES}, {SCORES}, 4, pad_to_max_output_size=True)
tf.image.non_max_suppression_overlaps([[1., 0.6, 0.], [0.6, 1., 0.], [0., 0., 1.]], [0.5, 0.9, 0.1], 3)
list(tf.image.combined_non_max_suppression(tf.reshape({BOXES}, [1, 5, 1, 4]), {CLASSES}, 3, 5))
tf.image.stateless_random_flip_left_right({F}, [1, 2])
tf.image.stateless_random_flip_up_down({U}, [3, 4])
tf.image.stateless_random_brightness({F}, 0.3, [1, 2])
tf.image.stateless_random_contrast({F}, 0.3, 1.5, [1, 2])
tf.image.stateless_random_hue({F}, 0.3, [1, 2])
tf.image.stateless_random_saturation({F}, 0.3, 2., [1, 2])
tf.image.stateless_random_crop({F}, [2, 4, 5, 3], [1, 2])
tf.image.stateless_random_crop({F}, [2, 40, 5, 3], [1, 2])
""".strip().split("\n")


@each("text", EXPRESSIONS)
def test_expression(text):
    check(text, 1e-4 if "uint8" not in text else 1e-5)


@pytest.mark.parametrize("text", ["random_flip_left_right({})", "random_brightness({}, 0.4)",
                                  "random_contrast({}, 0.2, 1.8)", "random_hue({}, 0.4)",
                                  "random_saturation({}, 0.2, 1.8)", "random_crop({}, [2, 3, 3, 3])"])
def test_random(text):
    check(f"""
tf.random.set_seed(7)
return [tf.image.{text.format(F)} for _ in range(2)]""", 1e-4)


@pytest.mark.parametrize("text", ["resize(v, [4, 5])", "resize(v, [12, 5], 'bicubic')", "per_image_standardization(v)",
                                  "sobel_edges(v)", "rgb_to_grayscale(v)",
                                  "crop_and_resize(v, [[0.1, 0.2, 0.8, 0.9]], [1], [3, 4])", "total_variation(v)"])
def test_gradient(text):
    check(f"""
v = tf.Variable({F})
with tf.GradientTape() as t: y = tf.image.{text} ** 2.
return t.gradient(y, v)""", 1e-3)
