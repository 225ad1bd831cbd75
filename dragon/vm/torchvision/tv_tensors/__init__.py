"""Tensors that say what they are: images, videos, boxes, masks, keypoints."""
from dragon.vm.torchvision.tv_tensors._bounding_boxes import (BoundingBoxes, BoundingBoxFormat,
                                                              is_rotated_bounding_format)
from dragon.vm.torchvision.tv_tensors._image import Image, Mask, Video
from dragon.vm.torchvision.tv_tensors._keypoints import KeyPoints
from dragon.vm.torchvision.tv_tensors._tv_tensor import TVTensor, set_return_type


def wrap(wrappee, *, like, **kwargs):
    """Return a tensor as what another one is, with its particulars unless others are given."""
    return type(like).wrap(wrappee, like, **kwargs) if hasattr(type(like), "wrap") else wrappee.as_subclass(type(like))
