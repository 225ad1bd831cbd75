"""keras.visualization: boxes and masks drawn into images, and galleries of images."""
from dragon.vm.keras.visualization.boxes import draw_bounding_boxes, plot_bounding_box_gallery
from dragon.vm.keras.visualization.gallery import plot_image_gallery
from dragon.vm.keras.visualization.masks import draw_segmentation_masks, plot_segmentation_mask_gallery
