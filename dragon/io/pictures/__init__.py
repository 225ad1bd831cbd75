"""Pictures: files into arrays, regions of them into batches, and how boxes, masks and points follow."""
from dragon.io.pictures.batch import make_batch, Recipe
from dragon.io.pictures.classification import ImageClassification
from dragon.io.pictures.colours import colour_matrix, random_colours
from dragon.io.pictures.files import decode, encode, turn_upright
from dragon.io.pictures.geometry import (Geometry, letterbox, move_boxes, move_mask, move_points, random_crop,
                                         random_resized_crop, resized_center_crop)
from dragon.io.pictures.heads import kind_of, read_size
from dragon.io.pictures.library import jpeg_library
