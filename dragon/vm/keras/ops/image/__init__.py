"""keras.ops.image: images resized, moved, cut and recoloured."""
from dragon.vm.keras.ops.image.blur import gaussian_blur, sobel_edges
from dragon.vm.keras.ops.image.coordinates import map_coordinates
from dragon.vm.keras.ops.image.crop import crop_images, pad_images
from dragon.vm.keras.ops.image.resizing import resize, scale_and_translate
from dragon.vm.keras.ops.image.color import hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv
from dragon.vm.keras.ops.image.patches import extract_patches, extract_patches_3d
from dragon.vm.keras.ops.image.transforms import affine_transform, elastic_transform, perspective_transform
from dragon.vm.keras.ops.image.quality import ssim
